#include "prover/air/statement.hpp"

#include "prover/errors.hpp"

namespace stwo {

uint64_t Statement::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  throw ContractError("statement of " + air + " lacks parameter " + std::string(name));
}

std::string_view channel_name(HashVariant variant) {
  return variant == HashVariant::kBlake2sM31 ? "blake2s_m31" : "blake2s";
}

HashVariant parse_channel(std::string_view name) {
  if (name == "blake2s") return HashVariant::kBlake2s;
  if (name == "blake2s_m31") return HashVariant::kBlake2sM31;
  throw UsageError("CHANNEL",
                   "channel '" + std::string(name) + "' is unknown; use blake2s or blake2s_m31");
}

}  // namespace stwo
