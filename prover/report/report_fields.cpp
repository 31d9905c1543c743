#include "prover/report/report_fields.hpp"

#include <algorithm>

#include "prover/hash/sha256.hpp"

namespace stwo {

uint64_t median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

std::string identity_digest(const Json& identity) {
  nlohmann::json sorted = nlohmann::json::object();
  for (const auto& [key, value] : identity.items()) {
    if (key != "identity_sha256") sorted[key] = value;
  }
  return sha256_hex(sorted.dump());
}

std::optional<std::string> ineligibility(const Json& report) {
  if (report.at("backend") != "cuda")
    return "a CPU run says nothing about the CUDA backend's speed";
  for (const Json& module : report.at("modules")) {
    if (module.at("kind") != "cubin") {
      return "module " + module.at("name").get<std::string>() + " was compiled at run time";
    }
  }
  if (!report.at("aot").at("strict").get<bool>()) {
    return "other code than authenticated cubins was allowed";
  }
  if (report.at("identity").at("dirty").is_null()) return "the source revision is unknown";
  if (report.at("identity").at("dirty").get<bool>()) return "the source has uncommitted changes";
  if (!report.at("proof").at("verified").get<bool>()) return "the proof was not verified";
  return std::nullopt;
}

}  // namespace stwo
