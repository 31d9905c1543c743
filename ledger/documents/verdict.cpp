// stwo_judge_verdict_v1: what the judge measured in uninstrumented sessions, and what it concluded.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "ledger/documents/kinds.hpp"

namespace ledger::documents {
namespace {

constexpr double kLogRatioTolerance = 1e-9;

constexpr std::string_view kKinds[] = {"verdict", "screen"};
constexpr std::string_view kProfiles[] = {"judge", "screen", "diagnostic"};
constexpr std::string_view kPhases[] = {"cold", "round"};
constexpr std::string_view kArms[] = {"A", "B"};
constexpr std::string_view kScopes[] = {"workload", "class", "portfolio", "cold"};
constexpr std::string_view kOutcomes[] = {"keep", "rejected", "inconclusive", "invalid", "screen"};
constexpr uint64_t kLastSlot = 3;

DocumentSchema make_schema() {
  const Rule rules[] = {
      text("/schema"),
      choice("/kind", kKinds),
      choice("/profile", kProfiles),
      ulid("/judge_id"),
      utc("/created_utc"),
      object("/tool"),
      nullable(name("/tool/source_commit")),
      nullable(sha256("/supersedes")),
      object("/spec"),
      sha256("/spec/sha256"),
      uint("/spec/rounds"),
      sha256("/spec/seed_sha256"),
      array("/spec/workloads", 1),
      object("/spec/workloads/*"),
      name("/spec/workloads/*/workload_id"),
      name("/spec/workloads/*/config"),
      choice("/spec/workloads/*/structural_class", structural_classes()),
      object("/environment"),
      object("/arms"),
      object("/arms/A"),
      nullable(object("/arms/B")),
      array("/sessions"),
      object("/sessions/*"),
      name("/sessions/*/workload_id"),
      name("/sessions/*/config"),
      choice("/sessions/*/phase", kPhases),
      uint("/sessions/*/round"),
      uint("/sessions/*/slot", 0, kLastSlot),
      choice("/sessions/*/arm", kArms),
      sha256("/sessions/*/report_sha256"),
      uint("/sessions/*/value_ns", 1),
      array("/sessions/*/samples_ns"),
      uint("/sessions/*/samples_ns/*", 1),
      boolean("/sessions/*/voided"),
      array("/sessions/*/telemetry"),
      object("/sessions/*/telemetry/*"),
      name("/sessions/*/telemetry/*/metric"),
      text("/sessions/*/telemetry/*/unit"),
      uint("/sessions/*/telemetry/*/samples"),
      real("/sessions/*/telemetry/*/min"),
      real("/sessions/*/telemetry/*/mean"),
      real("/sessions/*/telemetry/*/max"),
      array("/rounds"),
      object("/rounds/*"),
      name("/rounds/*/workload_id"),
      name("/rounds/*/config"),
      uint("/rounds/*/round"),
      real("/rounds/*/d"),
      array("/estimates"),
      object("/estimates/*"),
      choice("/estimates/*/scope", kScopes),
      text("/estimates/*/subject"),
      nullable(real("/estimates/*/ratio")),
      nullable(real("/estimates/*/low")),
      nullable(real("/estimates/*/high")),
      nullable(real("/theta")),
      choice("/outcome", kOutcomes),
      object("/flags"),
      boolean("/flags/meets_minimum"),
      boolean("/flags/meets_objective"),
      boolean("/flags/headline_eligible"),
      array("/classes_missing"),
      object("/classes_missing/*"),
      choice("/classes_missing/*/structural_class", structural_classes()),
      name("/classes_missing/*/reason"),
      array("/reasons"),
      object("/reasons/*"),
      code("/reasons/*/code"),
      nullable(object("/reasons/*/scope")),
      name("/reasons/*/scope/workload_id"),
      nullable(uint("/reasons/*/scope/round")),
      nullable(uint("/reasons/*/scope/slot", 0, kLastSlot)),
      nullable(text("/reasons/*/observed")),
      nullable(text("/reasons/*/allowed")),
      array("/artifacts"),
      object("/artifacts/*"),
  };
  return DocumentSchema(rules)
      .add("/tool", tool_rules())
      .add("/environment", judge_environment_rules())
      .add("/arms/A", arm_rules())
      .add("/arms/B", arm_rules())
      .add("/artifacts/*", artifact_rules());
}

/// Middle value; for an even count the mean of the middle two, rounded down.
uint64_t median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  const uint64_t low = values[(values.size() - 1) / 2];
  const uint64_t high = values[values.size() / 2];
  return low + (high - low) / 2;
}

/// Workload id and config.
using Workload = std::pair<std::string, std::string>;
Workload workload_of(const Json& value) {
  return {value.at("workload_id").get<std::string>(), value.at("config").get<std::string>()};
}
std::string shown_workload(const Workload& w) { return "workload " + shown_name(w.first); }

/// Natural logarithms of one arm's session values in one round.
struct LogValues {
  double sum = 0;
  uint64_t n = 0;
  void add(uint64_t value_ns) {
    sum += std::log(static_cast<double>(value_ns));
    ++n;
  }
  double mean() const { return sum / static_cast<double>(n); }
};

struct RoundValues {
  LogValues a;
  LogValues b;
  bool voided = false;     ///< one of its sessions is
  std::string path;        ///< its first session
  bool has_entry = false;  ///< in /rounds
};

class VerdictChecker {
 public:
  VerdictChecker(const Json& root, Problems& problems)
      : root_(root), problems_(problems), outcome_(root.at("outcome").get<std::string>()) {}

  void run() {
    check_spec();
    check_sessions();
    if (root_.at("kind") == "screen") {
      check_screen();
    } else {
      check_comparison();
    }
    check_estimates();
    check_outcome();
    check_flags();
  }

 private:
  void add(const char* error, const std::string& path, const std::string& message) {
    problems_.add(error, path, message);
  }

  void check_spec() {
    const Json& workloads = root_.at("spec").at("workloads");
    for (size_t i = 0; i < workloads.size(); ++i) {
      const Workload w = workload_of(workloads[i]);
      if (!workloads_.insert(w).second) {
        add("VERDICT_WORKLOAD_TWICE", at_index("/spec/workloads", i),
            shown_workload(w) + " is given twice with this config");
      }
      subjects_.insert(w.first);
      classes_.insert(workloads[i].at("structural_class").get<std::string>());
    }
  }

  void check_sessions() {
    std::set<std::tuple<Workload, std::string, uint64_t, uint64_t>> places;
    const Json& sessions = root_.at("sessions");
    for (size_t i = 0; i < sessions.size(); ++i) {
      const Json& s = sessions[i];
      const std::string path = at_index("/sessions", i);
      const Workload w = workload_of(s);
      if (workloads_.count(w) == 0) {
        add("VERDICT_SESSION_WORKLOAD", path + "/workload_id",
            "expected a workload and config of the spec, found " + shown(s.at("workload_id")) +
                " with " + shown(s.at("config")));
      }
      const auto round = s.at("round").get<uint64_t>();
      const auto slot = s.at("slot").get<uint64_t>();
      if (!places.emplace(w, s.at("phase").get<std::string>(), round, slot).second) {
        add("VERDICT_SESSION_TWICE", path + "/slot",
            shown_workload(w) + " has two sessions in round " + std::to_string(round) + ", slot " +
                std::to_string(slot) + " of the same phase");
      }
      (s.at("arm") == "A" ? in_a_ : in_b_).insert(w);
      if (s.at("phase") == "round") {
        check_median(s, path);
        add_to_round(s, path);
      }
      check_telemetry(s.at("telemetry"), path + "/telemetry");
    }
  }

  void check_median(const Json& session, const std::string& path) {
    const Json& samples = session.at("samples_ns");
    if (samples.empty()) {
      add("VERDICT_SESSION_MEDIAN", path + "/samples_ns",
          "expected the samples that value_ns is the median of, found none");
      return;
    }
    const uint64_t expected = median(samples.get<std::vector<uint64_t>>());
    if (const auto found = session.at("value_ns").get<uint64_t>(); found != expected) {
      add("VERDICT_SESSION_MEDIAN", path + "/value_ns",
          "expected the median of samples_ns, " + std::to_string(expected) + ", found " +
              std::to_string(found));
    }
  }

  void add_to_round(const Json& session, const std::string& path) {
    RoundValues& r = rounds_[{workload_of(session), session.at("round").get<uint64_t>()}];
    if (r.path.empty()) r.path = path;
    r.voided |= session.at("voided").get<bool>();
    (session.at("arm") == "A" ? r.a : r.b).add(session.at("value_ns").get<uint64_t>());
  }

  void check_telemetry(const Json& telemetry, const std::string& path) {
    std::set<std::string> metrics;
    for (size_t i = 0; i < telemetry.size(); ++i) {
      const Json& t = telemetry[i];
      const auto metric = t.at("metric").get<std::string>();
      if (!metrics.insert(metric).second) {
        add("VERDICT_TELEMETRY_TWICE", at_index(path, i) + "/metric",
            "metric " + shown_name(metric) + " is given twice for this session");
      }
      const auto mean = t.at("mean").get<double>();
      if (t.at("min").get<double>() > mean || mean > t.at("max").get<double>()) {
        add("VERDICT_TELEMETRY_ORDER", at_index(path, i) + "/mean",
            "expected a mean from min to max, found " + shown(t.at("min")) + ", " +
                shown(t.at("mean")) + ", " + shown(t.at("max")));
      }
    }
  }

  void check_screen() {
    if (!root_.at("arms").at("B").is_null()) {
      add("VERDICT_SCREEN_ARM", "/arms/B", "expected null in a screen, found an object");
    }
    const Json& sessions = root_.at("sessions");
    for (size_t i = 0; i < sessions.size(); ++i) {
      if (sessions[i].at("arm") == "B") {
        add("VERDICT_SCREEN_SESSION", at_index("/sessions", i) + "/arm",
            "expected \"A\" in a screen, found \"B\"");
      }
    }
    for (const char* comparison : {"rounds", "estimates"}) {
      if (const size_t n = root_.at(comparison).size(); n != 0) {
        add("VERDICT_SCREEN_COMPARISON", std::string("/") + comparison,
            "expected none in a screen, found " + std::to_string(n));
      }
    }
  }

  void check_comparison() {
    if (root_.at("arms").at("B").is_null()) {
      add("VERDICT_SCREEN_ARM", "/arms/B", "expected an object in a verdict, found null");
    }
    if (!may_be_partial()) check_coverage();
    check_rounds();
  }

  void check_coverage() {
    const Json& workloads = root_.at("spec").at("workloads");
    for (size_t i = 0; i < workloads.size(); ++i) {
      const Workload w = workload_of(workloads[i]);
      const bool a = in_a_.count(w) != 0;
      const bool b = in_b_.count(w) != 0;
      if (a && b) continue;
      add("VERDICT_ARM_COVERAGE", at_index("/spec/workloads", i),
          shown_workload(w) +
              (a || b ? std::string(" has sessions in arm ") + (a ? "A" : "B") + " only"
                      : " has no sessions"));
    }
  }

  /// A gate may have ended the measurement before every arm ran, and then no ratio is published.
  bool may_be_partial() const {
    const Json& estimates = root_.at("estimates");
    return outcome_ == "invalid" ||
           (outcome_ == "rejected" &&
            std::all_of(estimates.begin(), estimates.end(),
                        [](const Json& e) { return e.at("ratio").is_null(); }));
  }

  void check_rounds() {
    const Json& rounds = root_.at("rounds");
    for (size_t i = 0; i < rounds.size(); ++i) {
      const std::string path = at_index("/rounds", i);
      const Workload w = workload_of(rounds[i]);
      const auto round = rounds[i].at("round").get<uint64_t>();
      const auto found = rounds_.find({w, round});
      if (found == rounds_.end() || found->second.voided || found->second.has_entry) {
        add("VERDICT_ROUND_SET", path,
            "expected one entry for each round that is not voided, found one for round " +
                std::to_string(round) + " of " + shown_workload(w) + ", which " +
                (found == rounds_.end() ? "has no sessions"
                 : found->second.voided ? "is voided"
                                        : "has one already"));
        continue;
      }
      found->second.has_entry = true;
      if (found->second.a.n == 0 || found->second.b.n == 0) continue;  // reported below
      const double expected = found->second.b.mean() - found->second.a.mean();
      if (!(std::abs(rounds[i].at("d").get<double>() - expected) <= kLogRatioTolerance)) {
        add("VERDICT_ROUND_D", path + "/d",
            "expected mean ln B - mean ln A = " + shown(expected) + ", found " +
                shown(rounds[i].at("d")));
      }
    }
    for (const auto& [key, r] : rounds_) {
      if (r.voided) continue;
      const std::string which =
          "round " + std::to_string(key.second) + " of " + shown_workload(key.first);
      if (r.a.n == 0 || r.b.n == 0) {
        if (may_be_partial()) continue;
        add("VERDICT_ROUND_ARMS", r.path,
            which + " is not voided and has sessions in arm " + (r.a.n == 0 ? "B" : "A") + " only");
      } else if (!r.has_entry) {
        add("VERDICT_ROUND_SET", "/rounds", which + " is not voided and has no entry");
      }
    }
  }

  bool is_subject(const std::string& scope, const std::string& subject) const {
    const bool workload = subjects_.count(subject) != 0;
    const bool structural_class = classes_.count(subject) != 0;
    if (scope == "workload") return workload;
    if (scope == "class") return structural_class;
    if (scope == "portfolio") return subject.empty();
    return workload || structural_class || subject.empty();
  }

  void check_estimates() {
    std::set<std::pair<std::string, std::string>> seen;
    const Json& estimates = root_.at("estimates");
    for (size_t i = 0; i < estimates.size(); ++i) {
      const Json& e = estimates[i];
      const std::string path = at_index("/estimates", i);
      const auto scope = e.at("scope").get<std::string>();
      const auto subject = e.at("subject").get<std::string>();
      if (!is_subject(scope, subject)) {
        add("VERDICT_ESTIMATE_SUBJECT", path + "/subject",
            "expected a workload or class of the spec, or nothing, as scope " + scope +
                " asks for, found " + shown(subject));
      }
      if (!seen.emplace(scope, subject).second) {
        add("VERDICT_ESTIMATE_TWICE", path,
            "scope " + scope + " with subject " + shown(subject) + " is given twice");
      }
      const Json& ratio = e.at("ratio");
      const Json& low = e.at("low");
      const Json& high = e.at("high");
      const bool none = ratio.is_null() && low.is_null() && high.is_null();
      const bool all = !ratio.is_null() && !low.is_null() && !high.is_null();
      const auto number = [](const Json& value) { return value.get<double>(); };
      if (!none && !(all && number(low) > 0 && number(low) <= number(ratio) &&
                     number(ratio) <= number(high))) {
        add("VERDICT_ESTIMATE_INTERVAL", path + "/ratio",
            "expected three nulls, or 0 < low <= ratio <= high, found " + shown(low) + ", " +
                shown(ratio) + ", " + shown(high));
      }
      if (outcome_ == "invalid" && !none) {
        add("VERDICT_INVALID_ESTIMATE", path + "/ratio",
            "expected null, as the outcome is invalid, found " + shown(ratio));
      }
    }
  }

  void check_outcome() {
    if ((root_.at("kind") == "screen") != (outcome_ == "screen")) {
      add("VERDICT_SCREEN_OUTCOME", "/outcome",
          "expected screen exactly for a document of kind screen, found " + outcome_);
    }
    const bool needs_reason =
        outcome_ == "rejected" || outcome_ == "inconclusive" || outcome_ == "invalid";
    if (needs_reason && root_.at("reasons").empty()) {
      add("VERDICT_REASONS", "/reasons",
          "expected at least one reason for the outcome " + outcome_ + ", found none");
    }
  }

  void check_flags() {
    const Json& flags = root_.at("flags");
    const bool minimum = flags.at("meets_minimum").get<bool>();
    if (flags.at("meets_objective").get<bool>() && !minimum) {
      add("VERDICT_OBJECTIVE", "/flags/meets_objective",
          "expected false where meets_minimum is false, found true");
    }
    if (!flags.at("headline_eligible").get<bool>()) return;
    const std::string path = "/flags/headline_eligible";
    const auto refuse = [&](const char* error, const std::string& why) {
      add(error, path, "expected false, as " + why + ", found true");
    };
    if (outcome_ != "keep") refuse("VERDICT_HEADLINE_OUTCOME", "the outcome is " + outcome_);
    if (root_.at("profile") != "judge") {
      refuse("VERDICT_HEADLINE_PROFILE",
             "the profile is " + root_.at("profile").get<std::string>());
    }
    if (!minimum) refuse("VERDICT_HEADLINE_MINIMUM", "meets_minimum is false");
    if (!root_.at("classes_missing").empty()) {
      refuse("VERDICT_HEADLINE_CLASSES", "classes_missing is not empty");
    } else if (classes_.size() != structural_classes().size()) {
      refuse("VERDICT_HEADLINE_CLASSES", "the spec covers " + std::to_string(classes_.size()) +
                                             " of " + std::to_string(structural_classes().size()) +
                                             " structural classes");
    }
  }

  const Json& root_;
  Problems& problems_;
  const std::string outcome_;
  std::set<Workload> workloads_;    ///< of the spec
  std::set<std::string> subjects_;  ///< their ids
  std::set<std::string> classes_;   ///< their structural classes
  std::set<Workload> in_a_;         ///< with sessions in that arm
  std::set<Workload> in_b_;
  std::map<std::pair<Workload, uint64_t>, RoundValues> rounds_;  ///< sessions of phase round
};

void cross_check(const Json& root, Problems& problems) { VerdictChecker(root, problems).run(); }

}  // namespace

KindRules verdict_rules() {
  static const DocumentSchema schema = make_schema();
  return {schema, cross_check};
}

}  // namespace ledger::documents
