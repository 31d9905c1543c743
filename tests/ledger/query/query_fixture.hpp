// A ledger in a folder of its own, filled row by row, and what its answers say.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/query/questions.hpp"
#include "ledger/store/ledger.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger::test {

/// An id that depends on `name` only.
inline std::string digest(const std::string& name) { return stwo::sha256_hex(name); }

struct PassRow {
  std::string stage;
  std::string pass;
  std::string kernel;
  int64_t input = 0;
  int64_t output = 0;
  int64_t reread = 0;
  int64_t temporary = 0;
  int64_t launches = 1;
  int64_t barriers = 0;
};

/// What a run is; ids are digests of the names.
struct RunRow {
  std::string name;
  std::string workload = "wide_10";
  std::string config = "fast";
  std::string environment = "host";
  std::string product = "stwo-1";
  std::string plan;  ///< empty: a run on the CPU
  std::string created_utc = "2026-01-01T00:00:00Z";
  std::optional<int64_t> verified_ns = 1'000'000;
  int64_t n_requests = 5;
  std::string semantic = "semantic";
  std::string proof = "proof";
  std::vector<std::string> flags;
  /// Stages and their median on the clock that counts, ns; the host's clock has twice of it.
  std::vector<std::pair<std::string, int64_t>> stages = {{"trace_commit", 600'000},
                                                         {"oods", 300'000}};
};

struct KernelRow {
  std::string kernel;
  std::string stage;  ///< empty: none was open
  int64_t launches = 1;
};

struct CounterRow {
  std::string kernel;
  std::string stage;  ///< empty: unknown
  std::optional<double> read;
  std::optional<double> written;
  std::string unit = "byte";
};

struct VerdictRow {
  std::string name;
  std::string outcome = "keep";
  std::string supersedes;  ///< empty: nothing
  std::string environment = "host";
  std::string created_utc = "2026-01-02T00:00:00Z";
  std::vector<std::string> reasons;
  double ratio = 0.5;
};

class QueryLedger {
 public:
  QueryLedger();
  QueryLedger(const QueryLedger&) = delete;
  QueryLedger& operator=(const QueryLedger&) = delete;
  ~QueryLedger();

  std::string folder() const { return folder_; }
  std::string path() const { return folder_ + "/ledger.db"; }
  Ledger& ledger() { return *ledger_; }
  /// On a connection of its own.
  Reader& reader() { return *reader_; }

  void add_plan(const std::string& name, const std::vector<PassRow>& passes);
  void add_run(const RunRow& run);
  /// A timeline; `run` empty: linked to no run, but to the given workload and environment.
  void add_timeline(const std::string& name, const std::string& run,
                    const std::vector<KernelRow>& kernels, const std::string& evidence = "complete",
                    const std::string& workload = "wide_10",
                    const std::string& environment = "host");
  void add_counters(const std::string& name, const std::string& run,
                    const std::vector<CounterRow>& launches);
  void add_verdict(const VerdictRow& verdict);
  void add_calibration(const std::string& name, const std::string& structural_class);
  /// Rows of a table that needs nothing else.
  void add(const std::string& table, std::initializer_list<Column> columns);

 private:
  int64_t row_of(Append& append, const std::string& table, const std::string& column,
                 const std::string& id);
  int64_t artifact(Append& append, const std::string& name);
  int64_t environment(Append& append, const std::string& name);
  int64_t product(Append& append, const std::string& name);
  int64_t workload(Append& append, const std::string& name, const std::string& config);
  int64_t capture(Append& append, const std::string& name, const std::string& kind,
                  const std::string& run, const std::string& evidence, const std::string& workload,
                  const std::string& environment, int64_t launches);

  std::string folder_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Ledger> read_only_;
  std::unique_ptr<Reader> reader_;
};

/// Cell of a table; throws std::out_of_range.
const Value& cell(const ResultTable& table, size_t row, const std::string& column);
std::string text_cell(const ResultTable& table, size_t row, const std::string& column);
int64_t integer_cell(const ResultTable& table, size_t row, const std::string& column);
double real_cell(const ResultTable& table, size_t row, const std::string& column);
bool null_cell(const ResultTable& table, size_t row, const std::string& column);
/// Values of a text column, in order.
std::vector<std::string> texts(const ResultTable& table, const std::string& column);
/// First row in which the columns have these texts; throws std::out_of_range.
size_t find_row(const ResultTable& table, const std::map<std::string, std::string>& wanted);
bool has_note(const ResultTable& table, const std::string& part);

}  // namespace ledger::test
