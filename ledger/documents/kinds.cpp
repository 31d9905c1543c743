#include "ledger/documents/kinds.hpp"

#include <array>

#include "prover/stage.hpp"

namespace ledger::documents {
namespace {

constexpr std::string_view kStructuralClasses[] = {"latency",    "narrow_deep",  "wide",
                                                   "hash_heavy", "lookup_heavy", "irregular",
                                                   "vm",         "extreme",      "sustained"};

constexpr Rule kToolRules[] = {name("/name"), name("/version")};

constexpr Rule kArmRules[] = {
    name("/label"),           sha256("/identity_sha256"),
    sha256("/binary_sha256"), nullable(name("/source_commit")),
    boolean("/dirty"),
};

constexpr std::string_view kJudgeHosts[] = {"judge_host", "cpu_host"};
constexpr Rule kJudgeEnvironmentRules[] = {
    sha256("/environment_id"),
    choice("/kind", kJudgeHosts),
    nullable(name("/device_uuid")),
    nullable(name("/device_name")),
    nullable(uint("/sm")),
    nullable(name("/driver_version")),
    name("/cpu_model"),
    uint("/logical_cpus", 1),
    name("/kernel"),
};

constexpr Rule kArtifactRules[] = {sha256("/sha256"), name("/kind")};

}  // namespace

std::span<const std::string_view> stage_names() {
  static const auto names = [] {
    std::array<std::string_view, stwo::kStageCount> out;
    for (size_t s = 0; s < out.size(); ++s) out[s] = stwo::stage_name(static_cast<stwo::Stage>(s));
    return out;
  }();
  return names;
}

std::span<const std::string_view> structural_classes() { return kStructuralClasses; }
std::span<const Rule> tool_rules() { return kToolRules; }
std::span<const Rule> arm_rules() { return kArmRules; }
std::span<const Rule> judge_environment_rules() { return kJudgeEnvironmentRules; }
std::span<const Rule> artifact_rules() { return kArtifactRules; }

}  // namespace ledger::documents
