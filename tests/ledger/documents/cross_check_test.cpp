// Each cross check: refused with its own code, at the value that is wrong.
#include <gtest/gtest.h>

#include "tests/ledger/documents/samples.hpp"

namespace ledger::test {
namespace {

using Pointer = Json::json_pointer;
using List = std::vector<std::string>;

List problems(const Json& document) {
  List out;
  for (const Problem& p : check_document(document.dump())) out.push_back(p.code + ' ' + p.path);
  return out;
}

/// Problems of `document` with one value replaced.
List with(Json document, const char* path, const Json& value) {
  document[Pointer(path)] = value;
  return problems(document);
}

TEST(PlanChecks, LivePeakFitsTheArena) {
  EXPECT_EQ(with(sample_plan(), "/memory/arena_live_peak", 8192), List{});
  EXPECT_EQ(with(sample_plan(), "/memory/arena_live_peak", 8193),
            List{"PLAN_ARENA /memory/arena_live_peak"});
}

TEST(PlanChecks, OrdinalsAreContiguous) {
  EXPECT_EQ(with(sample_plan(), "/launches/1/ordinal", 2),
            List{"PLAN_ORDINALS /launches/1/ordinal"});
}

TEST(PlanChecks, UsesNameResources) {
  EXPECT_EQ(with(sample_plan(), "/launches/1/uses/1/buffer", "rows"),
            List{"PLAN_USES /launches/1/uses/1/buffer"});
}

TEST(PlanChecks, PassLedgerCountsTheLaunches) {
  EXPECT_EQ(with(sample_plan(), "/pass_ledger/0/launches", 3),
            List{"PLAN_PASS_LEDGER /pass_ledger/0/launches"});
  // A launch of another pass: too few of one row, and a row that the ledger does not have.
  EXPECT_EQ(with(sample_plan(), "/launches/1/pass", "other"),
            (List{"PLAN_PASS_LEDGER /pass_ledger/0/launches", "PLAN_PASS_LEDGER /launches/1"}));
  // Several rows of one pass count together, without overflow.
  Json j = sample_plan();
  j["pass_ledger"].push_back(j["pass_ledger"][0]);
  j["pass_ledger"][0]["launches"] = 1;
  j["pass_ledger"][2]["launches"] = 1;
  EXPECT_EQ(problems(j), List{});
  for (const int row : {0, 2, 3}) {
    if (row == 3) j["pass_ledger"].push_back(j["pass_ledger"][0]);
    j["pass_ledger"][row]["launches"] = INT64_MAX;
  }
  j["pass_ledger"].push_back(j["pass_ledger"][0]);
  j["pass_ledger"][4]["launches"] = 5;
  EXPECT_EQ(problems(j), List{"PLAN_PASS_LEDGER /pass_ledger/0/launches"});
}

TEST(CountersChecks, OrdinalsAreContiguous) {
  EXPECT_EQ(with(sample_counters(), "/launches/0/ordinal", 1),
            List{"COUNTERS_ORDINALS /launches/0/ordinal"});
}

TEST(CountersChecks, MetricsAreUniqueInALaunch) {
  EXPECT_EQ(with(sample_counters(), "/launches/0/metrics/1/name", "dram__bytes_read.sum"),
            List{"COUNTERS_METRIC_TWICE /launches/0/metrics/1/name"});
}

TEST(CountersChecks, ReasonExactlyWhereTheValueIsNull) {
  EXPECT_EQ(with(sample_counters(), "/launches/0/metrics/0/value", nullptr),
            List{"COUNTERS_VALUE_REASON /launches/0/metrics/0/reason"});
  EXPECT_EQ(with(sample_counters(), "/launches/0/metrics/0/reason", "overflow"),
            List{"COUNTERS_VALUE_REASON /launches/0/metrics/0/reason"});
  EXPECT_EQ(with(sample_counters(), "/launches/0/metrics/2/reason", nullptr),
            List{"COUNTERS_VALUE_REASON /launches/0/metrics/2/reason"});
}

TEST(CountersChecks, DiagnosesAreOfCapturedKernelsOnceEach) {
  EXPECT_EQ(with(sample_counters(), "/diagnoses/0/kernel", "fri_fold"),
            List{"COUNTERS_DIAGNOSIS_KERNEL /diagnoses/0/kernel"});
  EXPECT_EQ(with(sample_counters(), "/diagnoses/1/kernel", "fft_extend"),
            List{"COUNTERS_DIAGNOSIS_TWICE /diagnoses/1/kernel"});
}

TEST(CountersChecks, PredictionExactlyWhenDetermined) {
  EXPECT_EQ(with(sample_counters(), "/diagnoses/0/prediction", nullptr),
            List{"COUNTERS_PREDICTION /diagnoses/0/prediction"});
  EXPECT_EQ(with(sample_counters(), "/diagnoses/1/prediction", "it gets faster"),
            List{"COUNTERS_PREDICTION /diagnoses/1/prediction"});
}

/// Index of a session of the sample.
size_t session(const Json& verdict, const std::string& workload, const std::string& phase,
               int round, int slot) {
  const Json& sessions = verdict.at("sessions");
  for (size_t i = 0; i < sessions.size(); ++i) {
    const Json& s = sessions[i];
    if (s["workload_id"] == workload && s["phase"] == phase && s["round"] == round &&
        s["slot"] == slot) {
      return i;
    }
  }
  ADD_FAILURE() << "no such session";
  return 0;
}

const std::string kLatency = "wide_fibonacci_log8x16";
const std::string kWide = "wide_fibonacci_log16x2048";

TEST(VerdictChecks, SpecNamesWorkloadsOnce) {
  Json j = sample_verdict();
  j["spec"]["workloads"].push_back(j["spec"]["workloads"][0]);
  EXPECT_EQ(problems(j), List{"VERDICT_WORKLOAD_TWICE /spec/workloads/2"});
}

TEST(VerdictChecks, SessionsAreOfTheSpec) {
  const Json j = sample_verdict();
  const std::string at = "/sessions/" + std::to_string(session(j, kLatency, "cold", 0, 0));
  EXPECT_EQ(with(j, (at + "/workload_id").c_str(), "fibonacci"),
            List{"VERDICT_SESSION_WORKLOAD " + at + "/workload_id"});
  EXPECT_EQ(with(j, (at + "/config").c_str(), "secure"),
            List{"VERDICT_SESSION_WORKLOAD " + at + "/workload_id"});
}

TEST(VerdictChecks, SessionsHaveTheirOwnPlaces) {
  const Json j = sample_verdict();
  const size_t second = session(j, kWide, "cold", 0, 1);
  const std::string at = "/sessions/" + std::to_string(second) + "/slot";
  EXPECT_EQ(with(j, at.c_str(), 0), List{"VERDICT_SESSION_TWICE " + at});
}

TEST(VerdictChecks, BothArmsForEveryWorkload) {
  const auto without = [](const std::string& workload, const std::string& arm) {
    Json j = sample_verdict();
    Json sessions = Json::array();
    for (const Json& s : j["sessions"]) {
      if (s["workload_id"] == workload && (arm.empty() || s["arm"] == arm)) continue;
      sessions.push_back(s);
    }
    j["sessions"] = sessions;
    Json rounds = Json::array();
    for (const Json& r : j["rounds"]) {
      if (r["workload_id"] != workload) rounds.push_back(r);
    }
    j["rounds"] = rounds;
    return j;
  };
  EXPECT_EQ(problems(without(kWide, "")), List{"VERDICT_ARM_COVERAGE /spec/workloads/1"});
  EXPECT_EQ(check_document(without(kWide, "").dump())[0].message,
            "workload " + kWide + " has no sessions");
  for (const std::string arm : {"A", "B"}) {
    const std::vector<Problem> found = check_document(without(kWide, arm).dump());
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].code, "VERDICT_ARM_COVERAGE");
    EXPECT_EQ(found[0].message,
              "workload " + kWide + " has sessions in arm " + (arm == "A" ? "B" : "A") + " only");
    EXPECT_EQ(found[1].code, "VERDICT_ROUND_ARMS");
    EXPECT_EQ(found[2].code, "VERDICT_ROUND_ARMS");
  }
}

TEST(VerdictChecks, AnEndedMeasurementMayLackAnArm) {
  Json j = sample_verdict();
  Json sessions = Json::array();
  for (const Json& s : j["sessions"]) {
    if (s["arm"] == "A") sessions.push_back(s);
  }
  j["sessions"] = sessions;
  j["rounds"] = Json::array();
  j["flags"] = {{"meets_minimum", false}, {"meets_objective", false}, {"headline_eligible", false}};
  j["reasons"] = Json::array({{{"code", "PROOF_DIFFERS"},
                               {"scope", nullptr},
                               {"observed", nullptr},
                               {"allowed", nullptr}}});
  j["outcome"] = "rejected";
  EXPECT_NE(problems(j), List{}) << "a ratio needs both arms";
  for (Json& e : j["estimates"]) e["ratio"] = e["low"] = e["high"] = nullptr;
  for (const char* outcome : {"rejected", "invalid"}) {
    j["outcome"] = outcome;
    EXPECT_EQ(problems(j), List{}) << outcome;
  }
  j["outcome"] = "inconclusive";
  EXPECT_NE(problems(j), List{});
}

TEST(VerdictChecks, ValueIsTheMedianOfTheSamples) {
  const Json j = sample_verdict();
  // In a voided round, so that no ratio depends on it.
  const size_t i = session(j, kLatency, "round", 2, 0);
  const std::string at = "/sessions/" + std::to_string(i);
  const auto check = [&](const Json& samples, uint64_t value) {
    Json changed = j;
    changed["sessions"][i]["samples_ns"] = samples;
    changed["sessions"][i]["value_ns"] = value;
    return problems(changed);
  };
  const List wrong = {"VERDICT_SESSION_MEDIAN " + at + "/value_ns"};
  EXPECT_EQ(check({7}, 7), List{});
  EXPECT_EQ(check({9, 7, 8}, 8), List{});
  EXPECT_EQ(check({9, 7, 8}, 7), wrong);
  // An even count: the mean of the middle two, rounded down.
  EXPECT_EQ(check({9, 4, 7, 1}, 5), List{});
  EXPECT_EQ(check({9, 4, 7, 1}, 4), wrong);
  EXPECT_EQ(check({9, 4, 7, 1}, 6), wrong);
  EXPECT_EQ(check({INT64_MAX, INT64_MAX}, INT64_MAX), List{});
  EXPECT_EQ(check(Json::array(), 7), List{"VERDICT_SESSION_MEDIAN " + at + "/samples_ns"});
  // A cold session is the whole process.
  const size_t cold = session(j, kLatency, "cold", 0, 0);
  EXPECT_EQ(with(j, ("/sessions/" + std::to_string(cold) + "/samples_ns").c_str(), Json::array()),
            List{});
}

TEST(VerdictChecks, Telemetry) {
  const Json j = sample_verdict();
  EXPECT_EQ(with(j, "/sessions/3/telemetry/0/mean", 1754),
            List{"VERDICT_TELEMETRY_ORDER /sessions/3/telemetry/0/mean"});
  EXPECT_EQ(with(j, "/sessions/3/telemetry/0/max", 1770),
            List{"VERDICT_TELEMETRY_ORDER /sessions/3/telemetry/0/mean"});
  Json twice = j;
  twice["sessions"][3]["telemetry"].push_back(twice["sessions"][3]["telemetry"][0]);
  EXPECT_EQ(problems(twice), List{"VERDICT_TELEMETRY_TWICE /sessions/3/telemetry/1/metric"});
}

TEST(VerdictChecks, OneEntryForEachRoundThatCounts) {
  const Json j = sample_verdict();
  Json missing = j;
  missing["rounds"].erase(1);
  EXPECT_EQ(problems(missing), List{"VERDICT_ROUND_SET /rounds"});
  Json twice = j;
  twice["rounds"].push_back(j["rounds"][0]);
  EXPECT_EQ(problems(twice), List{"VERDICT_ROUND_SET /rounds/4"});
  Json voided = j;
  voided["rounds"].push_back(
      {{"workload_id", kLatency}, {"config", "fast"}, {"round", 2}, {"d", -0.35}});
  EXPECT_EQ(problems(voided), List{"VERDICT_ROUND_SET /rounds/4"});
  Json unknown = j;
  unknown["rounds"].push_back(
      {{"workload_id", kLatency}, {"config", "fast"}, {"round", 7}, {"d", -0.35}});
  EXPECT_EQ(problems(unknown), List{"VERDICT_ROUND_SET /rounds/4"});
  // One voided session voids its round.
  Json one = j;
  one["sessions"][session(j, kLatency, "round", 0, 2)]["voided"] = true;
  EXPECT_EQ(problems(one), List{"VERDICT_ROUND_SET /rounds/0"});
  one["rounds"].erase(0);
  EXPECT_EQ(problems(one), List{});
}

TEST(VerdictChecks, RoundsAreTheLogRatioOfTheirSessions) {
  Json j = sample_verdict();
  const double d = j["rounds"][2]["d"];
  EXPECT_NEAR(d, std::log(0.7), 1e-6);
  EXPECT_EQ(with(j, "/rounds/2/d", d + 5e-10), List{});
  EXPECT_EQ(with(j, "/rounds/2/d", d + 2e-9), List{"VERDICT_ROUND_D /rounds/2/d"});
  EXPECT_EQ(with(j, "/rounds/2/d", -d), List{"VERDICT_ROUND_D /rounds/2/d"});
  // The ratio of the means is another number than the mean of the logarithms.
  const size_t i = session(j, kWide, "round", 0, 0);
  j["sessions"][i]["value_ns"] = 2'000'000;
  j["sessions"][i]["samples_ns"] = {2'000'000};
  EXPECT_EQ(problems(j), List{"VERDICT_ROUND_D /rounds/2/d"});
  j["rounds"][2]["d"] = d - std::log(2.0) / 2;
  EXPECT_EQ(problems(j), List{});
}

TEST(VerdictChecks, RoundsThatCountHaveBothArms) {
  Json j = sample_verdict();
  Json sessions = Json::array();
  for (const Json& s : j["sessions"]) {
    if (s["workload_id"] == kWide && s["round"] == 1 && s["arm"] == "B") continue;
    sessions.push_back(s);
  }
  j["sessions"] = sessions;
  const std::string first = std::to_string(session(j, kWide, "round", 1, 1));
  EXPECT_EQ(problems(j), List{"VERDICT_ROUND_ARMS /sessions/" + first});
}

TEST(VerdictChecks, Estimates) {
  const Json j = sample_verdict();
  const List wrong = {"VERDICT_ESTIMATE_INTERVAL /estimates/0/ratio"};
  EXPECT_EQ(with(j, "/estimates/0/low", 0.71), wrong);
  EXPECT_EQ(with(j, "/estimates/0/high", 0.69), wrong);
  EXPECT_EQ(with(j, "/estimates/0/low", 0), wrong);
  EXPECT_EQ(with(j, "/estimates/0/low", -0.1), wrong);
  EXPECT_EQ(with(j, "/estimates/0/low", nullptr), wrong);
  EXPECT_EQ(with(j, "/estimates/0/ratio", nullptr), wrong);
  Json none = j;
  for (const char* key : {"ratio", "low", "high"}) none["estimates"][0][key] = nullptr;
  EXPECT_EQ(problems(none), List{});
  EXPECT_EQ(with(j, "/estimates/1/subject", kLatency), List{"VERDICT_ESTIMATE_TWICE /estimates/1"});
  EXPECT_EQ(with(j, "/estimates/0/subject", "latency"),
            List{"VERDICT_ESTIMATE_SUBJECT /estimates/0/subject"});
  EXPECT_EQ(with(j, "/estimates/2/subject", "vm"),
            List{"VERDICT_ESTIMATE_SUBJECT /estimates/2/subject"});
  EXPECT_EQ(with(j, "/estimates/4/subject", "latency"),
            List{"VERDICT_ESTIMATE_SUBJECT /estimates/4/subject"});
  EXPECT_EQ(with(j, "/estimates/5/subject", "vm"),
            List{"VERDICT_ESTIMATE_SUBJECT /estimates/5/subject"});
  EXPECT_EQ(with(j, "/estimates/5/subject", kWide), List{});
}

TEST(VerdictChecks, InvalidEvidenceHasNoRatio) {
  Json j = sample_verdict();
  j["outcome"] = "invalid";
  for (size_t i = 1; i < j["estimates"].size(); ++i) {
    for (const char* key : {"ratio", "low", "high"}) j["estimates"][i][key] = nullptr;
  }
  EXPECT_EQ(problems(j), List{"VERDICT_INVALID_ESTIMATE /estimates/0/ratio"});
  for (const char* key : {"ratio", "low", "high"}) j["estimates"][0][key] = nullptr;
  EXPECT_EQ(problems(j), List{});
}

TEST(VerdictChecks, OutcomesOtherThanKeepHaveReasons) {
  for (const char* outcome : {"rejected", "inconclusive"}) {
    Json j = sample_verdict();
    j["outcome"] = outcome;
    EXPECT_EQ(problems(j), List{});
    j["reasons"] = Json::array();
    EXPECT_EQ(problems(j), List{"VERDICT_REASONS /reasons"});
  }
  EXPECT_EQ(with(sample_verdict(), "/reasons", Json::array()), List{});
  EXPECT_EQ(with(sample_screen(), "/reasons", Json::array()), List{});
}

TEST(VerdictChecks, ObjectiveIsBeyondTheMinimum) {
  Json j = sample_verdict();
  j["flags"]["meets_objective"] = true;
  EXPECT_EQ(problems(j), List{});
  j["flags"]["meets_minimum"] = false;
  EXPECT_EQ(problems(j), List{"VERDICT_OBJECTIVE /flags/meets_objective"});
}

/// A verdict over all nine classes.
Json headline() {
  Json j = sample_verdict();
  for (const Json& missing : j["classes_missing"]) {
    const std::string name = missing["structural_class"];
    j["spec"]["workloads"].push_back(
        {{"workload_id", name + "_log20"}, {"config", "fast"}, {"structural_class", name}});
    j["sessions"].push_back(sample_session(name + "_log20", "cold", 0, 0, "A", 1'000'000));
    j["sessions"].push_back(sample_session(name + "_log20", "cold", 0, 1, "B", 900'000));
  }
  j["classes_missing"] = Json::array();
  j["flags"]["headline_eligible"] = true;
  return j;
}

TEST(VerdictChecks, Headline) {
  const Json j = headline();
  const auto refused = [](const std::string& code) {
    return List{code + " /flags/headline_eligible"};
  };
  EXPECT_EQ(problems(j), List{});
  EXPECT_EQ(with(j, "/outcome", "inconclusive"), refused("VERDICT_HEADLINE_OUTCOME"));
  EXPECT_EQ(with(j, "/profile", "diagnostic"), refused("VERDICT_HEADLINE_PROFILE"));
  EXPECT_EQ(with(j, "/flags/meets_minimum", false), refused("VERDICT_HEADLINE_MINIMUM"));
  EXPECT_EQ(with(j, "/classes_missing",
                 Json::array({{{"structural_class", "vm"}, {"reason", "its rounds are voided"}}})),
            refused("VERDICT_HEADLINE_CLASSES"));
  // Not listed as missing, and not there.
  EXPECT_EQ(with(j, "/spec/workloads/8/structural_class", "wide"),
            refused("VERDICT_HEADLINE_CLASSES"));
}

TEST(VerdictChecks, ScreenComparesNothing) {
  EXPECT_EQ(with(sample_screen(), "/outcome", "keep"), List{"VERDICT_SCREEN_OUTCOME /outcome"});
  EXPECT_EQ(with(sample_verdict(), "/outcome", "screen"), List{"VERDICT_SCREEN_OUTCOME /outcome"});
  EXPECT_EQ(with(sample_screen(), "/arms/B", sample_arm("other")),
            List{"VERDICT_SCREEN_ARM /arms/B"});
  EXPECT_EQ(with(sample_verdict(), "/arms/B", nullptr), List{"VERDICT_SCREEN_ARM /arms/B"});
  EXPECT_EQ(with(sample_screen(), "/sessions/1/arm", "B"),
            List{"VERDICT_SCREEN_SESSION /sessions/1/arm"});
  EXPECT_EQ(with(sample_screen(), "/rounds", sample_verdict()["rounds"]),
            List{"VERDICT_SCREEN_COMPARISON /rounds"});
  EXPECT_EQ(with(sample_screen(), "/estimates", sample_verdict()["estimates"]),
            List{"VERDICT_SCREEN_COMPARISON /estimates"});
}

TEST(CalibrationChecks, Interval) {
  Json j = sample_calibration();
  j["low"] = 0.004;
  j["high"] = -0.00625;
  EXPECT_EQ(problems(j), List{"CALIBRATION_INTERVAL /low"});
}

TEST(CalibrationChecks, DeltaAndTheta) {
  EXPECT_EQ(with(sample_calibration(), "/delta", 0.00625 + 2e-13), List{});
  EXPECT_EQ(with(sample_calibration(), "/theta", 0.0125 + 2e-12), List{"CALIBRATION_THETA /theta"});
  EXPECT_EQ(with(sample_calibration(), "/low", -0.00625 - 2e-12), List{"CALIBRATION_DELTA /delta"});
  EXPECT_EQ(with(sample_calibration(), "/high", 0.02), List{"CALIBRATION_DELTA /delta"});
  EXPECT_EQ(with(sample_calibration(), "/delta", 0.006),
            (List{"CALIBRATION_DELTA /delta", "CALIBRATION_THETA /theta"}));
  // Below a delta of 0.005 theta stays at 0.01.
  Json j = sample_calibration();
  j["low"] = -0.001;
  j["delta"] = 0.004;
  EXPECT_EQ(problems(j), List{"CALIBRATION_THETA /theta"});
  j["theta"] = 0.01;
  EXPECT_EQ(problems(j), List{});
  // 2 delta does not fit a double.
  j["low"] = -1.7e308;
  j["delta"] = 1.7e308;
  j["theta"] = 1.7e308;
  j["passed"] = false;
  EXPECT_EQ(problems(j), List{"CALIBRATION_THETA /theta"});
}

TEST(CalibrationChecks, HostsThatDifferFromThemselvesDoNotPass) {
  Json j = sample_calibration();
  j["high"] = 0.05;
  j["delta"] = 0.05;
  j["theta"] = 0.1;
  EXPECT_EQ(problems(j), List{});
  j["high"] = 0.051;
  j["delta"] = 0.051;
  j["theta"] = 0.102;
  EXPECT_EQ(problems(j), List{"CALIBRATION_PASSED /passed"});
  j["passed"] = false;
  EXPECT_EQ(problems(j), List{});
  EXPECT_EQ(with(sample_calibration(), "/passed", false), List{});
}

}  // namespace
}  // namespace ledger::test
