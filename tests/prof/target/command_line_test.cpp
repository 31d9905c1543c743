#include "prof/target/command_line.hpp"

#include <gtest/gtest.h>

namespace prof {
namespace {

TEST(CommandLine, QuotesWhatTheShellWouldRead) {
  EXPECT_EQ(shell_line({}), "");
  EXPECT_EQ(shell_line({"stwo-prof", "cuda", "report", "a/b.json", "--peak=4.8e12"}),
            "stwo-prof cuda report a/b.json --peak=4.8e12");
  EXPECT_EQ(shell_line({"x", "", "a b", "$HOME", "it's", "(k|l).*"}),
            "x '' 'a b' '$HOME' 'it'\\''s' '(k|l).*'");
}

}  // namespace
}  // namespace prof
