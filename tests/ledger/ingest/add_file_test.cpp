#include "ledger/ingest/add_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "ledger/store/check.hpp"
#include "tests/ledger/documents/samples.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::Rows;
using test::rows_of;

class AddFile : public testing::Test {
 protected:
  AddFile() {
    Ledger::init(folder_.file("l.db"));
    ledger_ = std::make_unique<Ledger>(folder_.file("l.db"), Access::kAppend);
  }
  void TearDown() override {
    const CheckResult check = check_ledger(*ledger_, {});
    for (const Finding& f : check.findings) ADD_FAILURE() << f.code << ": " << f.message;
  }

  AddResult add_text(const std::string& name, const std::string& text) {
    test::write_file(folder_.file(name), text);
    return add_file(*ledger_, folder_.file(name));
  }
  AddResult add_json(const std::string& name, const Json& json) {
    return add_text(name, json.dump(2) + "\n");
  }
  Rows query(std::string_view sql) { return rows_of(ledger_->database(), sql); }
  int64_t count(const std::string& table) {
    return ledger_->database().query_integer("SELECT count(*) FROM " + table);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(AddFile, ProductReportOfTheCpu) {
  const std::string text = test::sample_cpu_report_text();
  const AddResult added = add_text("r.json", text);
  EXPECT_TRUE(added.added);
  EXPECT_EQ(added.kind, "product_report");
  EXPECT_EQ(added.id, stwo::sha256_hex(text));
  const Json report = Json::parse(text);
  EXPECT_EQ(query("SELECT backend, plan, device_ns, kernel_launches, n_flags FROM run"),
            Rows{"cpu|-|-|-|0"});
  EXPECT_EQ(query("SELECT workload_id, structural_class, trace_rows FROM workload"),
            Rows{"wide_fibonacci_log8x16|latency|256"});
  EXPECT_EQ(count("request"), static_cast<int64_t>(report.at("requests").size()));
  // Three requests are steady; the lower median of three is the middle one.
  std::vector<uint64_t> steady;
  for (const Json& r : report.at("requests")) {
    if (r.at("role") == "steady") steady.push_back(r.at("verified_request").get<uint64_t>());
  }
  std::sort(steady.begin(), steady.end());
  EXPECT_EQ(
      query("SELECT verified_request_ns, n_steady FROM run"),
      Rows{std::to_string(steady[(steady.size() - 1) / 2]) + "|" + std::to_string(steady.size())});
  EXPECT_EQ(
      query("SELECT ns FROM stage_time WHERE clock = 'host' AND statistic = 'median' AND "
            "stage = 'trace_commit'"),
      Rows{std::to_string(report.at("stage_ns").at("median").at("trace_commit").get<uint64_t>())});
  // Four statistics of ten stages and their total.
  EXPECT_EQ(count("stage_time"), 44);
  EXPECT_EQ(count("module"), 0);
  EXPECT_EQ(ledger_->read_artifact(added.id), text);
  struct stat info {};
  ASSERT_EQ(::stat(ledger_->artifact_path(added.id).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0444U);
}

TEST_F(AddFile, ProductReportOfADevice) {
  const std::string text = test::sample_cuda_report_text();
  add_text("r.json", text);
  const Json report = Json::parse(text);
  EXPECT_EQ(query("SELECT r.backend, r.execution_mode, e.device_name, e.sm FROM run AS r JOIN "
                  "environment AS e ON e.row = r.environment"),
            Rows{"cuda|direct|" + report.at("device").at("name").get<std::string>() + "|90"});
  EXPECT_EQ(count("pass"), static_cast<int64_t>(report.at("pass_ledger").size()));
  EXPECT_EQ(count("module"), static_cast<int64_t>(report.at("modules").size()));
  EXPECT_EQ(count("stage_time"), 88);
  int64_t launches = 0;
  for (const Json& p : report.at("pass_ledger")) launches += p.at("launches").get<int64_t>();
  EXPECT_EQ(query("SELECT launches FROM plan"), Rows{std::to_string(launches)});
  EXPECT_EQ(query("SELECT kernel_launches, terminal_d2h_operations, intermediate_d2h_operations "
                  "FROM request ORDER BY ordinal LIMIT 1"),
            Rows{std::to_string(report.at("counters").at("kernel_launches").at(0).get<int64_t>()) +
                 "|1|0"});
  EXPECT_EQ(query("SELECT gap FROM evidence_gaps WHERE structural_class = 'latency' ORDER BY "
                  "ordinal"),
            (Rows{"timeline capture", "kernel counters", "calibration", "kept verdict"}));
}

TEST_F(AddFile, TheSameFileTwiceChangesNothing) {
  const std::string text = test::sample_cpu_report_text();
  add_text("r.json", text);
  const std::string head = ledger_->head();
  const AddResult again = add_text("other-name.json", text);
  EXPECT_FALSE(again.added);
  EXPECT_EQ(again.kind, "product_report");
  EXPECT_EQ(again.rows, 0);
  EXPECT_EQ(ledger_->head(), head);
  EXPECT_FALSE(ledger_->artifacts().has_incoming());
}

TEST_F(AddFile, ProductsEnvironmentsWorkloadsAndPlansAreShared) {
  Json report = Json::parse(test::sample_cuda_report_text());
  add_json("a.json", report);
  report["created_utc"] = "2026-12-02T00:00:00Z";
  add_json("b.json", report);
  EXPECT_EQ(count("run"), 2);
  for (const char* table : {"product", "environment", "workload", "plan"}) {
    EXPECT_EQ(count(table), 1) << table;
  }
}

TEST_F(AddFile, PlanDocumentIsThePlanOfItsReports) {
  const Json plan = test::sample_plan();
  EXPECT_EQ(add_json("p.json", plan).kind, "plan");
  EXPECT_EQ(count("pass"), static_cast<int64_t>(plan.at("pass_ledger").size()));
  Json again = plan;
  again["target"]["multiprocessors"] = plan.at("target").at("multiprocessors").get<int>() + 1;
  const AddResult other = add_json("q.json", again);
  EXPECT_TRUE(other.added);
  EXPECT_EQ(count("plan"), 1) << "the pass ledger, program and cache key are the same";
  ASSERT_EQ(other.notes.size(), 1U);
}

TEST_F(AddFile, CountersFindTheirRun) {
  const AddResult run = add_text("r.json", test::sample_cuda_report_text());
  Json counters = test::sample_counters();
  counters["report_sha256"] = run.id;
  const AddResult added = add_json("c.json", counters);
  EXPECT_EQ(added.kind, "counters");
  EXPECT_TRUE(added.notes.empty());
  EXPECT_EQ(query("SELECT c.kind, r.run_id FROM capture AS c JOIN run AS r ON r.row = c.run AND "
                  "r.workload = c.workload AND r.product = c.product"),
            Rows{"counters|" + run.id});
  int64_t metrics = 0;
  for (const Json& l : counters.at("launches")) {
    metrics += static_cast<int64_t>(l.at("metrics").size());
  }
  EXPECT_EQ(count("counter"), metrics);
  EXPECT_EQ(count("diagnosis"), static_cast<int64_t>(counters.at("diagnoses").size()));
}

TEST_F(AddFile, CountersWithoutTheirReportSaySo) {
  Json counters = test::sample_counters();
  counters["report_sha256"] = std::string(64, 'a');
  const AddResult added = add_json("c.json", counters);
  ASSERT_EQ(added.notes.size(), 1U);
  EXPECT_NE(added.notes[0].find("aaaaaaaaaaaa is not in this ledger"), std::string::npos);
  EXPECT_EQ(query("SELECT run FROM capture"), Rows{"-"});
}

TEST_F(AddFile, Timeline) {
  const AddResult run = add_text("r.json", test::sample_cuda_report_text());
  test::write_trace(folder_.file("t.sptrace"), [&](TraceWriter& writer) {
    writer.meta("report_sha256", run.id);
    test::write_range(writer, "trace_commit", 3, 100, 500);
    test::write_call(writer, 3, 1, test::span(110, 120));
    test::write_kernel(writer, "hash_leaves", 1, test::span(130, 230));
    test::write_call(writer, 3, 2, test::span(240, 250));
    test::write_kernel(writer, "hash_leaves", 2, test::span(260, 460));
    WindowRow window;
    window.begin_ns = test::at(90);
    window.resident_begin_ns = test::at(95);
    window.resident_end_ns = test::at(600);
    window.end_ns = test::at(700);
    writer.window(window);
  });
  const AddResult added = add_file(*ledger_, folder_.file("t.sptrace"));
  EXPECT_EQ(added.kind, "timeline");
  EXPECT_EQ(query("SELECT evidence, n_operations, n_launches, n_requests, span_ns, busy_ns, n_lost "
                  "FROM capture"),
            Rows{"complete|2|2|1|330|300|0"});
  EXPECT_EQ(query("SELECT kernel, stage, launches, total_ns, min_ns, median_ns, max_ns, grid, "
                  "block, dynamic_shared_bytes, registers_per_thread FROM kernel_stat"),
            Rows{"hash_leaves|trace_commit|2|300|100|100|200|4,1,1|256,1,1|1024|40"});
  EXPECT_EQ(query("SELECT r.run_id FROM capture AS c JOIN run AS r ON r.row = c.run"),
            Rows{run.id});
  EXPECT_FALSE(add_file(*ledger_, folder_.file("t.sptrace")).added);
}

TEST_F(AddFile, TruncatedTimelineKeepsItsGrade) {
  {
    TraceWriter writer(folder_.file("t.sptrace"));
    writer.meta("tool", "stwo-prof");
    writer.meta("tool_version", "0.1.0");
    writer.meta("created_utc", "2026-01-31T12:00:00.123Z");
    writer.meta("session_start_ns", std::to_string(test::kSessionStart));
    writer.loss({"kernel", 7});
    writer.finalize();
  }
  const AddResult added = add_file(*ledger_, folder_.file("t.sptrace"));
  EXPECT_FALSE(added.notes.empty());
  EXPECT_EQ(query("SELECT evidence, n_lost, span_ns FROM capture"), Rows{"truncated|7|-"});
  EXPECT_EQ(query("SELECT kind, count FROM capture_loss"), Rows{"kernel|7"});
}

TEST_F(AddFile, VerdictAndItsCorrection) {
  Json first = test::sample_verdict();
  first["supersedes"] = nullptr;
  const AddResult old = add_json("v.json", first);
  EXPECT_EQ(old.kind, "verdict");
  EXPECT_EQ(count("session"), static_cast<int64_t>(first.at("sessions").size()));
  EXPECT_EQ(count("judge_round"), static_cast<int64_t>(first.at("rounds").size()));
  EXPECT_EQ(count("verdict_reason"), 2);
  EXPECT_EQ(query("SELECT code, workload_id, round, slot FROM verdict_reason ORDER BY ordinal"),
            (Rows{"CLASSES_MISSING|-|-|-", "THERMAL|wide_fibonacci_log8x16|2|1"}));

  Json second = test::sample_verdict(0.8);
  second["supersedes"] = old.id;
  second["flags"]["meets_minimum"] = false;
  const AddResult correction = add_json("w.json", second);
  EXPECT_EQ(query("SELECT verdict_id FROM current_verdict"), Rows{correction.id});
  EXPECT_EQ(query("SELECT structural_class, verdict_id FROM class_history ORDER BY 1"),
            (Rows{"latency|" + correction.id, "wide|" + correction.id}));

  // A second correction of the same verdict would fork its history.
  second["created_utc"] = "2026-03-05T00:00:00Z";
  const std::string head = ledger_->head();
  EXPECT_EQ(test::code_of([&] { add_json("x.json", second); }), "LEDGER_CONSTRAINT");
  EXPECT_EQ(ledger_->head(), head);
  EXPECT_FALSE(ledger_->artifacts().has_incoming());
}

TEST_F(AddFile, CorrectionOfAnUnknownVerdictIsRefusedWhole) {
  const std::string head = ledger_->head();
  const test::Failure failure =
      test::failure_of([&] { add_json("v.json", test::sample_verdict()); });
  EXPECT_EQ(failure.code, "SUPERSEDES_MISSING");
  EXPECT_EQ(failure.message.substr(0, 11), "/supersedes");
  EXPECT_EQ(ledger_->head(), head);
  EXPECT_EQ(count("artifact"), 0);
}

TEST_F(AddFile, SessionsFindTheirRuns) {
  const AddResult run = add_text("r.json", test::sample_cuda_report_text());
  Json verdict = test::sample_verdict();
  verdict["supersedes"] = nullptr;
  verdict["sessions"][0]["report_sha256"] = run.id;
  const AddResult added = add_json("v.json", verdict);
  EXPECT_EQ(query("SELECT count(*) FROM session WHERE run IS NOT NULL"), Rows{"1"});
  ASSERT_EQ(added.notes.size(), 1U);
}

TEST_F(AddFile, ScreenAndCalibration) {
  EXPECT_EQ(add_json("s.json", test::sample_screen()).kind, "verdict");
  EXPECT_EQ(query("SELECT kind, outcome, product_b FROM verdict"), Rows{"screen|screen|-"});
  EXPECT_EQ(add_json("c.json", test::sample_calibration()).kind, "calibration");
  EXPECT_EQ(query("SELECT structural_class, rounds, delta, theta, passed FROM calibration"),
            Rows{"wide|8|0.00625|0.0125|1"});
}

TEST_F(AddFile, RefusesWhatItDoesNotKnow) {
  const std::string head = ledger_->head();
  const auto refused = [&](const std::string& name, const std::string& text) {
    return test::code_of([&] { add_text(name, text); });
  };
  EXPECT_EQ(refused("a.json", ""), "DOCUMENT_JSON");
  EXPECT_EQ(refused("b.json", "{\"schema\":\"nothing_v1\"}"), "DOCUMENT_SCHEMA");
  EXPECT_EQ(refused("c.json", "{\"schema\":"), "DOCUMENT_JSON");
  Json report = Json::parse(test::sample_cpu_report_text());
  report["memory"]["accounted_peak"] = 1;
  EXPECT_EQ(refused("d.json", report.dump()).substr(0, 7), "REPORT_");
  std::string duplicate = test::sample_cpu_report_text();
  duplicate.insert(duplicate.find('{') + 1, "\"backend\": \"cpu\",");
  EXPECT_EQ(refused("e.json", duplicate), "REPORT_DUPLICATE_KEY");
  EXPECT_EQ(test::code_of([&] { add_file(*ledger_, folder_.file("missing")); }), "ARTIFACT_SOURCE");
  EXPECT_EQ(test::code_of([&] { add_file(*ledger_, folder_.file(".")); }), "ARTIFACT_SOURCE");
  // A ledger is a SQLite file, and no capture.
  EXPECT_EQ(test::code_of([&] { add_file(*ledger_, folder_.file("l.db")); }), "TRACE_FOREIGN");
  EXPECT_EQ(ledger_->head(), head);
  EXPECT_EQ(count("artifact"), 0);
  EXPECT_FALSE(ledger_->artifacts().has_incoming());
}

}  // namespace
}  // namespace ledger
