// What the parts of the import share. Internal to the folder.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ledger/trace/trace_writer.hpp"
#include "prof/nsys/nsys_file.hpp"
#include "prof/nsys/nsys_import.hpp"

namespace prof::nsys {

/// A process and a thread, from a global id: 16 bits of machine, 24 of process, 24 of thread.
struct GlobalId {
  int64_t pid;
  int64_t tid;
};
GlobalId decode_global_id(int64_t id);

/// CUPTI's number of a memory kind. Throws RowProblem outside 0 to 7.
int64_t cupti_mem_kind(int64_t nsys_kind);

class ImportState {
 public:
  ImportState(NsysFile& source, ledger::TraceWriter& target, const NsysImportOptions& options);

  NsysFile& file;
  ledger::TraceWriter& writer;
  const NsysImportOptions& options;
  NsysImported result;

  int64_t session_start_ns() const { return session_start_ns_; }
  /// Absolute time. Throws RowProblem if it does not fit.
  int64_t time(int64_t since_start_ns) const;
  ledger::TimeSpan span(int64_t start_ns, int64_t end_ns) const {
    return {time(start_ns), time(end_ns)};
  }
  /// Id in the capture of a name of StringIds. Throws RowProblem if there is none.
  ledger::StrId name(int64_t string_id);

  /// Calls `store` for each row of a table; false: the export does not have the table.
  template <class Store>
  bool each(std::string_view name, std::span<const Column> columns, const Store& store) {
    const std::optional<std::string> table = file.table(name);
    if (!table) return false;
    Rows rows(file, *table, columns);
    const int64_t total = file.last_row(*table);
    int64_t& taken = result.rows[std::string(name)];
    int64_t seen = 0;
    while (rows.step()) {
      if (options.progress && seen % kProgressRows == 0) options.progress(*table, seen, total);
      ++seen;
      try {
        if (store(rows)) ++taken;
      } catch (const RowProblem& problem) {
        reject(rows, problem.what());
      } catch (const stwo::FormatError& error) {
        if (error.code() != "TRACE_ROW") throw;
        reject(rows, error.what());
      }
    }
    return true;
  }

  void lose(const std::string& kind) { ++losses_[kind]; }
  /// Writes what was counted.
  void write_losses();

  /// Called with every operation, and with every context that the export lists.
  void saw_stream(int64_t pid, int64_t device, int64_t context, int64_t stream) {
    streams_.insert({pid, context, stream});
    contexts_.emplace(std::pair(pid, context), device);
  }
  void saw_process(int64_t pid) { processes_.insert(pid); }
  const std::set<int64_t>& processes() const { return processes_; }
  const std::map<std::pair<int64_t, int64_t>, int64_t>& contexts() const { return contexts_; }
  const std::set<std::tuple<int64_t, int64_t, int64_t>>& streams() const { return streams_; }

  /// Calls of copies that wait for them.
  void add_synchronous_copy(int64_t pid, int64_t corr) { copies_.insert(call_key(pid, corr)); }
  bool is_synchronous_copy(int64_t pid, int64_t corr) const {
    return copies_.count(call_key(pid, corr)) != 0;
  }

 private:
  static constexpr int64_t kProgressRows = 100'000;
  static constexpr int64_t kMaxQuarantined = 1000;  ///< per table

  /// Correlation ids have 32 bits, processes 24.
  static uint64_t call_key(int64_t pid, int64_t corr) {
    return static_cast<uint64_t>(pid) << 32 | (static_cast<uint64_t>(corr) & 0xffffffff);
  }
  void reject(const Rows& rows, const std::string& reason);

  int64_t session_start_ns_ = 0;
  std::optional<ledger::Statement> string_;
  std::unordered_map<int64_t, ledger::StrId> names_;
  std::map<std::string, int64_t> losses_;
  std::map<std::string, int64_t> rejected_;  ///< by table
  std::map<std::pair<int64_t, int64_t>, int64_t> contexts_;
  std::set<std::tuple<int64_t, int64_t, int64_t>> streams_;
  std::set<int64_t> processes_;
  std::unordered_set<uint64_t> copies_;
};

// The parts, in the order in which they run. Each names the kinds whose table is absent.
void import_calls(ImportState& state, std::set<std::string>& absent);
void import_waits(ImportState& state, std::set<std::string>& absent);
void import_events(ImportState& state);
void import_memory(ImportState& state, std::set<std::string>& absent);
void import_ranges(ImportState& state);
void import_overhead(ImportState& state);
void import_operations(ImportState& state, std::set<std::string>& absent);
void import_devices(ImportState& state);
void import_contexts(ImportState& state);
void import_facts(ImportState& state, const std::set<std::string>& absent);

}  // namespace prof::nsys
