// Texts that nobody wrote in good faith: refused, without a crash and without using much memory.
#include <gtest/gtest.h>

#include <random>

#include "ledger/documents/json_text.hpp"
#include "tests/ledger/documents/samples.hpp"

namespace ledger::test {
namespace {

/// The only problem, as "code path: message".
std::string problem(std::string_view text) {
  const std::vector<Problem> found = check_document(text);
  if (found.size() != 1) return std::to_string(found.size()) + " problems";
  return found[0].code + ' ' + found[0].path + ": " + found[0].message;
}

/// Are problems fit for a terminal and for JSON?
void expect_printable(std::string_view text) {
  for (const Problem& p : check_document(text)) {
    EXPECT_NO_THROW((void)Json(p.path + p.message).dump());
    for (const char c : p.path + p.message) {
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    }
  }
}

TEST(HostileText, NotJson) {
  EXPECT_EQ(problem(""),
            "DOCUMENT_JSON : at byte 1: syntax error while parsing value - unexpected "
            "end of input; expected '[', '{', or a literal");
  EXPECT_EQ(problem("{\"a\": {\"b\": [1, x]}}").substr(0, 79),
            "DOCUMENT_JSON /a/b: at byte 17: syntax error while parsing value - invalid lite");
  for (const char* text : {"{", "}", "{} {}", "{},", "{\"a\":1,}", "{'a':1}", "[1,]", "// c\n{}",
                           "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "nul", "{\"a\":\"\n\"}",
                           "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}"}) {
    EXPECT_EQ(problem(text).substr(0, 14), "DOCUMENT_JSON ") << text;
    expect_printable(text);
  }
}

TEST(HostileText, OnlyUtf8) {
  for (const char* bytes :
       {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80"}) {
    Json j = sample_calibration();
    j["tool"]["name"] = "?the bytes?";
    std::string text = j.dump();
    text.replace(text.find("?the bytes?"), 11, bytes);
    EXPECT_EQ(problem(text).substr(0, 19), "DOCUMENT_JSON /tool");
    expect_printable(text);
    expect_printable(std::string("{\"") + bytes + "\":1}");
  }
  EXPECT_EQ(problem("\xef\xbb\xbf{}"),
            "DOCUMENT_JSON : at byte 1: a byte order mark; expected an object");
}

TEST(HostileText, NothingBehindAZeroByte) {
  const std::string text = sample_plan().dump() + std::string("\0", 1);
  EXPECT_EQ(problem(text),
            "DOCUMENT_JSON : at byte " + std::to_string(text.size()) + ": a zero byte");
}

TEST(HostileText, NestingIsBounded) {
  const auto nested = [](size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_EQ(problem(nested(documents::kMaxDepth, "[", "]")).substr(0, 14), "DOCUMENT_TYPE ");
  const std::string deep =
      "DOCUMENT_JSON : at byte 33: nested too deeply; expected at most 32 levels";
  EXPECT_EQ(problem(nested(documents::kMaxDepth + 1, "[", "]")), deep);
  EXPECT_EQ(problem(nested(5'000'000, "[", "")), deep);
  EXPECT_NE(problem(nested(100'000, "{\"a\":", "}")).find("nested too deeply"), std::string::npos);
  // Brackets in strings do not count.
  Json j = sample_calibration();
  j["tool"]["name"] = std::string(100, '[') + "\\\"" + std::string(100, '{');
  EXPECT_EQ(problem(j.dump()), "0 problems");
}

TEST(HostileText, SizeIsBounded) {
  std::string text = sample_calibration().dump();
  text.resize(kMaxDocumentBytes, ' ');
  EXPECT_EQ(problem(text), "0 problems");
  text += ' ';
  EXPECT_EQ(problem(text), "DOCUMENT_TOO_LARGE : expected at most 67108864 bytes, found 67108865");
}

TEST(HostileText, ValuesAreBounded) {
  // A megabyte of text can't become sixteen of values without end.
  const auto list = [](size_t values) {
    std::string text = "[1";
    for (size_t i = 2; i < values; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_EQ(problem(list(documents::kMaxValues)).substr(0, 14), "DOCUMENT_TYPE ");
  EXPECT_EQ(problem(list(documents::kMaxValues + 1)),
            "DOCUMENT_TOO_LARGE /3999999: expected at most 4000000 values, found more");
}

TEST(HostileText, ProblemsAreBounded) {
  Json j = sample_calibration();
  for (int i = 0; i < 5000; ++i) j["key" + std::to_string(i)] = i;
  EXPECT_EQ(check_document(j.dump()).size(), kMaxProblems);
  try {
    read_document("many", j.dump());
    ADD_FAILURE();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("(and at least 999 more problems)"), std::string::npos);
  }
  std::string twice = "{\"schema\":\"stwo_plan_v1\"";
  for (int i = 0; i < 5000; ++i) twice += ",\"a\":1";
  EXPECT_EQ(check_document(twice + "}").size(), kMaxProblems);
}

TEST(HostileText, LongAndStrangeKeysAreShownShort) {
  const std::string strange = std::string("~/\x1b[0m\n\x7f") + std::string(100'000, 'x');
  Json j = sample_calibration();
  j["tool"][strange] = 1;
  const std::string found = problem(j.dump());
  EXPECT_EQ(found.substr(0, 44), "DOCUMENT_KEY_UNKNOWN /tool/~0~1?[0m??xxxxxxx");
  EXPECT_LT(found.size(), 300u);
  expect_printable(j.dump());
  j = sample_calibration();
  j["structural_class"] = std::string(1'000'000, '\n');
  EXPECT_LT(problem(j.dump()).size(), 600u);
  expect_printable(j.dump());
  // Cut between characters.
  for (int shift = 0; shift < 4; ++shift) {
    std::string wide(shift, 'x');
    for (int i = 0; i < 100; ++i) wide += "\xf0\x9f\x90\xa2";
    j = sample_calibration();
    j[wide] = 1;
    expect_printable(j.dump());
  }
}

TEST(HostileText, EveryTruncationIsRefused) {
  const std::string text = sample_counters().dump();
  for (size_t n = 0; n < text.size(); ++n) {
    const std::vector<Problem> found = check_document(std::string_view(text).substr(0, n));
    ASSERT_EQ(found.size(), 1u) << n;
    ASSERT_EQ(found[0].code, "DOCUMENT_JSON") << n;
  }
}

TEST(HostileText, RandomChangesNeverCrash) {
  const std::string texts[] = {sample_plan().dump(),     sample_counters().dump(),
                               sample_verdict().dump(),  sample_calibration().dump(),
                               sample_cpu_report_text(), sample_cuda_report_text()};
  const std::string tokens[] = {"{",   "}",       "[",    "]",      ",",     ":",
                                "\"",  "null",    "true", "-1",     "1e999", "9223372036854775808",
                                "0.5", "\\u0000", "\xff", "\"a\":", "{}"};
  std::mt19937 random(20260304);
  const auto below = [&](size_t n) { return random() % n; };
  size_t n_refused = 0;
  constexpr size_t kRounds = 1500;
  for (size_t round = 0; round < kRounds; ++round) {
    std::string text = texts[round % std::size(texts)];
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(text.size());
      switch (below(5)) {
        case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
        case 1: text[at] = static_cast<char>(below(256)); break;
        case 2: text.erase(at, 1 + below(20)); break;
        case 3: text.insert(at, tokens[below(std::size(tokens))]); break;
        default: text.insert(at, text.substr(below(text.size()), 1 + below(200))); break;
      }
      if (text.empty()) text = " ";
    }
    const std::vector<Problem> found = check_document(text);
    n_refused += found.empty() ? 0 : 1;
    expect_printable(text);
  }
  // Most changes hit a key, a bracket or a digest.
  EXPECT_GT(n_refused, kRounds / 2);
}

}  // namespace
}  // namespace ledger::test
