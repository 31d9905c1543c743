#include "prof/export/text.hpp"

#include <gtest/gtest.h>

namespace prof::text {
namespace {

TEST(ExportText, JsonStrings) {
  EXPECT_EQ(json_string("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(json_string("f\xc3\xbcr"), "\"f\xc3\xbcr\"");
  // A lone byte becomes the replacement character.
  EXPECT_EQ(json_string("x\xff"), "\"x\xef\xbf\xbd\"");
}

TEST(ExportText, CsvFields) {
  const auto field = [](std::string_view text) {
    std::string out;
    append_csv(out, text);
    return out;
  };
  EXPECT_EQ(field("plain text"), "plain text");
  EXPECT_EQ(field("f<int, 4>"), "\"f<int, 4>\"");
  EXPECT_EQ(field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(field(""), "");
}

TEST(ExportText, Numbers) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(ratio(1, 4), 0.25);
  EXPECT_FALSE(ratio(1, 0).has_value());
  EXPECT_EQ(signed_percent(1.123), "+12.3 %");
  EXPECT_EQ(signed_percent(0.5), "-50.0 %");
  EXPECT_EQ(signed_percent(0.99999), "+0.0 %");
  EXPECT_EQ(signed_percent(std::nullopt), "-");
}

TEST(ExportText, ShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("a\nb", 6), "a b");
  // The two bytes of the umlaut stay together.
  EXPECT_EQ(shortened("ab\xc3\xbc"
                      "defg",
                      6),
            "ab...");
}

}  // namespace
}  // namespace prof::text
