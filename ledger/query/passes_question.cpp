// passes: the pass ledger of a plan, or of two, beside what captures have measured.

#include <algorithm>
#include <array>

#include "ledger/query/pass_ledger.hpp"
#include "ledger/query/questions.hpp"

namespace ledger {
namespace {

bool is_null(const Value& v) { return std::holds_alternative<std::monostate>(v); }

/// Sum over stages; NULL if one of them is.
Measured total_of(const std::vector<Stage>& stages) {
  Measured total{int64_t{0}, int64_t{0}};
  const auto add = [](Value* sum, const Value& part) {
    if (is_null(*sum) || is_null(part)) {
      *sum = std::monostate{};
      return;
    }
    const auto* whole = std::get_if<int64_t>(&part);
    const auto* old = std::get_if<int64_t>(sum);
    if (whole != nullptr && old != nullptr) {
      *sum = *old + *whole;
    } else {
      const auto real = [](const Value& v) {
        const auto* integer = std::get_if<int64_t>(&v);
        return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(v);
      };
      *sum = real(*sum) + real(part);
    }
  };
  for (const Stage& s : stages) {
    add(&total.launches, s.measured.launches);
    add(&total.dram_bytes, s.measured.dram_bytes);
  }
  return stages.empty() ? Measured{} : total;
}

Predicted predicted_total(const std::vector<Stage>& stages) {
  Predicted total{};
  for (const Stage& s : stages) total = sum_of(total, s.predicted);
  return total;
}

/// Leaves columns out of the text form that have no value in any row.
void show_columns_with_values(ResultTable* table) {
  std::erase_if(table->in_text, [&](const std::string& name) {
    const auto it = std::find(table->columns.begin(), table->columns.end(), name);
    const size_t c = static_cast<size_t>(it - table->columns.begin());
    return std::all_of(table->rows.begin(), table->rows.end(),
                       [&](const auto& row) { return is_null(row[c]); });
  });
}

const std::string kTotal = "total";

constexpr std::array<const char*, kQuantities> kQuantityNames = {
    "input", "output", "reread", "temporary", "launches", "barriers"};

}  // namespace

ResultTable ask_passes(Reader& reader, const std::string& id) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  const PassLedger ledger = load_pass_ledger(reader, id);
  ResultTable table;
  table.question = "passes";
  table.about = {{"plan_id", ledger.plan_id}};
  if (ledger.run) {
    table.about.emplace_back("run_id", ledger.run->run_id);
    table.about.emplace_back("workload_id", ledger.run->workload_id);
    table.about.emplace_back("config", ledger.run->config);
    table.about.emplace_back("environment_id", ledger.run->environment_id);
  }
  table.columns = {"stage",
                   "pass",
                   "kernel",
                   "input_bytes",
                   "output_bytes",
                   "reread_bytes",
                   "temporary_bytes",
                   "traffic_bytes",
                   "launches",
                   "barriers",
                   "measured_launches",
                   "dram_bytes",
                   "dram_ratio"};
  table.in_text = table.columns;
  const auto add = [&](const std::string& stage, const std::string& pass, Value kernel,
                       const Predicted& p, const Measured& m) {
    table.rows.push_back({stage, pass, std::move(kernel), p[kInput], p[kOutput], p[kReread],
                          p[kTemporary], traffic(p), p[kLaunches], p[kBarriers], m.launches,
                          m.dram_bytes, ratio_of(traffic(p), m.dram_bytes)});
  };
  for (const Stage& s : ledger.stages) {
    for (const size_t i : s.passes) {
      const Pass& p = ledger.passes[i];
      add(p.stage, p.pass, p.kernel, p.predicted, p.measured);
    }
    add(s.name, kTotal, std::monostate{}, s.predicted, s.measured);
  }
  add(kTotal, kTotal, std::monostate{}, predicted_total(ledger.stages), total_of(ledger.stages));
  table.notes = ledger.notes;
  show_columns_with_values(&table);
  return table;
}

namespace {

/// Passes of a stage on both sides, matched: equal pass and kernel first, then equal pass in order.
std::vector<std::pair<const Pass*, const Pass*>> matched(const std::vector<const Pass*>& before,
                                                         const std::vector<const Pass*>& after) {
  std::vector<const Pass*> partner(before.size(), nullptr);
  std::vector<bool> taken(after.size(), false);
  for (const bool same_kernel : {true, false}) {
    for (size_t i = 0; i < before.size(); ++i) {
      for (size_t j = 0; partner[i] == nullptr && j < after.size(); ++j) {
        if (taken[j] || before[i]->pass != after[j]->pass) continue;
        if (same_kernel && before[i]->kernel != after[j]->kernel) continue;
        partner[i] = after[j];
        taken[j] = true;
      }
    }
  }
  std::vector<std::pair<const Pass*, const Pass*>> out;
  for (size_t i = 0; i < before.size(); ++i) out.emplace_back(before[i], partner[i]);
  for (size_t j = 0; j < after.size(); ++j) {
    if (!taken[j]) out.emplace_back(nullptr, after[j]);
  }
  return out;
}

std::vector<const Pass*> passes_of(const PassLedger& ledger, const Stage* stage) {
  std::vector<const Pass*> out;
  if (stage == nullptr) return out;
  for (const size_t i : stage->passes) out.push_back(&ledger.passes[i]);
  return out;
}

const Stage* find_stage(const PassLedger& ledger, const std::string& name) {
  const auto it = std::find_if(ledger.stages.begin(), ledger.stages.end(),
                               [&](const Stage& s) { return s.name == name; });
  return it == ledger.stages.end() ? nullptr : &*it;
}

class Against {
 public:
  Against(const PassLedger& a, const PassLedger& b) : a_(a), b_(b) {}

  ResultTable table() {
    table_.question = "passes";
    table_.about = {{"a_plan_id", a_.plan_id}, {"b_plan_id", b_.plan_id}};
    if (a_.run) table_.about.emplace_back("a_run_id", a_.run->run_id);
    if (b_.run) table_.about.emplace_back("b_run_id", b_.run->run_id);
    table_.columns = {"stage", "pass", "kernel_a", "kernel_b"};
    for (size_t q = 0; q < kQuantities; ++q) {
      const std::string name = kQuantityNames[q];
      const std::string unit = q < kLaunches ? "_bytes" : "";
      for (const std::string side : {"_a", "_b", "_delta"}) {
        table_.columns.push_back(name + side + unit);
      }
    }
    for (const char* name :
         {"traffic_a_bytes", "traffic_b_bytes", "traffic_delta_bytes", "traffic_ratio",
          "measured_launches_a", "measured_launches_b", "measured_launches_delta", "dram_a_bytes",
          "dram_b_bytes", "dram_delta_bytes", "dram_ratio"}) {
      table_.columns.emplace_back(name);
    }
    table_.in_text = {"stage", "pass"};
    std::vector<std::string> stages;
    for (const PassLedger* side : {&a_, &b_}) {
      for (const Stage& s : side->stages) {
        if (std::find(stages.begin(), stages.end(), s.name) == stages.end()) {
          stages.push_back(s.name);
        }
      }
    }
    for (const std::string& name : stages) {
      const Stage* in_a = find_stage(a_, name);
      const Stage* in_b = find_stage(b_, name);
      for (const auto& [before, after] : matched(passes_of(a_, in_a), passes_of(b_, in_b))) {
        const Pass& any = before != nullptr ? *before : *after;
        add(name, any.pass, before == nullptr ? Value{} : before->kernel,
            after == nullptr ? Value{} : after->kernel,
            before == nullptr ? Predicted{} : before->predicted,
            after == nullptr ? Predicted{} : after->predicted,
            before == nullptr ? Measured{} : before->measured,
            after == nullptr ? Measured{} : after->measured);
        other_kernels_ = other_kernels_ || before == nullptr || after == nullptr ||
                         before->kernel != after->kernel;
      }
      add(name, kTotal, {}, {}, in_a == nullptr ? Predicted{} : in_a->predicted,
          in_b == nullptr ? Predicted{} : in_b->predicted,
          in_a == nullptr ? Measured{} : in_a->measured,
          in_b == nullptr ? Measured{} : in_b->measured);
    }
    add(kTotal, kTotal, {}, {}, predicted_total(a_.stages), predicted_total(b_.stages),
        total_of(a_.stages), total_of(b_.stages));
    if (other_kernels_) {
      table_.in_text.insert(table_.in_text.end(), {"kernel_a", "kernel_b"});
    }
    table_.in_text.insert(
        table_.in_text.end(),
        {"traffic_a_bytes", "traffic_b_bytes", "traffic_delta_bytes", "traffic_ratio",
         "temporary_delta_bytes", "launches_a", "launches_b", "launches_delta", "barriers_delta",
         "measured_launches_a", "measured_launches_b", "dram_a_bytes", "dram_b_bytes",
         "dram_delta_bytes", "dram_ratio"});
    notes();
    show_columns_with_values(&table_);
    return std::move(table_);
  }

 private:
  void add(const std::string& stage, const std::string& pass, Value kernel_a, Value kernel_b,
           const Predicted& a, const Predicted& b, const Measured& measured_a,
           const Measured& measured_b) {
    std::vector<Value> row = {stage, pass, std::move(kernel_a), std::move(kernel_b)};
    for (size_t q = 0; q < kQuantities; ++q) {
      row.insert(row.end(), {a[q], b[q], b[q] - a[q]});
    }
    row.insert(row.end(),
               {traffic(a), traffic(b), traffic(b) - traffic(a), ratio_of(traffic(a), traffic(b)),
                measured_a.launches, measured_b.launches,
                delta_of(measured_a.launches, measured_b.launches), measured_a.dram_bytes,
                measured_b.dram_bytes, delta_of(measured_a.dram_bytes, measured_b.dram_bytes),
                ratio_of(measured_a.dram_bytes, measured_b.dram_bytes)});
    table_.rows.push_back(std::move(row));
  }

  void notes() {
    if (a_.plan == b_.plan) table_.notes.push_back("both have the same plan");
    if (a_.run && b_.run) {
      if (a_.run->environment != b_.run->environment) {
        table_.notes.push_back(
            "the environments differ: caches of other sizes move other numbers of bytes");
      }
      if (a_.run->workload != b_.run->workload) {
        table_.notes.push_back("the workloads differ: these plans do not do the same work");
      }
    }
    for (const auto& [side, name] : {std::pair(&a_, "a: "), std::pair(&b_, "b: ")}) {
      for (const std::string& n : side->notes) table_.notes.push_back(name + n);
    }
  }

  const PassLedger& a_;
  const PassLedger& b_;
  ResultTable table_;
  bool other_kernels_ = false;
};

}  // namespace

ResultTable ask_passes_against(Reader& reader, const std::string& before,
                               const std::string& after) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  const PassLedger a = load_pass_ledger(reader, before);
  const PassLedger b = load_pass_ledger(reader, after);
  return Against(a, b).table();
}

}  // namespace ledger
