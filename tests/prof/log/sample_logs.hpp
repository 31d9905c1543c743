// Record logs for tests: one row of each kind, and their bytes.
#pragma once

#include <string>
#include <vector>

#include "prof/log/log_reader.hpp"
#include "prof/log/log_writer.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace prof::test {

using ledger::test::at;
using ledger::test::read_file;
using ledger::test::span;
using ledger::test::TemporaryFolder;
using ledger::test::write_file;

inline LogHeader sample_header(int64_t pid = 7) {
  LogHeader h;
  h.pid = pid;
  h.parent_pid = 6;
  h.process_name = "prover";
  h.command = "prover --size 'a b'";
  h.start = {at(0), 1000};
  h.cupti_version = 130001;
  h.cupti_header_version = 130001;
  return h;
}

inline ledger::GpuOpRow sample_op(int64_t from, int64_t to, int64_t corr) {
  ledger::GpuOpRow op;
  op.pid = 7;
  op.device_id = 0;
  op.context_id = 1;
  op.stream_id = 13;
  op.time = span(from, to);
  op.corr = corr;
  return op;
}

inline KernelOp sample_kernel(ledger::StrId name, int64_t from, int64_t to, int64_t corr) {
  KernelOp k;
  k.op = sample_op(from, to, corr);
  k.kernel.name = name;
  k.kernel.short_name = name;
  k.kernel.mangled_name = name;
  k.kernel.grid_x = 4;
  k.kernel.grid_y = k.kernel.grid_z = 1;
  k.kernel.block_x = 128;
  k.kernel.block_y = k.kernel.block_z = 1;
  return k;
}

inline ledger::ApiRow sample_call(ledger::StrId name, int64_t from, int64_t to, int64_t corr) {
  ledger::ApiRow row;
  row.pid = 7;
  row.tid = 8;
  row.domain = ledger::ApiDomain::kDriver;
  row.cbid = 307;
  row.name = name;
  row.time = span(from, to);
  row.corr = corr;
  return row;
}

/// A log of 12 frames and a trailer; returns its path.
inline std::string write_sample(const TemporaryFolder& folder) {
  LogWriter w;
  EXPECT_TRUE(w.open(folder.file(""), sample_header())) << w.error();
  w.write(ledger::ClockPairRow{at(5), 1005});
  w.write(LogFact{"driver_version", "13.0"});
  const ledger::StrId launch = w.intern("cuLaunchKernel");
  const ledger::StrId kernel = w.intern("add(int*)");
  w.write(sample_call(launch, 10, 20, 1));
  w.write(sample_kernel(kernel, 30, 40, 1));
  w.write(FillOp{sample_op(50, 60, 2), {255, 64, 3}});
  w.write(MarkerRow{7, 1, MarkerRow::Phase::kStart, 2, at(1), 8, launch, kernel});
  w.write(MarkerDataRow{1, 2, 5});
  w.write(
      ledger::ResEventRow{7, ledger::ResKind::kModuleLoaded, at(2), 1, 3, 4, std::string(64, 'a')});
  w.write(ledger::LossRow{"a loss", 2});
  w.finish(0);
  return w.path();
}

struct ReadLog {
  LogHeader header;
  std::vector<FrameKind> kinds;
  std::vector<std::string> damage;
  LogStatus status;
};
inline ReadLog read_log(const std::string& path) {
  LogReader reader(path);
  ReadLog out;
  out.header = reader.header();
  while (const auto item = reader.next()) {
    if (item->damage.empty()) {
      out.kinds.push_back(item->kind);
    } else {
      out.damage.push_back(item->damage);
    }
  }
  out.status = reader.status();
  return out;
}

}  // namespace prof::test
