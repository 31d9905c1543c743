// Small captures for tests, and folders to put them in.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "ledger/trace/trace_writer.hpp"
#include "prover/errors.hpp"

namespace ledger::test {

/// A folder of this test, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trace_test.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::filesystem::path path_;
};

/// Start of all captures made here, and a time after it.
inline constexpr int64_t kSessionStart = 1'700'000'000'000'000'000;
inline constexpr int64_t at(int64_t ns) { return kSessionStart + ns; }
inline TimeSpan span(int64_t from, int64_t to) { return {at(from), at(to)}; }

/// The facts that every capture has, and a complete record log.
inline void write_facts(TraceWriter& writer) {
  writer.meta("tool", "stwo-prof");
  writer.meta("tool_version", "0.1.0");
  writer.meta("created_utc", "2026-01-31T12:00:00.123Z");
  writer.meta("session_start_ns", std::to_string(kSessionStart));
  writer.meta("trailer", "1");
}

/// A finished capture of what `fill` writes.
inline void write_trace(const std::string& path, const std::function<void(TraceWriter&)>& fill) {
  TraceWriter writer(path);
  write_facts(writer);
  fill(writer);
  writer.finalize();
}

/// An API call: pid 7, domain runtime.
inline void write_call(TraceWriter& writer, int64_t tid, int64_t corr, TimeSpan time,
                       std::string_view name = "cuLaunchKernel") {
  ApiRow row;
  row.pid = 7;
  row.tid = tid;
  row.cbid = 307;
  row.name = writer.intern(name);
  row.time = time;
  row.corr = corr;
  writer.api(row);
}

/// A kernel on device 0, context 1, stream 13 of process 7.
inline int64_t write_kernel(TraceWriter& writer, std::string_view name, int64_t corr, TimeSpan time,
                            int64_t grid_x = 4, int64_t device = 0) {
  GpuOpRow op;
  op.pid = 7;
  op.device_id = device;
  op.context_id = 1;
  op.stream_id = 13;
  op.time = time;
  op.corr = corr;
  KernelRow kernel;
  kernel.name = writer.intern(name);
  kernel.short_name = kernel.name;
  kernel.grid_x = grid_x;
  kernel.grid_y = kernel.grid_z = 1;
  kernel.block_x = 256;
  kernel.block_y = kernel.block_z = 1;
  kernel.dynamic_shared_bytes = 1024;
  kernel.registers = 40;
  return writer.kernel(op, kernel);
}

/// A range of the prover's domain, process 7.
inline void write_range(TraceWriter& writer, std::string_view name, int64_t tid, int64_t from,
                        std::optional<int64_t> to, int64_t category = 2,
                        std::string_view domain = "stwo.prover",
                        NvtxType type = NvtxType::kPushPop) {
  NvtxRow row;
  row.pid = 7;
  row.type = type;
  row.domain = writer.intern(domain);
  row.name = writer.intern(name);
  row.tid = tid;
  row.start_ns = at(from);
  if (to) row.end_ns = at(*to);
  row.category = category;
  writer.nvtx(row);
}

/// Rows of a query as text: columns joined by '|', null as "-".
inline std::vector<std::string> rows_of(Database& database, std::string_view sql) {
  std::vector<std::string> out;
  Statement statement = database.prepare(sql);
  while (statement.step()) {
    std::string row;
    for (int i = 0; i < statement.column_count(); ++i) {
      if (i > 0) row += '|';
      row += statement.is_null(i) ? "-" : statement.string(i);
    }
    out.push_back(row);
  }
  return out;
}

using Rows = std::vector<std::string>;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// Code and message of the error that `action` ends with; empty if it does not.
struct Failure {
  std::string code;
  std::string message;
};
inline Failure failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const stwo::Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}
inline std::string code_of(const std::function<void()>& action) { return failure_of(action).code; }

}  // namespace ledger::test
