// stwo_judge_calibration_v1: one product in both arms, to learn how much a host differs from
// itself.

#include <algorithm>
#include <cmath>

#include "ledger/documents/kinds.hpp"

namespace ledger::documents {
namespace {

constexpr double kTolerance = 1e-12;
constexpr double kMinTheta = 0.01;
constexpr double kThetaPerDelta = 2;
constexpr double kMaxPassingDelta = 0.05;

DocumentSchema make_schema() {
  const Rule rules[] = {
      text("/schema"),    ulid("/judge_id"),      utc("/created_utc"),
      object("/tool"),    object("/environment"), choice("/structural_class", structural_classes()),
      object("/product"), uint("/rounds"),        real("/low"),
      real("/high"),      real("/delta"),         real("/theta"),
      boolean("/passed"), array("/artifacts"),    object("/artifacts/*"),
  };
  return DocumentSchema(rules)
      .add("/tool", tool_rules())
      .add("/environment", judge_environment_rules())
      .add("/product", arm_rules())
      .add("/artifacts/*", artifact_rules());
}

void check_equal(const Json& root, const std::string& key, const char* error, double expected,
                 const std::string& formula, Problems& problems) {
  const auto found = root.at(key).get<double>();
  // Also true for an expected value that has overflowed.
  if (!(std::abs(found - expected) <= kTolerance)) {
    problems.add(
        error, '/' + key,
        "expected " + formula + " = " + shown(expected) + ", found " + shown(root.at(key)));
  }
}

void cross_check(const Json& root, Problems& problems) {
  const auto low = root.at("low").get<double>();
  const auto high = root.at("high").get<double>();
  const auto delta = root.at("delta").get<double>();
  if (low > high) {
    problems.add("CALIBRATION_INTERVAL", "/low",
                 "expected at most high, " + shown(high) + ", found " + shown(low));
  }
  check_equal(root, "delta", "CALIBRATION_DELTA", std::max(std::abs(low), std::abs(high)),
              "max(|low|, |high|)", problems);
  check_equal(root, "theta", "CALIBRATION_THETA", std::max(kMinTheta, kThetaPerDelta * delta),
              "max(0.01, 2 delta)", problems);
  if (root.at("passed").get<bool>() && delta > kMaxPassingDelta) {
    problems.add("CALIBRATION_PASSED", "/passed",
                 "expected false for a delta above 0.05, found true for " + shown(delta));
  }
}

}  // namespace

KindRules calibration_rules() {
  static const DocumentSchema schema = make_schema();
  return {schema, cross_check};
}

}  // namespace ledger::documents
