// How fast a capture is written, against the fastest thing that people have at hand: `.import` of
// the sqlite3 shell, from CSV files of the same rows, into the same tables, with the indexes made
// afterwards on both sides. The writer's time includes what the shell does not do: validation,
// statistics, reference check, structure check, seal and fsync.
//
//   ledger_ingest_bench [ROWS]        compares, ROWS rows (1 million), median of 5
//   ledger_ingest_bench --make FILE ROWS    makes a capture for benchmarks of queries
//   ledger_ingest_bench --read FILE   opens and summarises a capture
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "ledger/trace/trace_reader.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "ledger/trace/trace_summary.hpp"
#include "ledger/trace/trace_writer.hpp"
#include "prover/errors.hpp"

extern char** environ;

namespace ledger {
namespace {

constexpr int64_t kSessionStart = 1'700'000'000'000'000'000;
constexpr int kRounds = 5;
constexpr std::array<const char*, 10> kStages = {
    "ingress",  "trace_generation", "trace_commit", "constraint_evaluation",
    "oods",     "quotient",         "fri_commit",   "pow",
    "decommit", "proof_assembly"};

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Who gets the rows of a made-up prover: TraceWriter, or CSV files.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual StrId intern(std::string_view text) = 0;
  virtual void api(const ApiRow& row) = 0;
  virtual void kernel(const GpuOpRow& op, const KernelRow& row) = 0;
  virtual void nvtx(const NvtxRow& row) = 0;
};

/// About `rows` rows of four tables in the proportion that a prover without graphs makes them: a
/// call, an operation and a kernel for each launch, and a range for each third one. Every column
/// has a value, because `.import` has no null.
void generate(int64_t rows, Sink& sink) {
  std::vector<StrId> kernels;
  for (int i = 0; i < 40; ++i) kernels.push_back(sink.intern("kernel_" + std::to_string(i)));
  std::vector<StrId> stages;
  for (const char* name : kStages) stages.push_back(sink.intern(name));
  const StrId domain = sink.intern(kProverDomain);
  const StrId pass = sink.intern("pass");
  const StrId call = sink.intern("cuLaunchKernel");
  constexpr int64_t kPid = 41'234;
  constexpr int64_t kTid = 41'250;
  constexpr int64_t kLaunchesPerStage = 300;

  uint64_t state = 88'172'645'463'325'252ULL;
  const auto random = [&state](uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<int64_t>(state % below);
  };
  int64_t host = kSessionStart + 1'000'000;
  int64_t device = host;
  int64_t corr = 1000;
  int64_t left = rows;
  const auto range = [&](int64_t category, StrId name, int64_t length) {
    NvtxRow row;
    row.pid = kPid;
    row.domain = domain;
    row.name = name;
    row.tid = kTid;
    row.end_tid = kTid;
    row.start_ns = host;
    row.end_ns = host + length;
    row.payload = static_cast<uint64_t>(random(1 << 30));
    row.category = category;
    sink.nvtx(row);
    --left;
  };
  for (int64_t launch = 0; left > 0; ++launch) {
    if (launch % kLaunchesPerStage == 0) {
      const auto stage = static_cast<size_t>(launch / kLaunchesPerStage) % stages.size();
      range(kStageCategory, stages[stage], kLaunchesPerStage * 4000);
    } else if (launch % 3 == 0) {
      range(3, pass, 9000);
    }
    ApiRow api;
    api.pid = kPid;
    api.tid = kTid;
    api.domain = ApiDomain::kDriver;
    api.cbid = 307;
    api.name = call;
    api.time = {host + 200, host + 200 + 1500 + random(1500)};
    api.corr = ++corr;
    sink.api(api);

    device = std::max(device + 500, host + 3000) + random(300);
    GpuOpRow op;
    op.pid = kPid;
    op.context_id = 1;
    op.stream_id = 13 + random(2);
    op.time = {device, device + 1000 + random(100'000) / 20};
    op.corr = corr;
    op.graph_id = 1;
    op.graph_node_id = static_cast<uint64_t>(launch);
    KernelRow kernel;
    kernel.name = kernels[static_cast<size_t>(random(kernels.size()))];
    kernel.short_name = kernel.name;
    kernel.mangled_name = kernel.name;
    kernel.grid_x = int64_t{1} << random(16);
    kernel.grid_y = kernel.grid_z = 1;
    kernel.block_x = 256;
    kernel.block_y = kernel.block_z = 1;
    kernel.cluster_x = kernel.cluster_y = kernel.cluster_z = 1;
    kernel.dynamic_shared_bytes = 16'384;
    kernel.shared_executed_bytes = 32'768;
    kernel.registers = 64;
    kernel.local_total_bytes = 1 << 20;
    kernel.grid_number = launch;
    kernel.launch_type = 0;
    kernel.cache_config = 0;
    kernel.queued_ns = host + 900;
    kernel.submitted_ns = host + 1200;
    sink.kernel(op, kernel);
    host += 4000;
    device = *op.time.end_ns;
    left -= 3;
  }
}

class WriterSink : public Sink {
 public:
  explicit WriterSink(TraceWriter& writer) : writer_(writer) {}
  StrId intern(std::string_view text) override { return writer_.intern(text); }
  void api(const ApiRow& row) override { writer_.api(row); }
  void kernel(const GpuOpRow& op, const KernelRow& row) override { writer_.kernel(op, row); }
  void nvtx(const NvtxRow& row) override { writer_.nvtx(row); }

 private:
  TraceWriter& writer_;
};

void make_capture(const std::string& path, int64_t rows) {
  TraceWriter writer(path);
  writer.meta(trace_meta::kTool, "ledger_ingest_bench");
  writer.meta(trace_meta::kToolVersion, "1");
  writer.meta(trace_meta::kCreatedUtc, "2026-01-31T12:00:00.123Z");
  writer.meta(trace_meta::kSessionStartNs, std::to_string(kSessionStart));
  writer.meta(trace_meta::kTrailer, "1");
  WriterSink sink(writer);
  const double rows_s = seconds_of([&] { generate(rows, sink); });
  const double finalize_s = seconds_of([&] { writer.finalize(); });
  std::printf("  rows %.2f s, finalize %.2f s\n", rows_s, finalize_s);
}

/// One CSV file per table.
class CsvSink : public Sink {
 public:
  explicit CsvSink(const std::filesystem::path& folder)
      : str_(folder / "str.csv"),
        api_(folder / "api.csv"),
        gpu_op_(folder / "gpu_op.csv"),
        kernel_(folder / "kernel.csv"),
        nvtx_(folder / "nvtx.csv") {}

  StrId intern(std::string_view text) override {
    line(str_, ++strings_, text);
    return strings_;
  }
  void api(const ApiRow& r) override {
    line(api_, ++calls_, r.pid, r.tid, static_cast<int>(r.domain), r.cbid, r.name, *r.time.start_ns,
         *r.time.end_ns, r.corr, r.rc);
  }
  void kernel(const GpuOpRow& op, const KernelRow& r) override {
    line(gpu_op_, ++ops_, op.pid, 1, op.device_id, op.context_id, op.stream_id, *op.time.start_ns,
         *op.time.end_ns, op.corr, *op.graph_id, *op.graph_node_id);
    line(kernel_, ops_, r.name, r.short_name, *r.mangled_name, r.grid_x, r.grid_y, r.grid_z,
         r.block_x, r.block_y, r.block_z, *r.cluster_x, *r.cluster_y, *r.cluster_z,
         r.static_shared_bytes, r.dynamic_shared_bytes, *r.shared_executed_bytes, r.registers,
         r.local_per_thread_bytes, r.local_total_bytes, r.grid_number, *r.launch_type,
         *r.cache_config, *r.queued_ns, *r.submitted_ns);
  }
  void nvtx(const NvtxRow& r) override {
    line(nvtx_, ++ranges_, r.pid, static_cast<int>(r.type), *r.domain, *r.name, r.tid, *r.end_tid,
         r.start_ns, *r.end_ns, *r.payload, r.category, r.flags);
  }

 private:
  template <class First, class... Rest>
  static void line(std::ofstream& out, const First& first, const Rest&... rest) {
    out << first;
    ((out << ',' << rest), ...);
    out << '\n';
  }
  std::ofstream str_, api_, gpu_op_, kernel_, nvtx_;
  int64_t strings_ = 0, calls_ = 0, ops_ = 0, ranges_ = 0;
};

/// Runs the sqlite3 shell on a script.
void run_shell(const std::string& database, const std::string& script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, script.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "sqlite3";
  std::string bail = "-bail";
  std::string file = database;
  char* arguments[] = {program.data(), bail.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, "sqlite3", &actions, nullptr, static_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || ::waitpid(child, &status, 0) != child || status != 0) {
    throw stwo::EnvironmentError("SHELL", "the sqlite3 shell failed or is missing");
  }
}

void write_import_script(const std::filesystem::path& folder) {
  std::ofstream script(folder / "import.sql");
  // Without these the shell would write a journal and wait for the disk, which the writer leaves
  // out as well.
  script << "PRAGMA journal_mode=OFF;\nPRAGMA synchronous=OFF;\nPRAGMA foreign_keys=OFF;\n"
         << trace_tables_sql() << "\n.mode csv\n";
  for (const char* table : {"str", "api", "gpu_op", "kernel", "nvtx"}) {
    script << ".import " << (folder / table).string() << ".csv " << table << "\n";
  }
  script << trace_indexes_sql() << "\n";
}

/// Both files must hold the same rows.
std::string digest_of(const std::string& path) {
  Database database(path, OpenMode::kReadOnly);
  std::string out;
  for (const char* sum :
       {"COUNT(*), SUM(id), SUM(length(value)) FROM str",
        "COUNT(*), SUM(end_ns % 1000003), SUM(corr) FROM api",
        "COUNT(*), SUM(end_ns % 1000003), SUM(graph_node_id) FROM gpu_op",
        "COUNT(*), SUM(op_id), SUM(name_id * grid_x), SUM(submitted_ns % 1000003) FROM kernel",
        "COUNT(*), SUM(end_ns % 1000003), SUM(payload) FROM nvtx"}) {
    Statement statement = database.prepare(std::string("SELECT ") + sum);
    statement.step();
    for (int i = 0; i < statement.column_count(); ++i) out += statement.string(i) + " ";
  }
  return out;
}

int compare(int64_t rows) {
  std::string name = (std::filesystem::temp_directory_path() / "ledger_ingest.XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  {
    CsvSink sink(folder);
    generate(rows, sink);
  }
  write_import_script(folder);
  const std::string ours = (folder / "ours.sptrace").string();
  const std::string theirs = (folder / "theirs.db").string();
  std::vector<double> writer_s;
  std::vector<double> import_s;
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove(ours);
    std::filesystem::remove(theirs);
    import_s.push_back(seconds_of([&] { run_shell(theirs, (folder / "import.sql").string()); }));
    writer_s.push_back(seconds_of([&] { make_capture(ours, rows); }));
    std::printf("round %d: .import %.2f s, TraceWriter %.2f s\n", round + 1, import_s.back(),
                writer_s.back());
  }
  const bool same = digest_of(ours) == digest_of(theirs);
  std::printf(
      "%lld rows, %.1f MB: .import %.2f s, TraceWriter %.2f s (%.2f million rows/s), "
      "ratio %.2f%s\n",
      static_cast<long long>(rows), static_cast<double>(std::filesystem::file_size(ours)) / 1e6,
      median(import_s), median(writer_s), static_cast<double>(rows) / median(writer_s) / 1e6,
      median(writer_s) / median(import_s), same ? "" : "; THE ROWS DIFFER");
  std::filesystem::remove_all(folder);
  return same ? 0 : 1;
}

void read_capture(const std::string& path) {
  std::unique_ptr<Database> trace;
  const double open_s = seconds_of([&] { trace = open_trace(path); });
  TraceSummary summary;
  const double summary_s = seconds_of([&] { summary = summarize_trace(*trace); });
  std::printf(
      "open with all checks %.2f s, summary %.2f s: %s, %lld kernels in %zu groups, busy "
      "%.3f s of %.3f s\n",
      open_s, summary_s, std::string(evidence_name(summary.evidence)).c_str(),
      static_cast<long long>(summary.count("kernel").rows), summary.kernels.size(),
      static_cast<double>(summary.busy_ns) / 1e9,
      static_cast<double>(summary.span_ns.value_or(0)) / 1e9);
}

int run(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--make" && argc == 4) {
    make_capture(argv[2], std::atoll(argv[3]));
    return 0;
  }
  if (first == "--read" && argc == 3) {
    read_capture(argv[2]);
    return 0;
  }
  const int64_t rows = argc == 1 ? 1'000'000 : std::atoll(first.c_str());
  if (argc > 2 || rows <= 0) {
    std::cerr << "usage: ledger_ingest_bench [ROWS] | --make FILE ROWS | --read FILE\n";
    return 2;
  }
  return compare(rows);
}

}  // namespace
}  // namespace ledger

int main(int argc, char** argv) {
  try {
    return ledger::run(argc, argv);
  } catch (const stwo::Error& error) {
    std::cerr << "ledger_ingest_bench: " << error.code() << ": " << error.what() << "\n";
    return static_cast<int>(error.exit_code());
  }
}
