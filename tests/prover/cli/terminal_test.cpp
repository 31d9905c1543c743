#include "prover/cli/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "prover/errors.hpp"

namespace stwo {
namespace {

TEST(Terminal, OneLineReplacesControlCharacters) {
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("as it is"), "as it is");
  EXPECT_EQ(one_line("a\nb"), "a b");
  EXPECT_EQ(one_line("a\r\n\tb"), "a   b");
  EXPECT_EQ(one_line("\x1b[31mred\x7f!"), " [31mred !");
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(one_line("  kept"), "  kept");
  EXPECT_EQ(one_line("dropped \n\n"), "dropped");
  EXPECT_EQ(one_line(" \n\t "), "");
  // Bytes above 0x7f belong to UTF-8 characters.
  EXPECT_EQ(one_line("\u00b5s\n"), "\u00b5s");
}

TEST(Terminal, Milliseconds) {
  EXPECT_EQ(format_ms(0), "0.000");
  EXPECT_EQ(format_ms(499), "0.000");
  EXPECT_EQ(format_ms(501), "0.001");
  EXPECT_EQ(format_ms(999'499), "0.999");
  EXPECT_EQ(format_ms(999'501), "1.000");
  EXPECT_EQ(format_ms(1'234'567), "1.235");
  EXPECT_EQ(format_ms(1'234'567'000), "1234.567");
  EXPECT_EQ(format_ms(3'600'000'000'000), "3600000.000");
}

TEST(Terminal, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1), "1 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1048524), "1023.9 KiB");
  EXPECT_EQ(format_bytes(1048575), "1.0 MiB");
  EXPECT_EQ(format_bytes(uint64_t{1} << 20), "1.0 MiB");
  EXPECT_EQ(format_bytes(uint64_t{5} << 28), "1.2 GiB");
  EXPECT_EQ(format_bytes(uint64_t{141} << 30), "141.0 GiB");
  EXPECT_EQ(format_bytes(uint64_t{1} << 40), "1.0 TiB");
  // The largest unit takes everything above it.
  EXPECT_EQ(format_bytes(uint64_t{1} << 50), "1024.0 TiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16777216.0 TiB");
}

TEST(Terminal, CountsInGroupsOfThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1 000");
  EXPECT_EQ(format_count(12'345), "12 345");
  EXPECT_EQ(format_count(123'456), "123 456");
  EXPECT_EQ(format_count(1'234'567), "1 234 567");
  EXPECT_EQ(format_count(UINT64_MAX), "18 446 744 073 709 551 615");
}

TEST(Terminal, Percent) {
  EXPECT_EQ(format_percent(0, 0), "-");
  EXPECT_EQ(format_percent(5, 0), "-");
  EXPECT_EQ(format_percent(0, 5), "0.0%");
  EXPECT_EQ(format_percent(1, 3), "33.3%");
  EXPECT_EQ(format_percent(2, 3), "66.7%");
  EXPECT_EQ(format_percent(1, 10'000), "0.0%");
  EXPECT_EQ(format_percent(9'999, 10'000), "100.0%");
  EXPECT_EQ(format_percent(3, 2), "150.0%");
  EXPECT_EQ(format_percent(UINT64_MAX, UINT64_MAX), "100.0%");
}

TEST(Terminal, TableAlignsColumns) {
  EXPECT_EQ(format_table({"stage", ">ms", "note"},
                         {{"pow", "1.500", "short"}, {"fri_commit", "12.250", ""}}),
            "stage           ms  note\n"
            "pow          1.500  short\n"
            "fri_commit  12.250\n");
}

TEST(Terminal, TableOfTitlesOnly) {
  EXPECT_EQ(format_table({"name", ">count"}, {}), "name  count\n");
  // Titles wider than their cells; the mark alone is a right-aligned column without a title.
  EXPECT_EQ(format_table({">count", ">"}, {{"7", "2"}, {"12", "34"}}),
            "count\n"
            "    7   2\n"
            "   12  34\n");
}

TEST(Terminal, TableHasNoTrailingSpaces) {
  EXPECT_EQ(format_table({"a", "b"}, {{"", ""}, {"long cell", ""}, {"", "x"}}),
            "a          b\n"
            "\n"
            "long cell\n"
            "           x\n");
  EXPECT_EQ(format_table({"", "b"}, {{"", "x"}}), "  b\n  x\n");
}

/// Each in a process of its own: bar() asks for the locale once, print() may ruin stdout.
class TerminalDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Writes bars to stderr; `locale` is LC_ALL, LC_CTYPE and LANG, null for unset.
  [[noreturn]] static void show_bars(const std::vector<const char*>& locale) {
    static constexpr const char* kNames[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (locale[i] == nullptr) {
        ::unsetenv(kNames[i]);
      } else {
        ::setenv(kNames[i], locale[i], 1);
      }
    }
    std::string out;
    for (const std::string& b : {bar(1, 0, 9), bar(0, 7, 9), bar(1, 1, 0), bar(1, 1, 3),
                                 bar(5, 16, 4), bar(5, 8, 1), bar(1, 64, 4)}) {
      out += '[' + b + ']';
    }
    std::fputs(out.c_str(), stderr);
    std::_Exit(0);
  }
  static constexpr const char* kPlain = "[][][][###][#][#][]";
  /// 1.25 characters are a block and two eighths; half an eighth rounds up.
  static constexpr const char* kBlocks = "[][][][\u2588\u2588\u2588][\u2588\u258e][\u258b][\u258f]";
};

TEST_F(TerminalDeathTest, BarOfPlainCharacters) {
  const auto ends = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(show_bars({nullptr, nullptr, nullptr}), ends, ::testing::Eq(kPlain));
  EXPECT_EXIT(show_bars({nullptr, nullptr, "C"}), ends, ::testing::Eq(kPlain));
  EXPECT_EXIT(show_bars({"C", nullptr, "en_US.UTF-8"}), ends, ::testing::Eq(kPlain));
  EXPECT_EXIT(show_bars({"", "POSIX", "en_US.UTF-8"}), ends, ::testing::Eq(kPlain));
}

TEST_F(TerminalDeathTest, BarOfBlocks) {
  const auto ends = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(show_bars({nullptr, nullptr, "C.UTF-8"}), ends, ::testing::Eq(kBlocks));
  EXPECT_EXIT(show_bars({"", "", "de_DE.utf8"}), ends, ::testing::Eq(kBlocks));
  EXPECT_EXIT(show_bars({nullptr, "C.UTF-8", "C"}), ends, ::testing::Eq(kBlocks));
  EXPECT_EXIT(show_bars({"en_US.UTF-8", "C", "C"}), ends, ::testing::Eq(kBlocks));
}

TEST_F(TerminalDeathTest, PrintWritesAtOnce) {
  const auto run = [] {
    std::fflush(stdout);  // what the test program itself has written
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    print("");
    print(std::string_view("first\0line\n", 11));
    print("rest");
    std::_Exit(0);  // without flushing
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              ::testing::Eq(std::string("first\0line\nrest", 15)));
}

TEST_F(TerminalDeathTest, PrintReportsAFullDisk) {
  const auto run = [] {
    int exit_code = std::freopen("/dev/full", "w", stdout) == nullptr ? 1 : 0;
    try {
      print("lost\n");
    } catch (const EnvironmentError& e) {
      std::fputs((e.code() + ": " + e.what()).c_str(), stderr);
      exit_code = static_cast<int>(e.exit_code());
    }
    std::_Exit(exit_code);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(4),
              ::testing::Eq("STDOUT: standard output: No space left on device; free some space or "
                            "redirect it elsewhere"));
}

}  // namespace
}  // namespace stwo
