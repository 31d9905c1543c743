// compare: two runs side by side.

#include <algorithm>
#include <map>

#include "ledger/query/lookup.hpp"
#include "ledger/query/questions.hpp"
#include "ledger/query/run_facts.hpp"

namespace ledger {
namespace {

using Named = std::vector<std::pair<std::string, Value>>;

/// Columns of the one row that a statement gives, by name; nothing if it gives none.
Named one_row(Reader& reader, std::string_view sql, int64_t run) {
  Named out;
  reader.for_each(sql, {{"run", run}}, [&](const Statement& s) {
    for (int c = 0; c < s.column_count(); ++c) out.emplace_back(s.column_name(c), s.value(c));
  });
  return out;
}

/// Rows of (name, value).
Named pairs(Reader& reader, std::string_view sql, int64_t run) {
  Named out;
  reader.for_each(sql, {{"run", run}},
                  [&](const Statement& s) { out.emplace_back(s.string(0), s.value(1)); });
  return out;
}

const Value* find(const Named& values, const std::string& name) {
  const auto it = std::find_if(values.begin(), values.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == values.end() ? nullptr : &it->second;
}

bool is_null(const Value& v) { return std::holds_alternative<std::monostate>(v); }

class Comparison {
 public:
  Comparison(Reader& reader, RunFacts a, RunFacts b)
      : reader_(reader), a_(std::move(a)), b_(std::move(b)) {
    same_environment_ = a_.environment == b_.environment;
    table_.question = "compare";
    table_.about = {{"a", a_.run_id}, {"b", b_.run_id}};
    table_.columns = {"section", "item", "unit", "a", "b", "same", "delta", "ratio"};
    table_.in_text = {"section", "item", "a", "b", "same", "delta", "ratio"};
  }

  ResultTable run() {
    identity();
    measured("lifecycle", "ns",
             "SELECT process_start_to_main_ns AS process_start_to_main, runtime_init_ns AS "
             "runtime_init, shape_prepare_ns AS shape_prepare, first_request_ns AS first_request, "
             "runtime_teardown_ns AS runtime_teardown, total_ns AS total FROM run WHERE row = :run",
             one_row);
    measured("steady request", "ns",
             "SELECT verified_request_ns AS verified_request, resident_prove_ns AS resident_prove, "
             "device_ns AS device FROM run WHERE row = :run",
             one_row);
    for (const std::string clock : {"device", "host"}) {
      measured(clock + " stage", "ns",
               "SELECT stage, ns FROM stage_time WHERE run = :run AND clock = '" + clock +
                   "' AND statistic = 'median' ORDER BY stage = 'total', ns DESC",
               pairs);
    }
    measured("last request", "count",
             "SELECT kernel_launches, graph_launches, sync_calls, module_loads, jit_compiles, "
             "allocations, frees, cpu_fallback_attempts, h2d_operations, d2h_operations, "
             "d2d_operations, terminal_d2h_operations, intermediate_d2h_operations "
             "FROM request WHERE run = :run ORDER BY ordinal DESC LIMIT 1",
             one_row);
    measured("last request", "bytes",
             "SELECT h2d_bytes AS h2d, d2h_bytes AS d2h, d2d_bytes AS d2d "
             "FROM request WHERE run = :run ORDER BY ordinal DESC LIMIT 1",
             one_row);
    measured("memory", "bytes",
             "SELECT part, bytes FROM memory_part WHERE run = :run ORDER BY part", pairs);
    measured("proof", "bytes", "SELECT proof_bytes AS size FROM run WHERE row = :run", one_row);
    notes();
    return std::move(table_);
  }

 private:
  void identity() {
    struct Item {
      const char* name;
      Value a;
      Value b;
    };
    std::vector<Item> items = {
        {"product", a_.product_id, b_.product_id},
        {"environment", a_.environment_id, b_.environment_id},
        {"workload", a_.workload_id, b_.workload_id},
        {"config", a_.config, b_.config},
        {"semantic digest", a_.semantic_sha256, b_.semantic_sha256},
        {"plan", a_.plan_id, b_.plan_id},
        {"backend", a_.backend, b_.backend},
        {"execution mode", a_.execution_mode, b_.execution_mode},
        {"proof digest", a_.proof_sha256, b_.proof_sha256},
        {"steady requests", a_.n_steady, b_.n_steady},
    };
    // What has drifted comes first.
    std::stable_partition(items.begin(), items.end(), [](const Item& i) { return i.a != i.b; });
    for (const Item& i : items) {
      table_.rows.push_back({std::string("identity"), std::string(i.name), std::monostate{}, i.a,
                             i.b, static_cast<int64_t>(i.a == i.b), std::monostate{},
                             std::monostate{}});
    }
  }

  void measured(const std::string& section, const std::string& unit, std::string_view sql,
                Named (*read)(Reader&, std::string_view, int64_t)) {
    const Named of_a = read(reader_, sql, a_.row);
    const Named of_b = read(reader_, sql, b_.row);
    std::vector<std::string> names;
    for (const Named* values : {&of_a, &of_b}) {
      for (const auto& [name, value] : *values) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    const bool comparable = unit != "ns" || same_environment_;
    for (const std::string& name : names) {
      const Value* in_a = find(of_a, name);
      const Value* in_b = find(of_b, name);
      const Value a = in_a == nullptr ? Value{} : *in_a;
      const Value b = in_b == nullptr ? Value{} : *in_b;
      if (is_null(a) && is_null(b)) continue;
      table_.rows.push_back({section, name, unit, a, b, std::monostate{},
                             comparable ? delta_of(a, b) : Value{},
                             comparable ? ratio_of(a, b) : Value{}});
    }
  }

  void notes() {
    if (!same_environment_) {
      table_.notes.push_back(
          "the environments differ: times are not comparable and have neither difference nor "
          "ratio");
    }
    if (a_.workload != b_.workload) {
      table_.notes.push_back("the workloads differ: these runs did not do the same work");
    }
    if (!is_null(a_.semantic_sha256) && a_.semantic_sha256 == b_.semantic_sha256 &&
        a_.proof_sha256 != b_.proof_sha256) {
      table_.notes.push_back(
          "equal semantic digests must give equal proofs, these differ: one of them is wrong");
    }
    if (a_.n_steady == 0 || b_.n_steady == 0) {
      table_.notes.push_back("a run without steady requests has no medians; prove with --repeat");
    }
  }

  Reader& reader_;
  RunFacts a_;
  RunFacts b_;
  bool same_environment_ = false;
  ResultTable table_;
};

}  // namespace

ResultTable ask_compare(Reader& reader, const std::string& a, const std::string& b) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  RunFacts of_a = run_facts(reader, require_id(reader, IdKind::kRun, a).row);
  RunFacts of_b = run_facts(reader, require_id(reader, IdKind::kRun, b).row);
  return Comparison(reader, std::move(of_a), std::move(of_b)).run();
}

}  // namespace ledger
