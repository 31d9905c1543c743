// Shapes that the tests of the plan compiler go through.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/plan/cuda_plan.hpp"
#include "prover/shape.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {

using test::fibonacci;
using test::pair;
using test::sequence;

struct PlanCase {
  std::string name;
  Statement statement;
  PcsConfig config;
  PlanOptions options = {};
};

inline void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }

/// An H200 as far as a plan is concerned; memory is not limited.
inline PlanTarget test_target() {
  PlanTarget t;
  t.device_uuid = "GPU-00000000-0000-0000-0000-000000000001";
  t.driver_version = 13000;
  t.toolkit = "13.0.88";
  t.host_toolchain = "test";
  t.module_digest = std::string(64, '0');
  return t;
}

inline std::shared_ptr<const ProofProgram> program_of(const Statement& s, const PcsConfig& c) {
  return std::make_shared<const ProofProgram>(make_proof_program(make_shape(s, c)));
}

inline CudaPlan compile_case(const PlanCase& c) {
  return compile_plan(program_of(c.statement, c.config), test_target(), c.options);
}

/// The shapes that performance is measured at.
inline std::vector<PlanCase> target_cases() {
  std::vector<PlanCase> out;
  for (const auto& [log, columns] : {std::pair{14, 32}, {18, 128}, {20, 100}, {22, 100}, {22, 3}}) {
    out.push_back({"fib_" + std::to_string(log) + "x" + std::to_string(columns),
                   fibonacci(static_cast<uint64_t>(log), static_cast<uint64_t>(columns)),
                   fast_config()});
  }
  return out;
}

inline std::vector<PlanCase> plan_cases() {
  constexpr HashVariant kReduced = HashVariant::kBlake2sM31;
  constexpr PlanOptions kFullDomain{.full_domain_composition = true};
  const PcsConfig fast = fast_config();
  std::vector<PlanCase> out = target_cases();
  const auto add = [&](std::string name, Statement s, const PcsConfig& c, PlanOptions o = {}) {
    out.push_back({std::move(name), std::move(s), c, o});
  };
  add("smallest", fibonacci(1, 3), fast);
  add("smallest_full", fibonacci(1, 3), fast, kFullDomain);
  add("one_cell_column", fibonacci(1, 1), fast);
  add("no_constraints", fibonacci(5, 2), fast);
  add("small", fibonacci(4, 3), fast);
  add("reduced_channel", fibonacci(6, 17, kReduced, true), fast);
  add("mixed_config", fibonacci(15, 17, HashVariant::kBlake2s, true), fast);
  add("very_wide", fibonacci(4, 65536), fast);
  add("very_wide_and_long", fibonacci(12, 65536), fast);
  add("secure", fibonacci(16, 33), secure_config());
  add("most_queries", fibonacci(14, 3), parse_config("queries=4096"));
  // Both sides of every change in how a transform is split.
  for (const uint64_t log : {12u, 13u, 16u, 17u, 21u, 23u, 24u, 25u, 28u, 29u}) {
    add("rows_" + std::to_string(log), fibonacci(log, 1), fast);
  }
  add("full_small", fibonacci(5, 4), fast, kFullDomain);
  add("full_medium", fibonacci(16, 10), fast, kFullDomain);
  add("full_large", fibonacci(22, 5, kReduced), fast, kFullDomain);
  add("full_deep", fibonacci(26, 2), fast, kFullDomain);
  for (uint32_t fold = 1; fold <= 6; ++fold) {
    add("fold_" + std::to_string(fold), fibonacci(13, 3),
        parse_config("queries=9,fold=" + std::to_string(fold)));
    add("fold_last_" + std::to_string(fold), fibonacci(18, 3, kReduced),
        parse_config("queries=70,last=3,fold=" + std::to_string(fold)));
  }
  add("fold_16", fibonacci(18, 2), parse_config("fold=16"));
  add("last_10", fibonacci(13, 2), parse_config("last=10,fold=3"));
  for (uint32_t blowup = 1; blowup <= 3; ++blowup) {
    const PcsConfig c = parse_config("queries=20,blowup=" + std::to_string(blowup));
    const std::string name = "blowup_" + std::to_string(blowup);
    add(name + "_small", fibonacci(5, 4), c);
    add(name + "_large", fibonacci(19, 12), c);
    add(name + "_full", fibonacci(14, 3), c, kFullDomain);
    add(name + "_sequence", sequence(8, 4, 5), c);
  }
  add("pair_same", pair(5, 4, 5, 6), fast);
  add("pair_smaller", pair(17, 4, 5, 6), fast);
  add("pair_larger", pair(4, 4, 18, 60), fast);
  add("pair_full", pair(14, 4, 12, 6), fast, kFullDomain);
  add("pair_disabled", pair(16, 4, 18, 6, 0), fast);
  add("lift_none", fibonacci(15, 4), parse_config("lift=none"));
  add("sequence", sequence(16, 5), fast);
  add("sequence_lifted", sequence(5, 5, 3), parse_config("queries=9,lift=14"));
  add("sequence_unused_small", sequence(14, 5, 4), fast);
  add("sequence_unused_large", sequence(5, 5, 18), parse_config("queries=30"));
  return out;
}

}  // namespace stwo::gpu
