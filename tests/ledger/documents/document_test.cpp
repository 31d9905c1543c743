// Recognising documents, and the messages.
#include "ledger/documents/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "prover/errors.hpp"
#include "tests/ledger/documents/samples.hpp"

namespace ledger::test {
namespace {

std::vector<std::string> problems(std::string_view text) {
  std::vector<std::string> out;
  for (const Problem& p : check_document(text)) {
    EXPECT_EQ(p.message.find('\n'), std::string::npos);
    out.push_back(p.code + ' ' + p.path);
  }
  return out;
}
using List = std::vector<std::string>;

std::string refusal(const std::string& name, std::string_view text) {
  try {
    read_document(name, text);
  } catch (const stwo::FormatError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.code() + " | " + e.what();
  }
  return "accepted";
}

TEST(Document, KnowsEveryKind) {
  const std::pair<DocumentKind, std::string> samples[] = {
      {DocumentKind::kProductReport, sample_cpu_report_text()},
      {DocumentKind::kProductReport, sample_cuda_report_text()},
      {DocumentKind::kPlan, sample_plan().dump(2)},
      {DocumentKind::kCounters, sample_counters().dump()},
      {DocumentKind::kVerdict, sample_verdict().dump()},
      {DocumentKind::kVerdict, sample_screen().dump()},
      {DocumentKind::kCalibration, sample_calibration().dump() + "\n"}};
  for (const auto& [kind, text] : samples) {
    EXPECT_EQ(problems(text), List{});
    const Document d = read_document("a file", text);
    EXPECT_EQ(d.kind, kind);
    EXPECT_EQ(d.json, Json::parse(text));
  }
}

TEST(Document, KindNames) {
  EXPECT_EQ(document_kind_name(DocumentKind::kProductReport), "product_report");
  EXPECT_EQ(document_kind_name(DocumentKind::kPlan), "plan");
  EXPECT_EQ(document_kind_name(DocumentKind::kCounters), "counters");
  EXPECT_EQ(document_kind_name(DocumentKind::kVerdict), "verdict");
  EXPECT_EQ(document_kind_name(DocumentKind::kCalibration), "calibration");
}

TEST(Document, SchemaMustBeKnown) {
  for (const char* text : {R"({})", R"({"schema":null})", R"({"schema":1})", R"({"schema":["x"]})",
                           R"({"schema":"stwo_plan_v2"})", R"({"schema":"stwo_plan_v1 "})"}) {
    EXPECT_EQ(problems(text), List{"DOCUMENT_SCHEMA /schema"}) << text;
  }
  EXPECT_EQ(refusal("x.json", R"({"schema":"stwo_plan_v2"})"),
            "DOCUMENT_SCHEMA | file x.json: /schema: expected one of stwo_cuda_product_report_v1, "
            "stwo_plan_v1, stwo_prof_counters_v1, stwo_judge_verdict_v1, "
            "stwo_judge_calibration_v1, found \"stwo_plan_v2\"; name a file of one of these kinds, "
            "or use a newer program");
}

TEST(Document, RootMustBeAnObject) {
  for (const char* text : {"[]", "null", "true", "1", "1.5", "\"stwo_plan_v1\""}) {
    EXPECT_EQ(problems(text), List{"DOCUMENT_TYPE "}) << text;
  }
}

TEST(Document, MessageNamesEverything) {
  Json j = sample_calibration();
  j["rounds"] = -1;
  EXPECT_EQ(
      refusal("c.json", j.dump()),
      "DOCUMENT_VALUE | file c.json: /rounds: expected a whole number from 0 to 2^63-1, found "
      "-1; write the value in the form that docs/formats.md gives");
  j["product"].erase("label");
  EXPECT_EQ(refusal("c.json", j.dump()),
            "DOCUMENT_KEY_MISSING | file c.json: /product/label: this key is missing; expected a "
            "string, not empty, without control characters; add it, null if there is no value (and "
            "1 more problem)");
  j["later"] = 1;
  EXPECT_NE(refusal("c.json", j.dump()).find("(and 2 more problems)"), std::string::npos);
}

TEST(Document, ArmCoverageReadsLikeTheJudge) {
  Json j = sample_verdict();
  Json kept = Json::array();
  for (const Json& s : j["sessions"]) {
    if (s["arm"] == "A" || s["workload_id"] != "wide_fibonacci_log16x2048") kept.push_back(s);
  }
  j["sessions"] = kept;
  EXPECT_EQ(refusal("v.json", j.dump()),
            "VERDICT_ARM_COVERAGE | file v.json: /spec/workloads/1: workload "
            "wide_fibonacci_log16x2048 has sessions in arm A only; run both arms or remove it from "
            "the spec (and 2 more problems)");
}

TEST(Document, ReportsKeepTheirOwnCodes) {
  for (const std::string& text : {sample_cpu_report_text(), sample_cuda_report_text()}) {
    Json j = Json::parse(text);
    j["plan"]["node_count"] = true;
    EXPECT_EQ(problems(j.dump()), List{"REPORT_TYPE /plan/node_count"});
    EXPECT_NE(refusal("r.json", j.dump()).find("write the file again"), std::string::npos);
    j = Json::parse(text);
    j["memory"]["accounted_peak"] = 1;
    EXPECT_EQ(problems(j.dump()), List{"REPORT_MEMORY_SUM /memory/accounted_peak"});
    // Trailing bytes that a parser might not see.
    EXPECT_EQ(problems(text + std::string("\0{}", 3)), List{"DOCUMENT_JSON "});
  }
}

TEST(Document, CodesAreListedOnceAndDescribed) {
  std::set<std::string_view> seen;
  std::ifstream in(STWO_TEST_FORMATS);
  std::ostringstream formats;
  formats << in.rdbuf();
  for (const DocumentCode& c : document_codes()) {
    EXPECT_TRUE(seen.insert(c.code).second) << c.code;
    EXPECT_FALSE(c.advice.empty()) << c.code;
    EXPECT_NE(formats.str().find('`' + std::string(c.code) + '`'), std::string::npos)
        << c.code << " is not in docs/formats.md";
  }
}

}  // namespace
}  // namespace ledger::test
