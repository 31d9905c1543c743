// Counts of the capture against those of a product report.
#include "prof/timeline/counts.hpp"

#include <fstream>
#include <map>

#include "prover/hash/sha256.hpp"
#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

std::string report_file(const std::string& name) {
  return ledger::test::read_file(std::string(PROF_TEST_REPORTS) + "/" + name);
}

std::map<std::string, CountRow> by_key(const std::vector<CountRow>& rows) {
  std::map<std::string, CountRow> out;
  for (const CountRow& row : rows) out[row.key] = row;
  return out;
}

TEST(Counts, OfTheExample) {
  Capture capture(write_example);
  std::map<std::string, std::optional<int64_t>> counts;
  for (const Count& c : capture.analyze().counts) counts[c.key] = c.value.value;
  const std::map<std::string, std::optional<int64_t>> expected = {
      {"kernel_launches", 4},
      {"graph_launches", 0},
      {"graph_instantiations", 0},
      {"graph_updates", 0},
      {"sync_calls", 1},
      {"device_synchronizes", 0},
      {"module_loads", 0},
      {"jit_compiles", 0},
      {"allocations", 0},
      {"frees", 0},
      {"h2d_operations", 1},
      {"h2d_bytes", 1000},
      {"d2h_operations", 1},
      {"d2h_bytes", 4096},
      {"d2d_operations", 0},
      {"d2d_bytes", 0},
      {"terminal_d2h_operations", 1},
      {"terminal_d2h_bytes", 4096},
      {"intermediate_d2h_operations", 0}};
  EXPECT_EQ(counts, expected);
}

TEST(Counts, CallsThatFailedDidNothing) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    for (const int64_t rc : {0, 2}) {
      ledger::ApiRow row;
      row.pid = 7;
      row.tid = 70;
      row.name = w.intern("cuMemAlloc_v2");
      row.time = span(1100 + 10 * rc, 1105 + 10 * rc);
      row.corr = rc;
      row.rc = rc;
      w.api(row);
    }
    call(w, "cuMemHostAlloc", 5, 1200, 1210);
    call(w, "cuMemFreeHost", 6, 1300, 1310);
    call(w, "cuCtxSynchronize", 7, 1400, 1410);
    call(w, "cuMemFree_v2", 8, 900, 1010);  // begins before the window
  });
  std::map<std::string, int64_t> counts;
  for (const Count& c : capture.analyze().counts) {
    if (c.value) counts[c.key] = *c.value;
  }
  EXPECT_EQ(counts["allocations"], 2);
  EXPECT_EQ(counts["frees"], 1);
  EXPECT_EQ(counts["sync_calls"], 1);
  EXPECT_EQ(counts["device_synchronizes"], 1);
}

/// What the example report says about its steady requests: 28 kernels, one synchronisation, one
/// copy of 6912 bytes.
void write_like_report(TraceWriter& w, int64_t kernels) {
  for (int64_t r = 0; r < 5; ++r) {
    window(w, r, r < 2 ? ledger::WindowRole::kWarmup : ledger::WindowRole::kSteady, 10000 * (r + 1),
           10000 * (r + 1), 10000 * (r + 1) + 9000 + r, 10000 * (r + 1) + 9500);
  }
  for (int64_t i = 0; i < kernels; ++i) {
    call(w, "cuLaunchKernel", i, 40000 + 10 * i, 40005 + 10 * i);
    // The last one has no times: its call tells that it belongs to the request.
    kernel(w, "k", {i},
           i + 1 < kernels ? span(41000 + 10 * i, 41010 + 10 * i) : ledger::TimeSpan{});
  }
  call(w, "cuMemcpyDtoHAsync_v2", 100, 45000, 45010);
  copy(w, 2, 6912, {100}, span(46000, 46100));
  call(w, "cuStreamSynchronize", 101, 45020, 46200);
}

TEST(Counts, EqualToTheReport) {
  const std::string report = report_file("cuda_report.json");
  Capture capture([&](TraceWriter& w) {
    write_like_report(w, 28);
    w.meta("report_sha256", stwo::sha256_hex(report));
  });
  TimelineOptions options;
  options.report = report;
  const Timeline t = capture.analyze(options);
  EXPECT_EQ(t.window.request, 3);
  ASSERT_TRUE(t.comparison);
  EXPECT_EQ(t.comparison->size(), t.counts.size());
  for (const CountRow& row : *t.comparison) {
    EXPECT_TRUE(row.report) << row.key;
    EXPECT_EQ(row.equal, true) << row.key;
  }
}

TEST(Counts, DifferentFromTheReport) {
  Capture capture([](TraceWriter& w) { write_like_report(w, 27); });
  TimelineOptions options;
  options.report = report_file("cuda_report.json");
  auto rows = by_key(*capture.analyze(options).comparison);
  EXPECT_EQ(rows["kernel_launches"].equal, false);
  EXPECT_EQ(*rows["kernel_launches"].capture, 27);
  EXPECT_EQ(*rows["kernel_launches"].report, 28);
  EXPECT_EQ(rows["d2h_bytes"].equal, true);
}

TEST(Counts, UnknownIsNeitherEqualNorDifferent) {
  const std::vector<Count> counts = {{"kernel_launches", Answer<int64_t>::unknown("not recorded")},
                                     {"something_new", Answer<int64_t>::of(3)}};
  ReportRequest report;
  report.counts = {{"kernel_launches", 28}};
  auto rows = by_key(compare_with_report(counts, report));
  EXPECT_FALSE(rows["kernel_launches"].equal);
  EXPECT_FALSE(rows["something_new"].equal);
  EXPECT_FALSE(rows["something_new"].report);
}

TEST(Counts, ReadsARequestOfAReport) {
  const std::string report = report_file("cuda_report.json");
  const ReportRequest first = read_report_request(report, 0, std::nullopt);
  EXPECT_EQ(std::count(first.counts.begin(), first.counts.end(),
                       std::pair<std::string, int64_t>("allocations", 2)),
            1);
  EXPECT_EQ(first.steady_median_ns, 126610);
  EXPECT_EQ(report_steady_median(report), 126610);
}

TEST(Counts, RefusesOtherReports) {
  const std::string report = report_file("cuda_report.json");
  EXPECT_EQ(code_of([&] { read_report_request("{}", 0, std::nullopt); }), "TIMELINE_REPORT");
  EXPECT_EQ(code_of([&] { read_report_request(report, 5, std::nullopt); }), "TIMELINE_REQUEST");
  EXPECT_EQ(code_of([&] { read_report_request(report, -1, std::nullopt); }), "TIMELINE_REQUEST");
  EXPECT_EQ(code_of([&] { read_report_request(report, 0, std::string(64, '0')); }),
            "TIMELINE_REPORT_OTHER");
  EXPECT_EQ(code_of([&] { read_report_request(report_file("cpu_report.json"), 0, std::nullopt); }),
            "TIMELINE_REPORT_CPU");
  Capture whole([](TraceWriter& w) { kernel(w, "k", {1}, span(1100, 1200)); });
  TimelineOptions options;
  options.report = report;
  EXPECT_EQ(code_of([&] { whole.analyze(options); }), "TIMELINE_REQUEST");
}

}  // namespace
}  // namespace prof::test
