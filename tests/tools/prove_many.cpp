// Proves many statements in one process, for comparison with the Rust oracle's command of the same
// name. Each input line is {"air","channel","mix_config","parameters":{...},"config":{...}} with
// the config as serde writes PcsConfig; each output line is {"canonical_sha256":...,"error":...}.
// With --bench STATEMENT-JSON it instead waits for "go" lines and proves once for each, printing
// nanoseconds, so that an outside driver can interleave two provers.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "prover/verify.hpp"

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

stwo::Statement statement_of(const json& spec) {
  stwo::Statement s;
  s.air = spec.at("air").get<std::string>();
  s.channel = stwo::parse_channel(spec.at("channel").get<std::string>());
  s.mix_config = spec.value("mix_config", false);
  for (const auto& [key, value] : spec.at("parameters").items()) {
    s.parameters.emplace_back(key, value.get<uint64_t>());
  }
  return s;
}

stwo::PcsConfig config_of(const json& c) {
  stwo::PcsConfig config;
  config.pow_bits = c.at("pow_bits").get<uint32_t>();
  const json& fri = c.at("fri_config");
  config.fri.log_blowup_factor = fri.at("log_blowup_factor").get<uint32_t>();
  config.fri.log_last_layer_degree_bound = fri.at("log_last_layer_degree_bound").get<uint32_t>();
  config.fri.n_queries = fri.at("n_queries").get<uint32_t>();
  config.fri.fold_step = fri.at("fold_step").get<uint32_t>();
  if (!c.at("lifting_log_size").is_null()) {
    config.lifting_log_size = c.at("lifting_log_size").get<uint32_t>();
  }
  return config;
}

ordered_json prove_one(stwo::Backend& backend, const json& spec) {
  try {
    const auto shape = stwo::make_shape(statement_of(spec), config_of(spec.at("config")));
    const auto prepared = backend.prepare(shape);
    const stwo::StarkProof proof = stwo::prove(*prepared);
    const stwo::VerifyResult result = stwo::verify(*shape, proof);
    if (!result.accepted()) {
      return {{"canonical_sha256", nullptr},
              {"error", "own verifier: " + std::string(stwo::reject_reason_name(result.reason)) +
                            " " + result.detail}};
    }
    return {{"canonical_sha256", stwo::sha256_hex(stwo::write_proof_json(proof))},
            {"error", nullptr}};
  } catch (const stwo::Error& e) {
    return {{"canonical_sha256", nullptr}, {"error", e.code() + ": " + e.what()}};
  }
}

int bench(stwo::Backend& backend, const json& spec) {
  using Clock = std::chrono::steady_clock;
  const auto shape = stwo::make_shape(statement_of(spec), config_of(spec.at("config")));
  const auto prepared = backend.prepare(shape);
  stwo::StarkProof proof;
  for (int i = 0; i < 2; ++i) proof = stwo::prove(*prepared);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto begin = Clock::now();
    proof = stwo::prove(*prepared);
    const auto ns = std::chrono::nanoseconds(Clock::now() - begin).count();
    std::cout << ns << std::endl;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << ordered_json{{"canonical_sha256", stwo::sha256_hex(stwo::write_proof_json(proof))},
                            {"verified", stwo::verify(*shape, proof).accepted()},
                            {"peak_rss_bytes", static_cast<uint64_t>(usage.ru_maxrss) * 1024},
                            {"backend", backend.description()}}
                   .dump()
            << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    uint32_t threads = 0;
    std::string bench_spec;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string flag = argv[i];
      if (flag == "--threads") {
        threads = static_cast<uint32_t>(std::atoi(argv[i + 1]));
      } else if (flag == "--bench") {
        bench_spec = argv[i + 1];
      } else {
        std::cerr << "usage: stwo_prove_many [--threads T] [--bench SPEC] < SPECS\n";
        return 2;
      }
    }
    const auto backend = stwo::make_cpu_backend(threads);
    if (!bench_spec.empty()) return bench(*backend, json::parse(bench_spec));
    for (std::string line; std::getline(std::cin, line);) {
      if (line.empty()) continue;
      std::cout << prove_one(*backend, json::parse(line)).dump() << std::endl;
    }
  } catch (const std::exception& e) {
    std::cerr << "stwo_prove_many: " << e.what() << "\n";
    return 2;
  }
  return 0;
}
