// The judge's documents.

#include "ledger/ingest/rows.hpp"

namespace ledger {
namespace {

int64_t judge_environment(Filing& filing, const Json& environment) {
  Json description = environment;
  description.erase("environment_id");
  const auto kind = description.at("kind").get<std::string>();
  return require_environment(filing, kind, description,
                             environment.at("environment_id").get<std::string>());
}

Value row_or_null(int64_t row) {
  if (row == 0) return std::monostate{};
  return row;
}

void add_sessions(Filing& filing, const Json& sessions, int64_t verdict) {
  size_t unknown = 0;
  for (const Json& s : sessions) {
    const auto report = s.at("report_sha256").get<std::string>();
    const int64_t run = filing.find("run", "run_id", report);
    if (run == 0) ++unknown;
    const int64_t session = filing.insert("session", {{"verdict", verdict},
                                                      {"workload_id", scalar(s.at("workload_id"))},
                                                      {"config", scalar(s.at("config"))},
                                                      {"phase", scalar(s.at("phase"))},
                                                      {"round", scalar(s.at("round"))},
                                                      {"slot", scalar(s.at("slot"))},
                                                      {"arm", scalar(s.at("arm"))},
                                                      {"report_sha256", report},
                                                      {"run", row_or_null(run)},
                                                      {"value_ns", scalar(s.at("value_ns"))},
                                                      {"voided", scalar(s.at("voided"))}});
    int64_t ordinal = 0;
    for (const Json& ns : s.at("samples_ns")) {
      filing.insert(
          "sample",
          {{"session", session}, {"ordinal", ordinal++}, {"verified_request_ns", scalar(ns)}});
    }
    for (const Json& t : s.at("telemetry")) {
      filing.insert("telemetry", {{"session", session},
                                  {"metric", scalar(t.at("metric"))},
                                  {"unit", scalar(t.at("unit"))},
                                  {"samples", scalar(t.at("samples"))},
                                  {"min", real(t.at("min"))},
                                  {"mean", real(t.at("mean"))},
                                  {"max", real(t.at("max"))}});
    }
  }
  if (unknown != 0) {
    filing.notes.push_back(std::to_string(unknown) + " of " + std::to_string(sessions.size()) +
                           " sessions name reports that are not in this ledger; add them first to "
                           "link them");
  }
}

}  // namespace

void add_verdict(Filing& filing, const Json& document) {
  Value supersedes;
  if (const Json& old = document.at("supersedes"); !old.is_null()) {
    const int64_t row = filing.find("verdict", "verdict_id", old.get<std::string>());
    if (row == 0) {
      throw stwo::FormatError("SUPERSEDES_MISSING",
                              "/supersedes: this ledger has no verdict " + old.get<std::string>() +
                                  "; add the verdict that this one corrects first");
    }
    supersedes = row;
  }
  const Json& a = document.at("arms").at("A");
  const Json& b = document.at("arms").at("B");
  const auto of_b = [&](const char* key) { return b.is_null() ? Value{} : scalar(b.at(key)); };
  const Json& flags = document.at("flags");
  for (const Json& w : document.at("spec").at("workloads")) {
    require_workload(filing, w.at("workload_id").get<std::string>(),
                     w.at("config").get<std::string>(), Value{}, scalar(w.at("structural_class")),
                     Value{}, Value{});
  }
  const int64_t verdict = filing.insert(
      "verdict", {{"verdict_id", filing.sha256},
                  {"supersedes", supersedes},
                  {"artifact", filing.artifact},
                  {"judge_id", scalar(document.at("judge_id"))},
                  {"kind", scalar(document.at("kind"))},
                  {"profile", scalar(document.at("profile"))},
                  {"created_utc", scalar(document.at("created_utc"))},
                  {"spec_sha256", scalar(document.at("spec").at("sha256"))},
                  {"environment", judge_environment(filing, document.at("environment"))},
                  {"product_a", scalar(a.at("identity_sha256"))},
                  {"product_b", of_b("identity_sha256")},
                  {"label_a", scalar(a.at("label"))},
                  {"label_b", of_b("label")},
                  {"outcome", scalar(document.at("outcome"))},
                  {"theta", real(document.at("theta"))},
                  {"meets_minimum", scalar(flags.at("meets_minimum"))},
                  {"meets_objective", scalar(flags.at("meets_objective"))},
                  {"headline_eligible", scalar(flags.at("headline_eligible"))}});
  add_sessions(filing, document.at("sessions"), verdict);
  for (const Json& r : document.at("rounds")) {
    filing.insert("judge_round", {{"verdict", verdict},
                                  {"workload_id", scalar(r.at("workload_id"))},
                                  {"config", scalar(r.at("config"))},
                                  {"round", scalar(r.at("round"))},
                                  {"d", real(r.at("d"))}});
  }
  for (const Json& e : document.at("estimates")) {
    filing.insert("estimate", {{"verdict", verdict},
                               {"scope", scalar(e.at("scope"))},
                               {"subject", scalar(e.at("subject"))},
                               {"ratio", real(e.at("ratio"))},
                               {"low", real(e.at("low"))},
                               {"high", real(e.at("high"))}});
  }
  int64_t ordinal = 0;
  for (const Json& r : document.at("reasons")) {
    const Json& scope = r.at("scope");
    const auto of_scope = [&](const char* key) {
      return scope.is_null() ? Value{} : scalar(scope.at(key));
    };
    filing.insert("verdict_reason", {{"verdict", verdict},
                                     {"ordinal", ordinal++},
                                     {"code", scalar(r.at("code"))},
                                     {"workload_id", of_scope("workload_id")},
                                     {"round", of_scope("round")},
                                     {"slot", of_scope("slot")},
                                     {"observed", scalar(r.at("observed"))},
                                     {"allowed", scalar(r.at("allowed"))}});
  }
}

void add_calibration(Filing& filing, const Json& document) {
  filing.insert("calibration",
                {{"calibration_id", filing.sha256},
                 {"artifact", filing.artifact},
                 {"judge_id", scalar(document.at("judge_id"))},
                 {"environment", judge_environment(filing, document.at("environment"))},
                 {"structural_class", scalar(document.at("structural_class"))},
                 {"product", scalar(document.at("product").at("identity_sha256"))},
                 {"created_utc", scalar(document.at("created_utc"))},
                 {"rounds", scalar(document.at("rounds"))},
                 {"low", real(document.at("low"))},
                 {"high", real(document.at("high"))},
                 {"delta", real(document.at("delta"))},
                 {"theta", real(document.at("theta"))},
                 {"passed", scalar(document.at("passed"))}});
}

}  // namespace ledger
