#include "ledger/query/pass_ledger.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ledger/query/lookup.hpp"

namespace ledger {
namespace {

/// What the plan calls a kernel, from the demangled name a profiler gives: without return type,
/// namespaces, template and call arguments.
std::string plan_name(std::string_view kernel) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  if (const size_t at = kernel.find(kUnnamed); at != std::string_view::npos) {
    kernel.remove_prefix(at + kUnnamed.size());
  }
  int depth = 0;
  std::string out;
  for (const char c : kernel) {
    if (c == '<') ++depth;
    if (depth == 0) {
      if (c == '(') break;
      out += c;
    }
    if (c == '>' && depth > 0) --depth;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (const size_t at = out.find_last_of(": "); at != std::string::npos) out.erase(0, at + 1);
  return out;
}

/// Kernels of one name in one stage: captures can't tell its passes apart.
using KernelKey = std::pair<std::string, std::string>;

int64_t newest_run_of(Reader& reader, int64_t plan) {
  int64_t row = 0;
  reader.for_each(
      "SELECT row FROM run WHERE plan = :plan ORDER BY created_utc DESC, row DESC LIMIT 1",
      {{"plan", plan}}, [&](const Statement& s) { row = s.integer(0); });
  return row;
}

/// Finds the plan that `id` names, itself or through a run.
PassLedger find_plan(Reader& reader, const std::string& id) {
  PassLedger out;
  const auto plans = find_ids(reader, IdKind::kPlan, id, 2);
  const auto runs = find_ids(reader, IdKind::kRun, id, 2);
  if (!plans.empty() && !runs.empty()) {
    throw stwo::UsageError("ID_AMBIGUOUS", id + " could be run " + runs.front().id + " or plan " +
                                               plans.front().id + "; give more of its id");
  }
  if (!plans.empty()) {
    const FoundId plan = require_id(reader, IdKind::kPlan, id);
    out.plan = plan.row;
    out.plan_id = plan.id;
    if (const int64_t run = newest_run_of(reader, plan.row); run != 0) {
      out.run = run_facts(reader, run);
    }
    return out;
  }
  out.run = run_facts(reader, require_id(reader, IdKind::kRun, id).row);
  if (!out.run->plan) {
    throw stwo::UsageError("PLAN_NOT_FOUND",
                           "run " + out.run->run_id + " has no plan: it proved on the " +
                               out.run->backend + " backend; name a run with --backend cuda");
  }
  out.plan = *out.run->plan;
  out.plan_id = text_of(out.run->plan_id);
  return out;
}

void read_passes(Reader& reader, PassLedger* ledger) {
  reader.for_each(
      "SELECT stage, pass, kernel, input_bytes, output_bytes, reread_bytes, temporary_bytes, "
      "launches, barriers FROM pass WHERE plan = :plan ORDER BY ordinal",
      {{"plan", ledger->plan}}, [&](const Statement& s) {
        Pass p{s.string(0), s.string(1), s.string(2), {}, {}};
        for (size_t i = 0; i < kQuantities; ++i) {
          p.predicted[i] = s.integer(static_cast<int>(i) + 3);
        }
        ledger->passes.push_back(std::move(p));
      });
  for (size_t i = 0; i < ledger->passes.size(); ++i) {
    const Pass& p = ledger->passes[i];
    auto it = std::find_if(ledger->stages.begin(), ledger->stages.end(),
                           [&](const Stage& s) { return s.name == p.stage; });
    if (it == ledger->stages.end()) {
      it = ledger->stages.insert(ledger->stages.end(), Stage{p.stage, {}, {}, {}});
    }
    it->passes.push_back(i);
    it->predicted = sum_of(it->predicted, p.predicted);
  }
}

struct Capture {
  int64_t row = 0;
  std::string id;
  bool complete = false;
  std::optional<int64_t> requests;  ///< in the capture; absent: unknown
};

/// The best capture of this run; else of its workload and environment, if it is not known to be of
/// another plan or product.
std::optional<Capture> find_capture(Reader& reader, const RunFacts& run, int64_t plan,
                                    const std::string& kind) {
  std::optional<Capture> best;
  const auto take = [&](const Statement& s) {
    best = Capture{s.integer(0), s.string(1), s.text(2) == "complete", s.optional_integer(3)};
  };
  const std::string columns =
      "SELECT c.row, c.capture_id, c.evidence, o.n_requests FROM capture "
      "AS c LEFT JOIN run AS o ON o.row = c.run WHERE ";
  const std::string order =
      " AND c.kind = :kind ORDER BY c.evidence = 'complete' DESC, c.created_utc DESC, c.row DESC "
      "LIMIT 1";
  reader.for_each(columns + "c.run = :run" + order, {{"run", run.row}, {"kind", kind}}, take);
  if (best) return best;
  reader.for_each(columns +
                      "c.workload = :workload AND c.environment = :environment AND (o.plan = :plan "
                      "OR (c.run IS NULL AND (c.product IS NULL OR c.product = :product)))" +
                      order,
                  {{"workload", run.workload},
                   {"environment", run.environment},
                   {"plan", plan},
                   {"product", run.product},
                   {"kind", kind}},
                  take);
  return best;
}

class Measurement {
 public:
  Measurement(Reader& reader, PassLedger* ledger) : reader_(reader), ledger_(*ledger) {
    for (const Pass& p : ledger_.passes) {
      const KernelKey key{p.stage, plan_name(p.kernel)};
      predicted_launches_[key] += p.predicted[kLaunches];
      ++passes_[key];
      stages_of_[key.second].insert(p.stage);
    }
  }

  void run() {
    if (!ledger_.run) {
      ledger_.notes.push_back("no run of this plan is here, so that no capture can be found");
      return;
    }
    launches();
    dram_bytes();
    for (const auto& [key, count] : passes_) {
      const bool measured = launches_.contains(key) || bytes_.contains(key);
      if (count > 1 && measured) {
        ledger_.notes.push_back(std::to_string(count) + " passes of stage " + key.first +
                                " run kernel " + key.second +
                                ", which captures can't tell apart: only the stage's total has "
                                "measured values");
      }
    }
  }

 private:
  void note_incomplete(const Capture& capture, const std::string& kind) {
    if (capture.complete) return;
    ledger_.notes.push_back(kind + " capture " + capture.id.substr(0, 12) +
                            " is not complete: measured values are lower bounds");
  }

  void launches() {
    const auto capture = find_capture(reader_, *ledger_.run, ledger_.plan, "timeline");
    if (!capture) return;
    if (!capture->requests) {
      ledger_.notes.push_back("timeline " + capture->id.substr(0, 12) +
                              " is not linked to a run, so that the number of its requests is "
                              "unknown: measured launches are left out");
      return;
    }
    note_incomplete(*capture, "timeline");
    std::map<std::string, int64_t> by_stage;
    reader_.for_each(
        "SELECT kernel, stage, launches FROM kernel_stat WHERE capture = :capture AND stage IS NOT "
        "NULL",
        {{"capture", capture->row}}, [&](const Statement& s) {
          launches_[{s.string(1), plan_name(s.text(0))}] += s.integer(2);
          by_stage[s.string(1)] += s.integer(2);
        });
    const auto per_request = [&](int64_t n) -> Value {
      const int64_t requests = *capture->requests;
      if (n % requests == 0) return n / requests;
      return static_cast<double>(n) / static_cast<double>(requests);
    };
    for (Pass& p : ledger_.passes) {
      const KernelKey key{p.stage, plan_name(p.kernel)};
      if (passes_.at(key) > 1) continue;
      const auto it = launches_.find(key);
      p.measured.launches = per_request(it == launches_.end() ? 0 : it->second);
    }
    for (Stage& s : ledger_.stages) s.measured.launches = per_request(by_stage[s.name]);
    for (const auto& [key, count] : launches_) {
      if (passes_.contains(key)) continue;
      ledger_.notes.push_back("kernel " + key.second + " ran in stage " + key.first +
                              " and is in none of its passes");
    }
  }

  void dram_bytes() {
    const auto capture = find_capture(reader_, *ledger_.run, ledger_.plan, "counters");
    if (!capture) return;
    note_incomplete(*capture, "counter");
    struct Launch {
      double bytes = 0;
      int metrics = 0;
    };
    std::map<KernelKey, std::map<int64_t, Launch>> launches;
    reader_.for_each(
        "SELECT kernel, stage, launch, value, unit FROM counter WHERE capture = :capture AND "
        "metric IN ('dram__bytes_read.sum', 'dram__bytes_write.sum')",
        {{"capture", capture->row}}, [&](const Statement& s) {
          const std::string kernel = plan_name(s.text(0));
          std::string stage = s.string(1);
          if (s.is_null(1)) {
            // A kernel of one stage says itself where it ran.
            const auto it = stages_of_.find(kernel);
            if (it == stages_of_.end() || it->second.size() != 1) return;
            stage = *it->second.begin();
          }
          Launch& launch = launches[{stage, kernel}][s.integer(2)];
          const bool in_bytes = s.text(4) == "byte" || s.text(4) == "bytes" || s.text(4) == "B";
          if (s.is_null(3) || !in_bytes) return;
          launch.bytes += s.real(3);
          ++launch.metrics;
        });
    for (const auto& [key, of_kernel] : launches) {
      const auto it = predicted_launches_.find(key);
      if (it == predicted_launches_.end() || it->second == 0) continue;
      const auto captured = static_cast<int64_t>(of_kernel.size());
      double sum = 0;
      bool all = true;
      for (const auto& [ordinal, launch] : of_kernel) {
        sum += launch.bytes;
        all = all && launch.metrics == 2;
      }
      if (!all) continue;
      // Launches of one kernel differ in size: only whole requests can be scaled to one.
      if (captured % it->second != 0) {
        ledger_.notes.push_back("counters of " + std::to_string(captured) + " launches of kernel " +
                                key.second + " in stage " + key.first +
                                " were captured, a request makes " + std::to_string(it->second) +
                                ": its DRAM bytes are left out");
        continue;
      }
      bytes_[key] = static_cast<int64_t>(sum * static_cast<double>(it->second) /
                                         static_cast<double>(captured));
    }
    for (Pass& p : ledger_.passes) {
      const KernelKey key{p.stage, plan_name(p.kernel)};
      if (passes_.at(key) > 1) continue;
      if (const auto it = bytes_.find(key); it != bytes_.end()) p.measured.dram_bytes = it->second;
    }
    for (Stage& s : ledger_.stages) {
      // A part of a stage says nothing about its total.
      std::set<KernelKey> kernels;
      for (const size_t i : s.passes) {
        kernels.insert({s.name, plan_name(ledger_.passes[i].kernel)});
      }
      int64_t sum = 0;
      bool all = true;
      for (const KernelKey& key : kernels) {
        const auto it = bytes_.find(key);
        all = all && it != bytes_.end();
        if (all) sum += it->second;
      }
      if (all) s.measured.dram_bytes = sum;
    }
  }

  Reader& reader_;
  PassLedger& ledger_;
  std::map<KernelKey, int64_t> predicted_launches_;
  std::map<KernelKey, int> passes_;
  std::map<std::string, std::set<std::string>> stages_of_;
  std::map<KernelKey, int64_t> launches_;
  std::map<KernelKey, int64_t> bytes_;
};

}  // namespace

PassLedger load_pass_ledger(Reader& reader, const std::string& id) {
  PassLedger ledger = find_plan(reader, id);
  read_passes(reader, &ledger);
  Measurement(reader, &ledger).run();
  return ledger;
}

}  // namespace ledger
