#include "prof/diagnose/thresholds.hpp"

#include "prof/target/scratch_folder.hpp"
#include "prover/hash/sha256.hpp"
#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

std::string file_text() { return read_text(PROF_TEST_THRESHOLDS); }

std::string code(const std::string& from, const std::string& to, std::string* message = nullptr) {
  std::string text = file_text();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return thrown([&] { parse_thresholds("t", text); }, message);
}

TEST(Thresholds, TheProgramHasTheFile) {
  const Thresholds& t = default_thresholds();
  EXPECT_EQ(t.sha256, stwo::sha256_hex(file_text()));
  EXPECT_EQ(t.min_share, 0.02);
  EXPECT_EQ(t.min_launches, 3);
  EXPECT_EQ(t.dram_pct, 60);
  EXPECT_EQ(t.l2_pct, 70);
  EXPECT_EQ(t.issue_active, 0.6);
  EXPECT_EQ(t.high_margin, 0.15);
  EXPECT_EQ(t.gain_of_half, 0.35);
}

TEST(Thresholds, AFileMayReplaceThem) {
  const ScratchFolder folder;
  std::string text = file_text();
  text.replace(text.find("\"dram_pct\": 60"), 14, "\"dram_pct\": 55");
  std::ofstream(folder.file("t.json")) << text;
  EXPECT_EQ(load_thresholds(folder.file("t.json")).dram_pct, 55);
  EXPECT_EQ(thrown([&] { load_thresholds(folder.file("none.json")); }), "THRESHOLDS_FILE 2");
  EXPECT_EQ(thrown([&] { load_thresholds(folder.path()); }), "THRESHOLDS_FILE 2");
}

TEST(Thresholds, FaultsNameTheKey) {
  std::string message;
  EXPECT_EQ(code("{", "["), "THRESHOLDS_JSON 3");
  EXPECT_EQ(thrown([] { parse_thresholds("t", "[]"); }), "THRESHOLDS_JSON 3");
  EXPECT_EQ(thrown([] { parse_thresholds("t", std::string(70000, ' ')); }), "THRESHOLDS_JSON 3");
  EXPECT_EQ(thrown([] { parse_thresholds("t", "{}"); }), "THRESHOLDS_SCHEMA 3");
  EXPECT_EQ(code("thresholds_v1", "thresholds_v2"), "THRESHOLDS_SCHEMA 3");
  EXPECT_EQ(code("\"dram_pct\": 60", "\"dram_pct\": 60, \"dram_pct\": 50", &message),
            "THRESHOLDS_KEY 3");
  EXPECT_NE(message.find("dram_pct comes twice"), std::string::npos) << message;
  EXPECT_EQ(code("\"dram_pct\"", "\"dram_percent\"", &message), "THRESHOLDS_KEY 3");
  EXPECT_NE(message.find("/bandwidth/dram_percent is not known"), std::string::npos) << message;
  EXPECT_EQ(code("\"dram_pct\": 60,", "", &message), "THRESHOLDS_KEY 3");
  EXPECT_NE(message.find("/bandwidth/dram_pct is missing"), std::string::npos) << message;
  EXPECT_EQ(code("\"schema\"", "\"more\": 1, \"schema\""), "THRESHOLDS_KEY 3");
  for (const char* value : {"0", "101", "\"60\"", "null", "true", "-1", "[60]"}) {
    EXPECT_EQ(code("\"dram_pct\": 60", std::string("\"dram_pct\": ") + value, &message),
              "THRESHOLDS_RANGE 3")
        << value;
    EXPECT_NE(message.find("/bandwidth/dram_pct is no number from 1 to 100"), std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace prof::test
