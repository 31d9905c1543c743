#include "ledger/query/lookup.hpp"

#include <algorithm>
#include <cctype>

#include "ledger/query/run_facts.hpp"

namespace ledger {
namespace {

struct IdTable {
  IdKind kind;
  const char* what;
  const char* row;     ///< column that numbers the rows
  const char* column;  ///< the id
  const char* from;    ///< table, and the condition for the rows to look at
  const char* not_found;
  const char* ambiguous;
};

constexpr IdTable kTables[] = {
    {IdKind::kRun, "run", "row", "run_id", "run WHERE", "RUN_NOT_FOUND", "RUN_AMBIGUOUS"},
    {IdKind::kPlan, "plan", "row", "plan_id", "plan WHERE", "PLAN_NOT_FOUND", "PLAN_AMBIGUOUS"},
    {IdKind::kProduct, "product", "row", "product_id", "product WHERE", "PRODUCT_NOT_FOUND",
     "PRODUCT_AMBIGUOUS"},
    {IdKind::kEnvironment, "environment", "row", "environment_id", "environment WHERE",
     "ENVIRONMENT_NOT_FOUND", "ENVIRONMENT_AMBIGUOUS"},
    {IdKind::kCapture, "capture", "row", "capture_id", "capture WHERE", "CAPTURE_NOT_FOUND",
     "CAPTURE_AMBIGUOUS"},
    {IdKind::kVerdict, "verdict", "row", "verdict_id", "verdict WHERE", "VERDICT_NOT_FOUND",
     "VERDICT_AMBIGUOUS"},
    {IdKind::kCalibration, "calibration", "row", "calibration_id", "calibration WHERE",
     "CALIBRATION_NOT_FOUND", "CALIBRATION_AMBIGUOUS"},
    {IdKind::kArtifact, "artifact", "row", "sha256", "artifact WHERE", "ARTIFACT_NOT_FOUND",
     "ARTIFACT_AMBIGUOUS"},
    {IdKind::kEntry, "entry", "seq", "entry_sha256", "entry WHERE", "ENTRY_NOT_FOUND",
     "ENTRY_AMBIGUOUS"},
    {IdKind::kExperiment, "experiment", "row", "experiment_id",
     "experiment WHERE supersedes IS NULL AND", "EXPERIMENT_NOT_FOUND", "EXPERIMENT_AMBIGUOUS"},
    {IdKind::kBrief, "brief", "row", "brief_id", "brief WHERE supersedes IS NULL AND",
     "BRIEF_NOT_FOUND", "BRIEF_AMBIGUOUS"},
};

constexpr size_t kDigestLength = 64;
constexpr size_t kUlidLength = 26;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kUlidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kCandidates = 5;

const IdTable& table_of(IdKind kind) {
  for (const IdTable& t : kTables) {
    if (t.kind == kind) return t;
  }
  throw stwo::ContractError("no such kind of id");
}

/// `text` in the case that ids have; empty if it can't begin one.
std::string id_prefix(const std::string& text, bool ulid) {
  const std::string_view digits = ulid ? kUlidDigits : kHexDigits;
  if (text.size() < kShortestPrefix || text.size() > (ulid ? kUlidLength : kDigestLength))
    return "";
  std::string out;
  for (const char c : text) {
    const int byte = static_cast<unsigned char>(c);
    const auto folded = static_cast<char>(ulid ? std::toupper(byte) : std::tolower(byte));
    if (digits.find(folded) == std::string_view::npos) return "";
    out += folded;
  }
  return out;
}

std::string prefix_for(IdKind kind, const std::string& text) {
  return id_prefix(text, kind == IdKind::kExperiment || kind == IdKind::kBrief);
}

}  // namespace

std::vector<FoundId> find_ids(Reader& reader, IdKind kind, const std::string& prefix,
                              size_t limit) {
  std::vector<FoundId> out;
  const std::string low = prefix_for(kind, prefix);
  if (low.empty()) return out;
  // The first text that no id with this prefix reaches.
  std::string high = low;
  ++high.back();
  const IdTable& t = table_of(kind);
  const std::string column = t.column;
  reader.for_each("SELECT " + std::string(t.row) + ", " + column + " FROM " + t.from + " " +
                      column + " >= :low AND " + column + " < :high ORDER BY " + column +
                      " LIMIT :limit",
                  {{"low", low}, {"high", high}, {"limit", static_cast<int64_t>(limit)}},
                  [&](const Statement& s) {
                    out.push_back({s.integer(0), s.string(1)});
                  });
  return out;
}

void require_id_form(const std::string& text) {
  if (!id_prefix(text, false).empty() || !id_prefix(text, true).empty()) return;
  throw stwo::UsageError("ID_FORMAT", "'" + text + "' is no id; give at least " +
                                          std::to_string(kShortestPrefix) + " characters of one");
}

FoundId require_id(Reader& reader, IdKind kind, const std::string& text) {
  const IdTable& t = table_of(kind);
  const std::string what = t.what;
  if (kind == IdKind::kRun && text == "last") {
    FoundId last;
    reader.for_each("SELECT row, run_id FROM run ORDER BY created_utc DESC, row DESC LIMIT 1", {},
                    [&](const Statement& s) {
                      last = {s.integer(0), s.string(1)};
                    });
    if (last.row == 0) {
      throw stwo::UsageError("RUN_NOT_FOUND",
                             "this ledger has no run yet; add a product report with `ledger add`");
    }
    return last;
  }
  if (prefix_for(kind, text).empty()) {
    throw stwo::UsageError("ID_FORMAT", what + " '" + text + "' is no id; give at least " +
                                            std::to_string(kShortestPrefix) + " characters of one" +
                                            (kind == IdKind::kRun ? ", or `last`" : ""));
  }
  const std::vector<FoundId> found = find_ids(reader, kind, text, kCandidates + 1);
  if (found.empty()) {
    throw stwo::UsageError(t.not_found, "no " + what + " of this ledger begins with " + text +
                                            "; `ledger runs` lists runs, `ledger query --list` has "
                                            "queries for the rest");
  }
  if (found.size() == 1) return found.front();
  std::string candidates;
  for (size_t i = 0; i < std::min(found.size(), kCandidates); ++i) {
    candidates += (i == 0 ? "" : ", ") + found[i].id;
  }
  if (found.size() > kCandidates) candidates += ", ...";
  throw stwo::UsageError(t.ambiguous,
                         what + " " + text + " could be " + candidates + "; give more of its id");
}

std::vector<int64_t> require_workloads(Reader& reader, const std::string& workload_id,
                                       const std::string& config) {
  std::vector<int64_t> rows;
  Parameters parameters = {{"workload", workload_id}};
  std::string where = "workload_id = :workload";
  if (!config.empty()) {
    where += " AND config = :config";
    parameters.emplace_back("config", config);
  }
  reader.for_each("SELECT row FROM workload WHERE " + where + " ORDER BY row", parameters,
                  [&](const Statement& s) { rows.push_back(s.integer(0)); });
  if (!rows.empty()) return rows;
  const auto list = [&](std::string_view sql, const Parameters& values) {
    const ResultTable t = reader.table("", sql, values, kCandidates);
    std::string out;
    for (const auto& row : t.rows) out += (out.empty() ? "" : ", ") + text_of(row[0]);
    return t.truncated ? out + ", ..." : out;
  };
  const std::string configs =
      list("SELECT DISTINCT config FROM workload WHERE workload_id = :workload ORDER BY config",
           {{"workload", workload_id}});
  if (!configs.empty()) {
    throw stwo::UsageError(
        "WORKLOAD_NOT_FOUND",
        "workload " + workload_id + " has no configuration '" + config + "'; it has " + configs);
  }
  const std::string names =
      list("SELECT DISTINCT workload_id FROM workload ORDER BY workload_id", {});
  throw stwo::UsageError(
      "WORKLOAD_NOT_FOUND",
      "no workload is called '" + workload_id + "'; " +
          (names.empty() ? "this ledger has none, add a product report with `ledger add`"
                         : "this ledger has " + names));
}

}  // namespace ledger
