#include "ledger/records/record_text.hpp"

#include <gtest/gtest.h>

#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

/// One letter per line: c code, t text.
std::string fenced(const std::string& text) {
  FenceTracker fence;
  std::string out;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += fence.feed(std::string_view(text).substr(at, end - at)) ? 'c' : 't';
    at = end + 1;
  }
  return out;
}

TEST(RecordText, FencesAsInCommonMark) {
  EXPECT_EQ(fenced("a\n```\n## b\n```\nc"), "tccct");
  EXPECT_EQ(fenced("~~~ cpp\n```\n~~~\nt"), "ccct");
  EXPECT_EQ(fenced("````\n```\n````\nt"), "ccct");
  EXPECT_EQ(fenced("```\n`````  \nt"), "cct");
  EXPECT_EQ(fenced("```\n``` not closed by words\n```\nt"), "ccct");
  EXPECT_EQ(fenced("   ```\nx\n   ```\nt"), "ccct");
  EXPECT_EQ(fenced("    ```\nx"), "tt");
  EXPECT_EQ(fenced("```\n    ```\n```"), "ccc");
  EXPECT_EQ(fenced("``` in `line\nx"), "tt");
  EXPECT_EQ(fenced("~~~ in `line\nx\n~~~"), "ccc");
  EXPECT_EQ(fenced("``\nx"), "tt");
}

TEST(RecordText, Headings) {
  for (const char* yes : {"##", "## a", "##\ta", "## "}) EXPECT_TRUE(is_heading(yes)) << yes;
  for (const char* no : {"#", "# a", "### a", "##a", " ## a", "\\## a", "", "a ## b"}) {
    EXPECT_FALSE(is_heading(no)) << no;
  }
}

TEST(RecordText, KeepsWhatMeansSomething) {
  const auto kept = [](const std::string& t) { return record_text(t, "text"); };
  EXPECT_EQ(kept(""), "");
  EXPECT_EQ(kept(" \n\t\n "), "");
  EXPECT_EQ(kept("a\r\nb\r\n"), "a\nb");
  EXPECT_EQ(kept("\n \n    indented\n\nx  \ny \n\n"), "    indented\n\nx  \ny");
  EXPECT_EQ(kept("\t\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "\t\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82");
}

TEST(RecordText, RefusesWhatNoFileCanHold) {
  const auto code = [](const std::string& t) {
    return code_of([&] { record_text(t, "field 'x'"); });
  };
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\x80", "a\xe2\x82", "\xc3(", "a\x01", "a\rb",
        "\x7f", "```\nopen", "a\n~~~~\n~~~"}) {
    EXPECT_EQ(code(bad), "RECORD_TEXT") << bad;
  }
  EXPECT_EQ(code(std::string("a\0b", 3)), "RECORD_TEXT");
  EXPECT_EQ(code(std::string(kMaxRecordText + 1, 'a')), "RECORD_TEXT");
  EXPECT_EQ(code(std::string(kMaxRecordText, 'a')), "");
  std::string message;
  code_of([] { record_text("\n\na\n```\nb", "field 'x'"); }, &message);
  EXPECT_NE(message.find("field 'x': the code fence opened in its line 2"), std::string::npos)
      << message;
}

TEST(RecordText, Lines) {
  EXPECT_EQ(record_line("  a b \n", "title"), "a b");
  EXPECT_EQ(record_line(" \n ", "title"), "");
  EXPECT_EQ(code_of([] { record_line("a\nb", "title"); }), "RECORD_TEXT");
  EXPECT_EQ(code_of([] { record_line("a\x01", "title"); }), "RECORD_TEXT");
  EXPECT_EQ(code_of([] { record_line(std::string(kMaxRecordLine + 1, 'a'), "title"); }),
            "RECORD_TEXT");
}

TEST(RecordText, HeadingsAreEscapedOutsideCode) {
  const std::string text = "## a\n\\## b\n```\n## c\n\\## d\n```\n##\ne\n###";
  const std::string escaped = "\\## a\n\\\\## b\n```\n## c\n\\## d\n```\n\\##\ne\n###";
  EXPECT_EQ(escape_headings(text), escaped);
  EXPECT_EQ(unescape_headings(escaped), text);
  EXPECT_EQ(escape_headings(""), "");
  EXPECT_EQ(unescape_headings("\\a\n\\##b"), "\\a\n\\##b");
}

}  // namespace
}  // namespace ledger
