#include "ledger/documents/document.hpp"

#include <algorithm>

#include "ledger/documents/json_text.hpp"
#include "ledger/documents/kinds.hpp"
#include "prover/errors.hpp"
#include "prover/report/report_check.hpp"

namespace ledger {
namespace {

using documents::KindRules;
using documents::ParsedText;
using documents::Problems;

constexpr DocumentCode kCodes[] = {
    {"DOCUMENT_TOO_LARGE", "split it"},
    {"DOCUMENT_JSON", "name a file that one of the tools wrote, or take another copy of it"},
    {"DOCUMENT_SCHEMA", "name a file of one of these kinds, or use a newer program"},
    {"DOCUMENT_DUPLICATE_KEY", "remove one of them"},
    {"DOCUMENT_KEY_UNKNOWN", "remove it, or use a newer program"},
    {"DOCUMENT_KEY_MISSING", "add it, null if there is no value"},
    {"DOCUMENT_TYPE", "write the value in the form that docs/formats.md gives"},
    {"DOCUMENT_VALUE", "write the value in the form that docs/formats.md gives"},
    {"PLAN_ARENA", "print the plan again"},
    {"PLAN_ORDINALS", "print the plan again"},
    {"PLAN_USES", "print the plan again"},
    {"PLAN_PASS_LEDGER", "print the plan again"},
    {"COUNTERS_ORDINALS", "number the launches from 0 in the order of the capture"},
    {"COUNTERS_METRIC_TWICE", "keep one of them"},
    {"COUNTERS_VALUE_REASON", "say why there is no value, or give the value alone"},
    {"COUNTERS_DIAGNOSIS_KERNEL", "remove the diagnosis, or add the kernel's launches"},
    {"COUNTERS_DIAGNOSIS_TWICE", "keep one diagnosis for each kernel"},
    {"COUNTERS_PREDICTION", "say what would prove the diagnosis wrong"},
    {"VERDICT_WORKLOAD_TWICE", "name it once in the spec"},
    {"VERDICT_SESSION_WORKLOAD", "add the workload to the spec or leave the session out"},
    {"VERDICT_SESSION_TWICE", "give each session its own round and slot"},
    {"VERDICT_SESSION_MEDIAN", "compute the value from the samples again"},
    {"VERDICT_TELEMETRY_TWICE", "keep one of them"},
    {"VERDICT_TELEMETRY_ORDER", "compute the summary again"},
    {"VERDICT_ARM_COVERAGE", "run both arms or remove it from the spec"},
    {"VERDICT_ROUND_ARMS", "run both arms in the round or void it"},
    {"VERDICT_ROUND_SET", "compute the rounds from the sessions again"},
    {"VERDICT_ROUND_D", "compute the rounds from the sessions again"},
    {"VERDICT_ESTIMATE_SUBJECT", "name what the estimate is about"},
    {"VERDICT_ESTIMATE_TWICE", "keep one of them"},
    {"VERDICT_ESTIMATE_INTERVAL", "compute the estimate again"},
    {"VERDICT_INVALID_ESTIMATE", "publish no ratio with invalid evidence"},
    {"VERDICT_SCREEN_OUTCOME", "judge two arms, or screen one"},
    {"VERDICT_SCREEN_ARM", "judge two arms, or screen one"},
    {"VERDICT_SCREEN_SESSION", "judge two arms, or screen one"},
    {"VERDICT_SCREEN_COMPARISON", "judge two arms, or screen one"},
    {"VERDICT_REASONS", "say why the outcome is not better"},
    {"VERDICT_OBJECTIVE", "compute the flags again"},
    {"VERDICT_HEADLINE_OUTCOME", "compute the flags again"},
    {"VERDICT_HEADLINE_PROFILE", "compute the flags again"},
    {"VERDICT_HEADLINE_MINIMUM", "compute the flags again"},
    {"VERDICT_HEADLINE_CLASSES", "compute the flags again"},
    {"CALIBRATION_INTERVAL", "compute the interval again"},
    {"CALIBRATION_DELTA", "compute the interval again"},
    {"CALIBRATION_THETA", "compute the interval again"},
    {"CALIBRATION_PASSED", "steady the host and calibrate again"},
};
constexpr std::string_view kOtherAdvice = "write the file again with the program that made it";

struct KnownKind {
  DocumentKind kind;
  std::string_view name;
  std::string_view schema;
  KindRules (*rules)();  ///< null: the product report's own checker
};
constexpr KnownKind kKinds[] = {
    {DocumentKind::kProductReport, "product_report", stwo::kProductReportSchema, nullptr},
    {DocumentKind::kPlan, "plan", "stwo_plan_v1", documents::plan_rules},
    {DocumentKind::kCounters, "counters", "stwo_prof_counters_v1", documents::counters_rules},
    {DocumentKind::kVerdict, "verdict", "stwo_judge_verdict_v1", documents::verdict_rules},
    {DocumentKind::kCalibration, "calibration", "stwo_judge_calibration_v1",
     documents::calibration_rules},
};

/// Null, with a problem added, if the document is of no known kind.
const KnownKind* find_kind(const Json& root, Problems& problems) {
  if (!root.is_object()) {
    problems.add("DOCUMENT_TYPE", "", "expected an object, found " + documents::shown(root));
    return nullptr;
  }
  const auto schema = root.find("schema");
  std::string known;
  for (const KnownKind& k : kKinds) {
    if (schema != root.end() && *schema == k.schema) return &k;
    known += (known.empty() ? "" : ", ") + std::string(k.schema);
  }
  problems.add("DOCUMENT_SCHEMA", "/schema",
               "expected one of " + known + ", found " +
                   (schema == root.end() ? "none" : documents::shown(*schema)));
  return nullptr;
}

/// Adds the problems of `text`. Returns the document; meaningless if there are any.
Document check(std::string_view text, Problems& problems) {
  std::optional<ParsedText> parsed = documents::parse_text(text, problems);
  if (!parsed) return {};
  // With a key given twice nobody knows which of its values is meant.
  if (!parsed->duplicates.empty()) {
    const bool is_report = parsed->json.is_object() && parsed->json.contains("schema") &&
                           parsed->json.at("schema") == stwo::kProductReportSchema;
    for (std::string& path : parsed->duplicates) {
      problems.add(is_report ? "REPORT_DUPLICATE_KEY" : "DOCUMENT_DUPLICATE_KEY", std::move(path),
                   "this key is given twice");
    }
    return {};
  }
  const KnownKind* known = find_kind(parsed->json, problems);
  if (known == nullptr) return {};
  if (known->rules == nullptr) {
    for (stwo::ReportViolation& v : stwo::check_report(text)) {
      problems.add(std::move(v.code), std::move(v.path), std::move(v.message));
    }
  } else {
    const KindRules rules = known->rules();
    rules.schema.check(parsed->json, problems);
    if (problems.empty()) rules.cross_check(parsed->json, problems);
  }
  return {known->kind, std::move(parsed->json)};
}

std::string_view advice(std::string_view code) {
  const auto* const found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                         [&](const DocumentCode& c) { return c.code == code; });
  return found == std::end(kCodes) ? kOtherAdvice : found->advice;
}

}  // namespace

std::string_view document_kind_name(DocumentKind kind) {
  for (const KnownKind& k : kKinds) {
    if (k.kind == kind) return k.name;
  }
  return "";
}

std::span<const DocumentCode> document_codes() { return kCodes; }

std::vector<Problem> check_document(std::string_view text) {
  Problems problems;
  check(text, problems);
  return problems.take();
}

Document read_document(const std::string& name, std::string_view text) {
  Problems problems;
  Document document = check(text, problems);
  const std::vector<Problem> found = problems.take();
  if (found.empty()) return document;
  const Problem& first = found.front();
  std::string message = "file " + name + ": ";
  if (!first.path.empty()) message += first.path + ": ";
  message += first.message + "; " + std::string(advice(first.code));
  if (const size_t more = found.size() - 1; more != 0) {
    message += " (and " + std::string(found.size() == kMaxProblems ? "at least " : "") +
               std::to_string(more) + (more == 1 ? " more problem)" : " more problems)");
  }
  throw stwo::FormatError(first.code, message);
}

}  // namespace ledger
