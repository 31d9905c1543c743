// The recorded form of AIR scripts: structure, digest, and parity with the out-of-domain run.

#include "prover/air/constraint_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "prover/air/info_evaluator.hpp"
#include "prover/air/point_evaluator.hpp"
#include "prover/air/wide_fibonacci/wide_fibonacci.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

/// Touches every operation: two trees, offsets, extension masks, constants, two preprocessed
/// columns of which one twice.
struct EverythingScript {
  uint32_t constant = 5;

  template <class E>
  void evaluate(E& eval) const {
    using F = typename E::F;
    using EF = typename E::EF;
    const F a = eval.next_trace_mask();
    const auto [prev, cur] = eval.next_interaction_mask(1, std::array<int, 2>{-1, 0});
    const F p = eval.preprocessed_column("p");
    const F q = eval.preprocessed_column("q");
    const F p_again = eval.preprocessed_column("p");
    eval.add_constraint(a * prev - (cur + p * q));
    eval.add_constraint(-(a + p_again) * eval.constant(M31(constant)));
    const EF s = eval.next_extension_mask(2, 0);
    eval.add_constraint(s * s - eval.secure_constant(QM31::from_u32(1, 2, 3, 4)) * s);
    eval.add_constraint(a - a);
  }
};

/// Random masks in the shape a script asks for.
struct RandomMask {
  ScriptInfo info;
  std::vector<std::vector<std::vector<QM31>>> values;
  ComponentMask mask;

  RandomMask(ScriptInfo script, test::Random& rng) : info(std::move(script)) {
    for (const auto& tree : info.mask_offsets) {
      auto& t = values.emplace_back();
      for (const auto& offsets : tree) t.push_back(rng.qm31_vector(offsets.size()));
    }
    if (values.size() < 2) values.resize(2);
    for (const auto& tree : values) mask.trees.emplace_back(tree);
    // Equal ids have equal values.
    std::map<std::string, QM31> by_id;
    for (const std::string& id : info.preprocessed_requests) {
      mask.preprocessed.push_back(by_id.try_emplace(id, rng.qm31()).first->second);
    }
  }
};

template <class Script>
void expect_parity(const Script& script, test::Random& rng) {
  const ConstraintProgram program = record_constraints(script);
  program.check();
  for (int n = 0; n < 5; ++n) {
    const RandomMask m(script_info(script), rng);
    const std::vector<QM31> values = program.evaluate(m.mask, m.info.preprocessed_requests);
    ASSERT_EQ(values.size(), m.info.n_constraints());
    const QM31 alpha = rng.qm31();
    QM31 expected = rng.qm31();
    QM31 folded = expected;
    PointEvaluator eval(m.mask, alpha, &expected);
    script.evaluate(eval);
    for (const QM31& v : values) folded = folded * alpha + v;
    EXPECT_EQ(folded, expected);
  }
}

TEST(ConstraintProgram, AgreesWithThePointEvaluator) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (const uint32_t n : {1u, 2u, 3u, 4u, 10u, 100u}) {
    expect_parity(air::WideFibonacciScript{n}, rng);
    if (n >= 2) expect_parity(air::WideFibonacciSeqScript{n}, rng);
  }
  expect_parity(EverythingScript{}, rng);
}

TEST(ConstraintProgram, DigestIsStable) {
  const auto digest = [](const auto& script) {
    return to_hex(record_constraints(script).digest());
  };
  // Recorded once; a change here changes what every compiled kernel is keyed by.
  EXPECT_EQ(digest(air::WideFibonacciScript{8}),
            "00d265ebdad2da34699ecfff215c362379908b8e650c39bbf799a72e48fa50cf");
  EXPECT_EQ(digest(air::WideFibonacciSeqScript{8}),
            "c4e0e190b9f645d7a6412cc35d02d1568561ac6b6423fd41582d9c60f1101f87");
  EXPECT_EQ(digest(air::WideFibonacciScript{8}), digest(air::WideFibonacciScript{8}));
}

TEST(ConstraintProgram, DigestIsSensitive) {
  std::set<Digest> seen;
  const auto fresh = [&](const ConstraintProgram& p) { return seen.insert(p.digest()).second; };
  const ConstraintProgram base = record_constraints(EverythingScript{});
  ASSERT_TRUE(fresh(base));
  EXPECT_FALSE(fresh(base));
  EXPECT_TRUE(fresh(record_constraints(EverythingScript{60})));
  EXPECT_TRUE(fresh(record_constraints(air::WideFibonacciScript{8})));
  EXPECT_TRUE(fresh(record_constraints(air::WideFibonacciScript{9})));
  EXPECT_TRUE(fresh(record_constraints(air::WideFibonacciSeqScript{8})));
  for (size_t i = 0; i < base.nodes.size(); ++i) {
    const std::function<void(ProgramNode&)> changes[] = {
        [](ProgramNode& n) { n.op = n.op == ProgramOp::kAdd ? ProgramOp::kMul : ProgramOp::kAdd; },
        [](ProgramNode& n) { n.a += 1; }, [](ProgramNode& n) { n.b += 1; },
        [](ProgramNode& n) { n.secure = !n.secure; }, [](ProgramNode& n) { n.immediate[0] += 1; }};
    for (const auto& change : changes) {
      ConstraintProgram p = base;
      change(p.nodes[i]);
      EXPECT_TRUE(fresh(p)) << "node " << i;
    }
  }
  ConstraintProgram p = base;
  std::swap(p.constraints[0], p.constraints[1]);
  EXPECT_TRUE(fresh(p));
  p = base;
  p.constraints.pop_back();
  EXPECT_TRUE(fresh(p));
  p = base;
  p.preprocessed_ids[0] += "x";
  EXPECT_TRUE(fresh(p));
  p = base;
  std::swap(p.preprocessed_ids[0], p.preprocessed_ids[1]);
  EXPECT_TRUE(fresh(p));
  p = base;
  p.n_columns.back() += 1;
  EXPECT_TRUE(fresh(p));
}

TEST(ConstraintProgram, EqualExpressionsAreRecordedOnce) {
  const ConstraintProgram p = record_constraints(air::WideFibonacciScript{10});
  EXPECT_EQ(p.constraints.size(), 8u);
  std::set<ProgramNode> distinct(p.nodes.begin(), p.nodes.end());
  EXPECT_EQ(distinct.size(), p.nodes.size());
  // 10 masks, 9 squares, 8 sums, 8 differences.
  EXPECT_EQ(p.nodes.size(), 35u);
}

TEST(ConstraintProgram, CheckFindsBrokenPrograms) {
  const ConstraintProgram good = record_constraints(EverythingScript{});
  EXPECT_NO_THROW(good.check());
  ConstraintProgram p = good;
  p.constraints[0] = static_cast<uint32_t>(p.nodes.size());
  EXPECT_THROW(p.check(), ContractError);
  p = good;
  for (ProgramNode& n : p.nodes) {
    if (n.op == ProgramOp::kAdd) n.a = static_cast<uint32_t>(p.nodes.size());
  }
  EXPECT_THROW(p.check(), ContractError);
}

TEST(ConstraintProgram, TextNamesEveryOperation) {
  const ConstraintProgram p = record_constraints(EverythingScript{});
  const std::string text = p.to_text();
  for (const ProgramNode& n : p.nodes) {
    EXPECT_NE(text.find(program_op_name(n.op)), std::string::npos);
  }
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), static_cast<long>(p.nodes.size()));
}

TEST(ScriptInfo, WideFibonacci) {
  const ScriptInfo info = script_info(air::WideFibonacciScript{5});
  ASSERT_EQ(info.mask_offsets.size(), 2u);
  EXPECT_TRUE(info.mask_offsets[0].empty());
  EXPECT_EQ(info.mask_offsets[1], std::vector<std::vector<int>>(5, {0}));
  EXPECT_EQ(info.n_constraints(), 3u);
  EXPECT_EQ(info.max_degree(), 2u);
  EXPECT_TRUE(info.preprocessed_requests.empty());
  EXPECT_EQ(script_info(air::WideFibonacciScript{1}).n_constraints(), 0u);

  const ScriptInfo seq = script_info(air::WideFibonacciSeqScript{4});
  EXPECT_EQ(seq.preprocessed_requests, std::vector<std::string>{"seq"});
  EXPECT_EQ(seq.n_constraints(), 2u);
}

TEST(ScriptInfo, Everything) {
  const ScriptInfo info = script_info(EverythingScript{});
  ASSERT_EQ(info.mask_offsets.size(), 3u);
  EXPECT_EQ(info.mask_offsets[1], (std::vector<std::vector<int>>{{0}, {-1, 0}}));
  EXPECT_EQ(info.mask_offsets[2].size(), 4u);
  EXPECT_EQ(info.preprocessed_requests, (std::vector<std::string>{"p", "q", "p"}));
  EXPECT_EQ(info.constraint_degrees, (std::vector<uint32_t>{2, 1, 2, 1}));
}

TEST(PointEvaluator, AWrongMaskShapeIsOurBug) {
  test::Random rng;
  RandomMask m(script_info(EverythingScript{}), rng);
  m.values[1][1].pop_back();
  QM31 acc;
  PointEvaluator eval(m.mask, QM31::one(), &acc);
  EXPECT_THROW(EverythingScript{}.evaluate(eval), ContractError);
}

}  // namespace
}  // namespace stwo
