// How long and how much memory the ingest of a long recording takes.
//
//   prof_ingest_bench [RECORDS]    writes a log of RECORDS records (10 million) of the kinds and in
//                                  the proportion that a prover makes, and ingests it
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "prof/ingest/ingest.hpp"
#include "prof/log/log_writer.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000'000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

long peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// A call and a kernel for each launch, and a range (start, data, end) for each third.
std::string write_log(const std::string& folder, int64_t records) {
  LogHeader header;
  header.pid = 41'234;
  header.process_name = "bench";
  header.start = {kStart, 1};
  LogWriter w;
  if (!w.open(folder, header)) {
    throw stwo::EnvironmentError("BENCH_LOG", w.error() + "; choose another TMPDIR");
  }
  const auto call = w.intern("cuLaunchKernel");
  const auto domain = w.intern("stwo.prover");
  const auto stage = w.intern("trace_commit");
  std::vector<ledger::StrId> kernels;
  for (int i = 0; i < 40; ++i) {
    std::string name = "kernel_" + std::to_string(i);
    name = "_Z" + std::to_string(name.size()) + name + "Pj";
    kernels.push_back(w.intern(name));
  }
  int64_t now = kStart + 1'000'000;
  int64_t corr = 0;
  for (int64_t written = 0; written < records; ++corr) {
    now += 5000;
    const bool range = corr % 3 == 0;
    MarkerRow marker;
    marker.pid = header.pid;
    marker.id = corr;
    marker.tid = header.pid;
    if (range) {
      marker.phase = MarkerRow::Phase::kStart;
      marker.ts_ns = now;
      marker.domain = domain;
      marker.name = stage;
      w.write(marker);
      w.write(MarkerDataRow{corr, 2, static_cast<uint64_t>(corr)});
      written += 2;
    }
    ledger::ApiRow api;
    api.pid = header.pid;
    api.tid = header.pid;
    api.domain = ledger::ApiDomain::kDriver;
    api.cbid = 307;
    api.name = call;
    api.time = {now + 100, now + 2000};
    api.corr = corr;
    w.write(api);
    KernelOp k;
    k.op.pid = header.pid;
    k.op.context_id = 1;
    k.op.stream_id = 13;
    k.op.time = {now + 3000, now + 6000};
    k.op.corr = corr;
    k.kernel.name = k.kernel.short_name = kernels[static_cast<size_t>(corr) % kernels.size()];
    k.kernel.mangled_name = k.kernel.name;
    k.kernel.grid_x = 1024;
    k.kernel.grid_y = k.kernel.grid_z = k.kernel.block_y = k.kernel.block_z = 1;
    k.kernel.block_x = 256;
    w.write(k);
    written += 2;
    if (range) {
      marker.phase = MarkerRow::Phase::kEnd;
      marker.ts_ns = now + 2500;
      marker.domain.reset();
      marker.name.reset();
      w.write(marker);
      ++written;
    }
  }
  w.finish(0);
  if (w.lost() > 0) {
    throw stwo::EnvironmentError("BENCH_LOG", w.error() + "; choose another TMPDIR");
  }
  return w.path();
}

int run(int argc, char** argv) {
  const int64_t records = argc == 1 ? 10'000'000 : std::atoll(argv[1]);
  if (argc > 2 || records <= 0) {
    std::cerr << "usage: prof_ingest_bench [RECORDS]\n";
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "prof_bench.XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw stwo::EnvironmentError("BENCH_LOG", "no temporary folder; choose another TMPDIR");
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string log = write_log(folder, records);
  const double write_s = seconds_since(begin);
  std::printf("log: %.2f s, %.0f ns a record, %.1f bytes a record, peak %ld MiB\n", write_s,
              write_s * 1e9 / static_cast<double>(records),
              static_cast<double>(std::filesystem::file_size(log)) / static_cast<double>(records),
              peak_mib());

  IngestOptions options;
  options.logs = {log};
  options.tool_version = "bench";
  options.scratch_folder = folder;
  int shown = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    const int percent = static_cast<int>(100 * done / total);
    if (percent < shown + 10) return;
    shown = percent - percent % 10;
    std::fprintf(stderr, "%d %%\n", shown);
  };
  const auto scan_begin = std::chrono::steady_clock::now();
  Ingest ingest(options);
  const double scan_s = seconds_since(scan_begin);
  std::printf("first pass: %.2f s, peak %ld MiB\n", scan_s, peak_mib());
  const auto result = ingest.write(folder + "/bench.sptrace");
  const double all_s = seconds_since(scan_begin);
  std::printf("capture: %.2f s in all, %.0f records/s, peak %ld MiB, %.1f MiB, %s\n", all_s,
              static_cast<double>(records) / all_s, peak_mib(),
              static_cast<double>(std::filesystem::file_size(result.path)) / (1 << 20),
              std::string(ledger::evidence_name(result.evidence)).c_str());
  std::filesystem::remove_all(folder);
  return result.evidence == ledger::TraceEvidence::kComplete ? 0 : 3;
}

}  // namespace
}  // namespace prof

int main(int argc, char** argv) {
  try {
    return prof::run(argc, argv);
  } catch (const stwo::Error& error) {
    std::cerr << "prof_ingest_bench: " << error.code() << ": " << error.what() << "\n";
    return static_cast<int>(error.exit_code());
  }
}
