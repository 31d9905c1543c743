// The page as a whole: what it is about, gates, comparison, then the run.

#include "prof/report/sections.hpp"

#include <cstdio>

#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

Mark mark_of(GateState state) {
  switch (state) {
    case GateState::kPass: return Mark::kGood;
    case GateState::kFail: return Mark::kBad;
    case GateState::kUnknown: break;
  }
  return Mark::kUnknown;
}

std::string text_at(const RunFacts& run, const char* path) {
  const nlohmann::json& value = run.file.json.at(nlohmann::json::json_pointer(path));
  if (value.is_null()) return "- (" + null_reason(run.file.json, path) + ")";
  return stwo::one_line(value.is_string() ? value.get<std::string>() : value.dump());
}

Section identity_section(const ReportAnalysis& analysis) {
  Section out;
  out.title = "Run";
  Table table;
  table.caption = "What was measured";
  table.columns = {{"what", false}, {"this report", false}};
  const RunFacts* baseline = analysis.comparison ? &analysis.comparison->baseline : nullptr;
  if (baseline != nullptr) table.columns.insert(table.columns.begin() + 1, {"baseline", false});
  const auto add = [&](const char* name, const auto& value) {
    std::vector<Cell> row = {name};
    if (baseline != nullptr) row.push_back(value(*baseline));
    row.push_back(value(analysis.run));
    table.rows.push_back(std::move(row));
  };
  const auto at = [](const char* path) {
    return [path](const RunFacts& run) { return text_at(run, path); };
  };
  add("report", [](const RunFacts& run) { return stwo::one_line(run.file.name); });
  add("SHA-256", [](const RunFacts& run) { return run.file.sha256; });
  add("product", at("/product"));
  add("workload", at("/statement/workload_id"));
  add("config", at("/statement/config"));
  add("mode", at("/execution_mode"));
  add("device", [](const RunFacts& run) {
    return run.cuda
               ? text_at(run, "/device/name") + ", driver " + text_at(run, "/device/driver_version")
               : "- (" + null_reason(run.file.json, "/device") + ")";
  });
  add("source", at("/identity/source_commit"));
  add("made", at("/created_utc"));
  out.tables = {{table, 0}};
  return out;
}

Section gate_section(const ReportAnalysis& analysis) {
  Section out;
  out.title = "Gates";
  Table table;
  table.caption = "What must be right before a number counts";
  const std::vector<Gate>* other =
      analysis.comparison ? &analysis.comparison->baseline_gates : nullptr;
  table.columns = {{"gate", false}, {"state", false}, {"found", false}};
  if (other != nullptr) table.columns.insert(table.columns.begin() + 1, {"baseline", false});
  for (size_t i = 0; i < analysis.gates.size(); ++i) {
    const Gate& gate = analysis.gates[i];
    const auto state = [](const Gate& g) {
      return Cell(gate_state_name(g.state), mark_of(g.state));
    };
    std::vector<Cell> row = {gate.title};
    if (other != nullptr) row.push_back(state((*other)[i]));
    row.push_back(state(gate));
    row.push_back(gate.found);
    table.rows.push_back(std::move(row));
  }
  out.tables = {{table, 0}};
  if (analysis.has_failed_gate()) {
    out.notes.emplace_back(Mark::kBad,
                           "A gate fails: the numbers below describe a run that must not be "
                           "quoted.");
  }
  return out;
}

Section drift_section(const ReportComparison& comparison) {
  Section out;
  out.title = "Identity drift";
  if (comparison.drift.empty()) {
    out.notes.emplace_back(Mark::kGood, "None: the same program, statement, device and host.");
    return out;
  }
  Table table;
  table.caption = "Fields that differ between the reports";
  table.columns = {
      {"field", false}, {"meaning", false}, {"baseline", false}, {"this report", false}};
  bool comparable = true;
  for (const Drift& drift : comparison.drift) {
    const bool change = drift.meaning == DriftMeaning::kChange;
    comparable &= change;
    table.rows.push_back(
        {drift.path, Cell(drift_meaning_name(drift.meaning), change ? Mark::kPlain : Mark::kBad),
         drift.baseline, drift.now});
  }
  out.tables = {{table, 0}};
  if (!comparable) {
    out.notes.emplace_back(
        Mark::kBad,
        "Not comparable: at least one field that must be equal differs, so the deltas "
        "say nothing about a change of the program.");
  }
  return out;
}

Section delta_section(const ReportComparison& comparison) {
  Section out;
  out.title = "Deltas";
  out.notes.emplace_back(Mark::kUnknown, "One run each is no verdict: the judge alternates both.");
  Cells cells;
  std::vector<Table> tables;
  for (const Delta& delta : comparison.deltas) {
    if (tables.empty() || tables.back().caption != delta.group) {
      tables.emplace_back();
      tables.back().caption = delta.group;
      tables.back().columns = {
          {"number", false}, {"baseline", true}, {"this report", true}, {"change", true}};
    }
    const auto cell = [&](const Known<uint64_t>& value) {
      switch (delta.unit) {
        case Unit::kNs: return cells.ms(delta.group, value);
        case Unit::kBytes: return cells.bytes(delta.group, value);
        case Unit::kCount: break;
      }
      return cells.count(delta.group, value);
    };
    std::string change = "-";
    if (const auto ratio = delta.ratio()) {
      char text[32];
      std::snprintf(text, sizeof text, "%+.1f%%", (*ratio - 1) * 100);
      change = *ratio == 1 ? "=" : text;
    }
    tables.back().rows.push_back({delta.name + (delta.unit == Unit::kNs ? " ms" : ""),
                                  cell(delta.baseline), cell(delta.now), change});
  }
  for (Table& table : tables) out.tables.push_back({std::move(table), 0});
  for (auto& note : cells.notes()) out.notes.push_back(std::move(note));
  return out;
}

}  // namespace

std::string page_title(const ReportAnalysis& analysis) {
  std::string title = "Product report: " + text_at(analysis.run, "/statement/workload_id") + ", " +
                      text_at(analysis.run, "/backend") + " backend";
  if (analysis.comparison) title += ", against a baseline";
  return title;
}

std::vector<Section> page_sections(const ReportAnalysis& analysis) {
  std::vector<Section> out;
  if (analysis.comparison) {
    out.push_back(drift_section(*analysis.comparison));
    out.push_back(gate_section(analysis));
    out.push_back(identity_section(analysis));
    out.push_back(delta_section(*analysis.comparison));
  } else {
    out.push_back(gate_section(analysis));
    out.push_back(identity_section(analysis));
  }
  out.push_back(lifecycle_section(analysis.run));
  out.push_back(stage_section(analysis));
  out.push_back(host_section(analysis.run));
  out.push_back(request_section(analysis.run));
  out.push_back(memory_section(analysis.run));
  out.push_back(pass_section(analysis));
  Section next;
  next.title = "What to look at next";
  next.steps = analysis.next;
  out.push_back(std::move(next));
  return out;
}

}  // namespace prof
