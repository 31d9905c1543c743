#include "prover/cli/console.hpp"

namespace stwo {
namespace {

/// Below this, proofs are for timing and tests only.
constexpr uint32_t kUsefulSecurityBits = 80;

}  // namespace

std::string describe_statement(const Statement& s) {
  std::string out = s.air + ",";
  for (const auto& [name, value] : s.parameters) out += " " + name + "=" + std::to_string(value);
  out += ", channel ";
  out += channel_name(s.channel);
  return out + (s.mix_config ? ", config in the transcript" : ", config not in the transcript");
}

std::string describe_config(const PcsConfig& config) {
  return std::string(config_name(config)) + " (" + config_to_string(config) + ")";
}

std::string describe_security(const PcsConfig& config) {
  std::string out = std::to_string(config.heuristic_security_bits()) + " bits heuristic, " +
                    std::to_string(config.proven_security_bits()) + " bits proven";
  if (config.heuristic_security_bits() < kUsefulSecurityBits) {
    out += ": timing protocol, not secure";
  }
  return out;
}

}  // namespace stwo
