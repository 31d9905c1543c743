// Proof programs: sound for every kind of statement, in the order in which the CPU prover works,
// with groups and chunks as the quotient code makes them; and every fault is found under its own
// code.

#include "prover/program/proof_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "prover/errors.hpp"
#include "prover/pcs/quotients.hpp"
#include "prover/program/program_layout.hpp"
#include "tests/support/proofs.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

// ---- statements ----

/// Two trees, the previous row, a preprocessed column, and a constraint of the given degree.
struct MaskScript {
  uint32_t degree = 3;

  template <class E>
  void evaluate(E& eval) const {
    using F = typename E::F;
    const F a = eval.next_trace_mask();
    const auto b = eval.template next_interaction_mask<2>(1, {-1, 0});
    const F p = eval.preprocessed_column("p");
    const auto s = eval.template next_interaction_mask<2>(2, {-1, 0});
    const F product = a * b[0] + p;
    if (degree == 2) {
      eval.add_constraint(product - s[0]);
    } else {
      eval.add_constraint(product * s[1] - s[0]);
    }
    eval.add_constraint(b[1] - a);
  }
};

/// A component that is only described, never run.
template <class Script>
class DescribedComponent final : public Component {
 public:
  DescribedComponent(std::string name, uint32_t log_size, Script script, bool enabled = true)
      : Component(std::move(name), log_size, enabled, script_info(script)), script_(script) {}
  void evaluate_at_point(const ComponentMask&, QM31, QM31*) const override {}
  ConstraintProgram record() const override { return record_constraints(script_); }
  const RowKernels& kernels() const override {
    static const RowKernels none;
    return none;
  }
  const void* script() const override { return &script_; }

 private:
  Script script_;
};

class DescribedInstance final : public AirInstance {
 public:
  void add(std::string name, uint32_t log_size, MaskScript script) {
    components_.push_back(
        std::make_unique<DescribedComponent<MaskScript>>(std::move(name), log_size, script));
  }
  void add(PreprocessedColumn column) { preprocessed_.push_back(std::move(column)); }
  std::vector<TranscriptStep> transcript(const Statement&) const override {
    using Kind = TranscriptStep::Kind;
    return {{Kind::kMixU64, 17},    {Kind::kCommitTree, 0}, {Kind::kMixConfig, 0},
            {Kind::kCommitTree, 1}, {Kind::kMixU64, 17},    {Kind::kMixU64, 1ull << 40},
            {Kind::kCommitTree, 2}};
  }
};

/// A shape as make_shape would make it, of an instance that no registry knows. All components read
/// the one preprocessed column, hence have its size.
ProofShape described_shape(uint32_t log, uint32_t degree, const PcsConfig& config,
                           uint32_t n_components = 2) {
  auto instance = std::make_shared<DescribedInstance>();
  instance->add({"p", log, nullptr});
  for (uint32_t i = 0; i < n_components; ++i) {
    instance->add("part" + std::to_string(i), log, MaskScript{degree});
  }
  ProofShape s;
  s.statement.air = "described";
  s.config = config;
  s.trees.resize(3);
  s.trees[0] = {{log}, {{0}}, 0};
  for (const auto& c : instance->components()) {
    ComponentSpan span;
    span.first_constraint = s.n_constraints;
    s.n_constraints += static_cast<uint32_t>(c->info().n_constraints());
    span.first_column = {0, 0, 0};
    for (uint32_t t = 1; t < 3; ++t) {
      span.first_column[t] = static_cast<uint32_t>(s.trees[t].column_log_sizes.size());
      for (const auto& offsets : c->info().mask_offsets[t]) {
        s.trees[t].column_log_sizes.push_back(log);
        s.trees[t].mask_offsets.push_back(offsets);
      }
    }
    span.preprocessed = {0};
    s.spans.push_back(span);
  }
  s.trees.push_back({std::vector<uint32_t>(8, log), std::vector<std::vector<int>>(8, {0}), 0});
  const uint32_t blowup = config.fri.log_blowup_factor;
  s.composition_log_size = log + 1;
  s.lifting_log_size = config.lifting_log_size.value_or(log + blowup);
  s.max_degree_log_size = s.lifting_log_size - blowup;
  for (TreeShape& t : s.trees) t.height = s.lifting_log_size;
  uint32_t bound = s.max_degree_log_size;
  do {
    const uint32_t last = config.fri.log_last_layer_degree_bound;
    const uint32_t step = std::min(config.fri.fold_step, bound - last);
    s.fri_layers.push_back({bound + blowup, step});
    bound -= step;
  } while (bound > config.fri.log_last_layer_degree_bound);
  s.instance = std::move(instance);
  return s;
}

std::shared_ptr<const ProofShape> shared(ProofShape shape) {
  return std::make_shared<const ProofShape>(std::move(shape));
}

std::shared_ptr<const ProofShape> shape_of(const test::ProofCase& c) {
  return make_shape(c.statement, c.config);
}

ProofProgram program_of(const test::ProofCase& c) { return make_proof_program(shape_of(c)); }

test::ProofCase pair_case(std::string name, uint64_t first, uint64_t second, bool enabled,
                          std::string_view config) {
  return test::proof_case(std::move(name), "wide_fibonacci_pair", HashVariant::kBlake2s, false,
                          {{"log_n_rows", first},
                           {"sequence_len", 4},
                           {"second_log_n_rows", second},
                           {"second_sequence_len", 5},
                           {"second_enabled", enabled ? 1 : 0}},
                          config);
}

test::ProofCase wide_case(std::string name, uint64_t log, uint64_t columns,
                          std::string_view config) {
  return test::proof_case(std::move(name), "wide_fibonacci", HashVariant::kBlake2s, false,
                          {{"log_n_rows", log}, {"sequence_len", columns}}, config);
}

std::vector<test::ProofCase> spread() {
  std::vector<test::ProofCase> cases = test::small_cases();
  cases.push_back(wide_case("no_constraint", 4, 1, "fast"));
  cases.push_back(wide_case("fold_3", 9, 17, "fold=3"));
  cases.push_back(wide_case("fold_4_blowup_4", 9, 33, "blowup=4,fold=4,last=1"));
  cases.push_back(wide_case("production", 20, 100, "secure"));
  cases.push_back(wide_case("largest", 29, 3, "blowup=1"));
  cases.push_back(pair_case("second_larger", 4, 9, true, "blowup=2"));
  cases.push_back(pair_case("equal", 6, 6, true, "blowup=1,fold=2"));
  cases.push_back(pair_case("disabled", 6, 6, false, "blowup=1"));
  return cases;
}

std::vector<std::shared_ptr<const ProofShape>> spread_of_shapes() {
  std::vector<std::shared_ptr<const ProofShape>> shapes;
  for (const test::ProofCase& c : spread()) shapes.push_back(shape_of(c));
  for (const char* config : {"fast", "blowup=2,fold=3", "blowup=1,lift=11,fold=4,queries=20"}) {
    for (const uint32_t degree : {2u, 3u}) {
      for (const uint32_t n : {1u, 3u}) {
        shapes.push_back(shared(described_shape(6, degree, parse_config(config), n)));
      }
    }
  }
  return shapes;
}

std::string label(const ProofShape& s) {
  std::string text = s.statement.air;
  for (const auto& [key, value] : s.statement.parameters) {
    text += " " + key + "=" + std::to_string(value);
  }
  return text + " " + config_to_string(s.config);
}

std::string faults_of(const ProofProgram& p) {
  std::string text;
  for (const ProgramFault& f : validate(p)) text += f.code + ": " + f.message + "\n";
  return text;
}

// ---- soundness ----

TEST(ProofProgram, IsSoundForEveryKindOfStatement) {
  for (const auto& shape : spread_of_shapes()) {
    const ProofProgram p = make_proof_program(shape);
    EXPECT_EQ(faults_of(p), "") << label(*shape);
    EXPECT_EQ(p.protocol, "stwo 2.3.0");
    EXPECT_EQ(p.nodes.front().kind, NodeKind::kBegin);
    EXPECT_EQ(p.nodes.back().kind, NodeKind::kAssemble);
  }
}

TEST(ProofProgram, IsTheSameEveryTime) {
  for (const auto& shape : spread_of_shapes()) {
    EXPECT_EQ(make_proof_program(shape).digest(), make_proof_program(shape).digest());
  }
}

TEST(ProofProgram, HalfDomainFollowsFromTheDegreeOfEnabledComponents) {
  EXPECT_TRUE(program_of(wide_case("", 5, 4, "fast")).half_domain_composition);
  EXPECT_TRUE(
      make_proof_program(shared(described_shape(6, 2, fast_config()))).half_domain_composition);
  const ProofProgram full = make_proof_program(shared(described_shape(6, 3, fast_config())));
  EXPECT_FALSE(full.half_domain_composition);
  EXPECT_EQ(full.buffers[full.buffer(BufferRole::kComponentQuotient, 1)].bytes, 16u << 7);
  const ProofProgram half = program_of(wide_case("", 6, 4, "fast"));
  EXPECT_EQ(half.buffers[half.buffer(BufferRole::kComponentQuotient)].bytes, 16u * 65);
}

std::vector<NodeKind> kinds_of(const ProofProgram& p, Stage stage) {
  std::vector<NodeKind> kinds;
  for (const ProofNode& n : p.nodes) {
    if (n.stage == stage) kinds.push_back(n.kind);
  }
  return kinds;
}

TEST(ProofProgram, SumsOnlyWhereThereIsMoreOrLessThanOnePart) {
  using K = NodeKind;
  const auto stage = Stage::kConstraintEvaluation;
  EXPECT_EQ(kinds_of(program_of(wide_case("", 5, 4, "fast")), stage),
            (std::vector<K>{K::kDrawChallenge, K::kConstraintWeights, K::kEvaluateConstraints,
                            K::kExtendComposition, K::kHashTree, K::kAbsorbRoot}));
  EXPECT_EQ(kinds_of(program_of(pair_case("", 5, 4, false, "fast")), stage),
            (std::vector<K>{K::kDrawChallenge, K::kConstraintWeights, K::kEvaluateConstraints,
                            K::kExtendComposition, K::kHashTree, K::kAbsorbRoot}));
  EXPECT_EQ(kinds_of(program_of(wide_case("", 5, 1, "fast")), stage),
            (std::vector<K>{K::kDrawChallenge, K::kSumConstraints, K::kExtendComposition,
                            K::kHashTree, K::kAbsorbRoot}));
  const ProofProgram two = program_of(pair_case("", 4, 9, true, "fast"));
  EXPECT_EQ(kinds_of(two, stage),
            (std::vector<K>{K::kDrawChallenge, K::kConstraintWeights, K::kEvaluateConstraints,
                            K::kEvaluateConstraints, K::kSumConstraints, K::kExtendComposition,
                            K::kHashTree, K::kAbsorbRoot}));
  std::vector<uint32_t> order;
  for (const ProofNode& n : two.nodes) {
    if (n.kind == K::kEvaluateConstraints) order.push_back(n.index);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{1, 0}));  // largest first
}

TEST(ProofProgram, ComponentsDoNotWaitForEachOther) {
  const ProofProgram p = program_of(pair_case("", 5, 4, true, "fast"));
  std::map<std::pair<NodeKind, uint32_t>, uint32_t> at;
  for (uint32_t i = 0; i < p.nodes.size(); ++i) {
    at[{p.nodes[i].kind, p.nodes[i].sub_index}] = i;
  }
  for (uint32_t c = 0; c < 2; ++c) {
    const uint32_t generate = at[std::pair(NodeKind::kGenerateTrace, c)];
    const uint32_t extend = at[std::pair(NodeKind::kExtendColumns, c)];
    EXPECT_EQ(p.nodes[generate].depends_on, std::vector<uint32_t>(1, 0));
    EXPECT_EQ(p.nodes[extend].depends_on, std::vector<uint32_t>(1, generate));
  }
}

TEST(ProofProgram, UnknownBufferIsOurBug) {
  const ProofProgram p = program_of(wide_case("", 5, 4, "fast"));
  EXPECT_EQ(p.buffers[p.buffer(BufferRole::kTreeHashes, 1)].bytes, 32u * 127);
  EXPECT_THROW(p.buffer(BufferRole::kTreeHashes, 3), ContractError);
  EXPECT_THROW(p.buffer(BufferRole::kComposition), ContractError);
}

TEST(ProofProgram, SizesDoNotWrap) {
  using program_layout::power_of_two;
  using program_layout::Size;
  using program_layout::SizeOverflow;
  const Size large = uint64_t{1} << 63;
  EXPECT_EQ((large + (large - 1)).value(), UINT64_MAX);
  EXPECT_EQ((Size(3) * 5 - 15).value(), 0u);
  EXPECT_EQ(power_of_two(63).value(), large.value());
  EXPECT_THROW(large + large, SizeOverflow);
  EXPECT_THROW(large * 2, SizeOverflow);
  EXPECT_THROW(Size(1) - 2, SizeOverflow);
  EXPECT_THROW(power_of_two(64), SizeOverflow);
}

TEST(ProofProgram, TranscriptMustCommitEveryTreeInOrder) {
  class Backwards final : public AirInstance {
   public:
    explicit Backwards(std::vector<uint64_t> order) : order_(std::move(order)) {
      preprocessed_.push_back({"p", 6, nullptr});
      components_.push_back(
          std::make_unique<DescribedComponent<MaskScript>>("part", 6, MaskScript{}));
    }
    std::vector<TranscriptStep> transcript(const Statement&) const override {
      std::vector<TranscriptStep> steps;
      for (const uint64_t t : order_) steps.push_back({TranscriptStep::Kind::kCommitTree, t});
      return steps;
    }

   private:
    std::vector<uint64_t> order_;
  };
  const auto make = [](std::vector<uint64_t> order) {
    ProofShape s = described_shape(6, 3, fast_config(), 1);
    s.instance = std::make_shared<Backwards>(std::move(order));
    return make_proof_program(shared(std::move(s)));
  };
  EXPECT_NO_THROW(make({0, 1, 2}));
  for (const std::vector<uint64_t>& order :
       {std::vector<uint64_t>{0, 2, 1}, {0, 1}, {0, 1, 2, 2}, {1, 0, 2}, {}}) {
    EXPECT_THROW(make(order), ContractError);
  }
}

// ---- the order of the prover ----

/// The CPU prover's name of the step after which a node leaves the transcript, "" for draws.
std::string observed_name(const ProofProgram& p, const ProofNode& n) {
  switch (n.kind) {
    case NodeKind::kMixConfig: return "mix_config";
    case NodeKind::kMixU64: return "mix_u64";
    case NodeKind::kAbsorbRoot:
      return n.index == p.shape->n_trace_trees() ? "composition_root"
                                                 : "tree" + std::to_string(n.index) + "_root";
    case NodeKind::kAbsorbSamples: return "sampled_values";
    case NodeKind::kFriAbsorb: return "fri_layer_" + std::to_string(n.index) + "_root";
    case NodeKind::kAbsorbLastLayer: return "fri_last_layer";
    case NodeKind::kAbsorbNonce: return "pow_nonce";
    default: return "";
  }
}

TEST(ProofProgram, TranscriptIsTheProvers) {
  for (const test::ProofCase& c : test::small_cases()) {
    const auto shape = shape_of(c);
    std::vector<std::string> observed;
    test::make_proof(shape,
                     [&](std::string_view step, const Digest&) { observed.emplace_back(step); });
    const ProofProgram p = make_proof_program(shape);
    std::vector<std::string> steps;
    std::vector<std::string> draws;
    for (const ProofNode& n : p.nodes) {
      if (!n.transcript) continue;
      const std::string name = observed_name(p, n);
      if (!name.empty()) steps.push_back(name);
      if (n.kind == NodeKind::kDrawChallenge) {
        draws.push_back(steps.back() + ">" + p.challenges[n.index].name);
      }
    }
    EXPECT_EQ(steps, observed) << c.name;
    std::vector<std::string> expected = {"composition_root>oods_parameter",
                                         "sampled_values>quotient_coefficient"};
    expected.insert(expected.begin(), "tree1_root>constraint_coefficient");
    for (size_t i = 0; i < shape->fri_layers.size(); ++i) {
      const std::string n = std::to_string(i);
      expected.push_back("fri_layer_" + n + "_root>fri_beta_" + n);
    }
    EXPECT_EQ(draws, expected) << c.name;
    EXPECT_EQ(p.transcript_barriers(), observed.size() + draws.size() + 1);  // and the queries
  }
}

TEST(ProofProgram, StagesComeInOrder) {
  for (const auto& shape : spread_of_shapes()) {
    const ProofProgram p = make_proof_program(shape);
    uint8_t last = static_cast<uint8_t>(Stage::kConstraintEvaluation);
    bool application = true;
    for (const ProofNode& n : p.nodes) {
      const auto stage = static_cast<uint8_t>(n.stage);
      application = application && stage < static_cast<uint8_t>(Stage::kConstraintEvaluation);
      if (application) continue;
      EXPECT_GE(stage, last);
      last = stage;
    }
  }
}

TEST(ProofProgram, ApplicationStepsKeepTheirValues) {
  const ProofProgram p = make_proof_program(shared(described_shape(6, 3, fast_config())));
  std::vector<uint64_t> values;
  for (const ProofNode& n : p.nodes) {
    if (n.kind == NodeKind::kMixU64) values.push_back(n.value);
  }
  EXPECT_EQ(values, (std::vector<uint64_t>{17, 17, 1ull << 40}));
}

// ---- sizes ----

TEST(ProofProgram, SizesByHand) {
  const ProofProgram p =
      program_of(pair_case("", 6, 4, true, "pow=9,blowup=1,queries=5,last=2,fold=2"));
  const auto bytes = [&](BufferRole role, uint32_t index = 0) {
    return p.buffers[p.buffer(role, index)].bytes;
  };
  EXPECT_EQ(bytes(BufferRole::kTreeColumns, 0), 0u);
  EXPECT_EQ(bytes(BufferRole::kTreeHashes, 0), 32u);
  EXPECT_EQ(bytes(BufferRole::kTreeColumns, 1), 4u * (4 * 128 + 5 * 32));
  EXPECT_EQ(bytes(BufferRole::kTreeHashes, 1), 32u * 255);
  EXPECT_EQ(bytes(BufferRole::kTreeColumns, 2), 4u * 8 * 128);
  EXPECT_EQ(bytes(BufferRole::kConstraintWeights), 16u * 5);
  EXPECT_EQ(bytes(BufferRole::kComponentQuotient, 0), 16u * 65);
  EXPECT_EQ(bytes(BufferRole::kComponentQuotient, 1), 16u * 17);
  EXPECT_EQ(bytes(BufferRole::kComposition), 16u * 65);
  EXPECT_EQ(bytes(BufferRole::kSampleWeights, 0), 16u * 16);
  EXPECT_EQ(bytes(BufferRole::kSampleWeights, 1), 16u * 64);
  EXPECT_EQ(bytes(BufferRole::kSampledValues), 16u * 17);
  EXPECT_EQ(bytes(BufferRole::kQuotientTerms), 16u * (17 + 4));
  // Layers of 2^7 and 2^5 values, both packed; the last one has 2^3.
  EXPECT_EQ(bytes(BufferRole::kFriValues, 0), 16u * 128);
  EXPECT_EQ(bytes(BufferRole::kFriValues, 1), 16u * 32);
  EXPECT_EQ(bytes(BufferRole::kFriValues, 2), 16u * 8);
  EXPECT_EQ(bytes(BufferRole::kFriHashes, 0), 32u * 63);
  EXPECT_EQ(bytes(BufferRole::kFriHashes, 1), 32u * 15);
  EXPECT_EQ(bytes(BufferRole::kLastLayer), 16u * 4);
  EXPECT_EQ(bytes(BufferRole::kTranscript), 36u);
  EXPECT_EQ(bytes(BufferRole::kChallenges), 16u * 5);
  EXPECT_EQ(bytes(BufferRole::kNonce), 8u);
  EXPECT_EQ(bytes(BufferRole::kQueries), 24u);
  // Head; two trees of height 7 (2 + 4 + 5 * 5 siblings) and 17 columns; FRI layers of heights 5
  // and 3 that give three values of each of five blocks.
  const uint64_t head = 32u * 5 + 16u * 17 + 16u * 4 + 8 + 24;
  const uint64_t trees = 2 * (32u * 31 + 4) + 4u * 5 * 17;
  const uint64_t fri = (16u * 15 + 4 + 32u * 21 + 4) + (16u * 15 + 4 + 32u * 11 + 4);
  EXPECT_EQ(bytes(BufferRole::kProof), head + trees + fri);
}

/// What the terminal buffer has to hold of a finished proof.
uint64_t bytes_in(const StarkProof& proof, size_t n_positions) {
  uint64_t bytes = 32 * proof.commitments.size() + 8 + 4 * (n_positions + 1);
  for (const auto& tree : proof.sampled_values) {
    for (const auto& column : tree) bytes += 16 * column.size();
  }
  for (size_t t = 0; t < proof.commitments.size(); ++t) {
    bytes += 32 * proof.decommitments[t].hash_witness.size();
    if (!proof.queried_values[t].empty()) bytes += 4;
    for (const auto& column : proof.queried_values[t]) bytes += 4 * column.size();
  }
  const auto layer = [&](const FriLayerProof& l) {
    bytes += 32 + 16 * l.fri_witness.size() + 32 * l.decommitment.hash_witness.size() + 8;
  };
  layer(proof.fri_proof.first_layer);
  for (const FriLayerProof& l : proof.fri_proof.inner_layers) layer(l);
  return bytes + 16 * proof.fri_proof.last_layer_poly.coeffs.size();
}

TEST(ProofProgram, TheProofBufferHoldsEveryProof) {
  std::vector<test::ProofCase> cases = test::small_cases();
  cases.push_back(wide_case("many_queries", 5, 4, "queries=300"));
  cases.push_back(wide_case("one_query", 9, 4, "queries=1,fold=4"));
  cases.push_back(wide_case("wide_blocks", 12, 4, "queries=7,fold=5"));
  for (const test::ProofCase& c : cases) {
    const auto shape = shape_of(c);
    const StarkProof proof = test::make_proof(shape);
    const ProofProgram p = make_proof_program(shape);
    const uint64_t bound = p.buffers[p.buffer(BufferRole::kProof)].bytes;
    const size_t n_positions = proof.queried_values[1][0].size();
    EXPECT_LE(bytes_in(proof, n_positions), bound) << c.name;
    // Few queries in a large domain share only the nodes near the root.
    if (c.name == "wide_blocks") {
      EXPECT_GT(2 * bytes_in(proof, n_positions), bound);
    }
  }
}

TEST(ProofProgram, WorkByHand) {
  const ProofProgram p = program_of(wide_case("", 5, 20, "pow=3,blowup=2,queries=9"));
  const auto work = [&](NodeKind kind, uint32_t index = 0) {
    for (const ProofNode& n : p.nodes) {
      if (n.kind == kind && n.index == index) return n.work;
    }
    ADD_FAILURE() << node_kind_name(kind);
    return LogicalWork{};
  };
  // 20 columns of 2^5: 80 butterflies an FFT, one to interpolate and four blocks.
  EXPECT_EQ(work(NodeKind::kGenerateTrace, 1), (LogicalWork{0, 0, 0, 20u * 128}));
  EXPECT_EQ(work(NodeKind::kExtendColumns, 1),
            (LogicalWork{20u * 80 * 5, 0, 20u * 128, 20u * 512}));
  EXPECT_EQ(work(NodeKind::kHashTree, 1), (LogicalWork{0, 2u * 128 + 127, 20u * 512, 32u * 255}));
  EXPECT_EQ(work(NodeKind::kAbsorbRoot, 1), (LogicalWork{0, 1, 32, 0}));
  // 18 constraints c - (a a + b b): squares are shared, 19 of them, and 18 weights.
  EXPECT_EQ(work(NodeKind::kEvaluateConstraints),
            (LogicalWork{33u * (19 + 18 * 4 + 4), 0, 33u * 20 * 4 + 18 * 16, 33u * 16}));
  EXPECT_EQ(work(NodeKind::kExtendComposition, 2),
            (LogicalWork{4u * 80 * 4, 0, 33u * 16, 8u * 512}));
  EXPECT_EQ(work(NodeKind::kSampleWeights), (LogicalWork{31u * 16 + 4 * 80, 0, 0, 512}));
  // The four right composition columns are constant.
  EXPECT_EQ(work(NodeKind::kSampleColumns),
            (LogicalWork{32u * 24 * 4, 0, 32u * 24 * 4 + 512, 28u * 16}));
  EXPECT_EQ(work(NodeKind::kAbsorbSamples), (LogicalWork{0, 8, 448, 0}));
  EXPECT_EQ(work(NodeKind::kQuotientChunk),
            (LogicalWork{32u * (24 * 4 + 32), 0, 32u * 24 * 4, 512}));
  EXPECT_EQ(work(NodeKind::kExtendQuotient), (LogicalWork{4u * 80 * 4, 0, 512, 3u * 512}));
  EXPECT_EQ(work(NodeKind::kFriHash), (LogicalWork{0, 255, 2048, 32u * 255}));
  EXPECT_EQ(work(NodeKind::kFriFold), (LogicalWork{64u * 20, 0, 2048, 1024}));
  EXPECT_EQ(work(NodeKind::kGrind), (LogicalWork{0, 9, 0, 8}));
  EXPECT_EQ(work(NodeKind::kDrawQueries), (LogicalWork{0, 2, 0, 40}));
}

// ---- groups and chunks ----

/// Random sampled values in the shape's form.
std::vector<std::vector<std::vector<QM31>>> random_samples(const ProofShape& s, test::Random& rng) {
  std::vector<std::vector<std::vector<QM31>>> out;
  for (const TreeShape& t : s.trees) {
    auto& tree = out.emplace_back();
    for (const auto& offsets : t.mask_offsets) tree.push_back(rng.qm31_vector(offsets.size()));
  }
  return out;
}

TEST(ProofProgram, ChunksAreTheQuotientsBatches) {
  test::Random rng;
  STWO_TRACE_SEED();
  auto shapes = spread_of_shapes();
  // Columns smaller than the query domain with two samples: periodicity samples of their own.
  for (const char* config : {"lift=9", "blowup=3,lift=12"}) {
    shapes.push_back(shared(described_shape(5, 3, parse_config(config))));
  }
  for (const auto& shape : shapes) {
    const ProofProgram p = make_proof_program(shape);
    const auto z = rng.secure_point();
    const auto samples = random_samples(*shape, rng);
    std::vector<QM31> flat;
    for (const auto& tree : samples) {
      for (const auto& column : tree) flat.insert(flat.end(), column.begin(), column.end());
    }
    ASSERT_EQ(flat.size(), p.n_sampled_values);
    const QM31 coefficient = rng.qm31();
    const auto batches = make_quotient_batches(*shape, z, samples, coefficient);
    ASSERT_TRUE(batches.has_value());
    ASSERT_EQ(batches->size(), p.quotient_chunks.size()) << label(*shape);
    std::set<uint32_t> powers;
    for (size_t i = 0; i < batches->size(); ++i) {
      const QuotientBatch& batch = (*batches)[i];
      const QuotientChunk& chunk = p.quotient_chunks[i];
      EXPECT_EQ(batch.point, z + to_secure(point_at_index(chunk.point_shift)));
      ASSERT_EQ(batch.terms.size(), chunk.terms.size());
      const QM31 c = batch.point.y.conjugate() - batch.point.y;
      QM31 slope;
      QM31 offset;
      for (size_t k = 0; k < chunk.terms.size(); ++k) {
        const QuotientTerm& term = batch.terms[k];
        const QuotientChunk::Term& got = chunk.terms[k];
        EXPECT_EQ(std::tie(got.tree, got.column, got.committed_log_size),
                  std::tie(term.tree, term.column, term.committed_log_size));
        const QM31 w = coefficient.pow(got.power);
        EXPECT_EQ(term.factor, w * c);
        powers.insert(got.power);
        const QM31 value = flat[got.value_index];
        const QM31 a = value.conjugate() - value;
        slope += w * a;
        offset += w * (value * c - a * batch.point.y);
      }
      EXPECT_EQ(batch.line_slope, slope);
      EXPECT_EQ(batch.line_offset, offset);
    }
    // Every power from 0 on is used once.
    size_t n_terms = 0;
    for (const QuotientChunk& c : p.quotient_chunks) n_terms += c.terms.size();
    EXPECT_EQ(powers.size(), n_terms);
    EXPECT_EQ(*powers.rbegin() + 1, n_terms);
  }
}

TEST(ProofProgram, GroupsHoldEverySampleOnceBySizeAndOffset) {
  for (const auto& shape : spread_of_shapes()) {
    const ProofProgram p = make_proof_program(shape);
    std::vector<std::vector<SampleGroup::Ref>> by_value(p.n_sampled_values);
    std::pair<uint32_t, int> last{0, -1000};
    for (const SampleGroup& g : p.sample_groups) {
      const std::pair<uint32_t, int> key{g.log_size, g.offset};
      EXPECT_LT(last, key);
      last = key;
      uint32_t previous = 0;
      for (const SampleGroup::Ref& r : g.refs) {
        EXPECT_EQ(shape->trees[r.tree].column_log_sizes[r.column], g.log_size);
        EXPECT_EQ(shape->trees[r.tree].mask_offsets[r.column][r.sample], g.offset);
        EXPECT_TRUE(&r == &g.refs.front() || r.value_index > previous);
        previous = r.value_index;
        by_value[r.value_index].push_back(r);
      }
    }
    uint32_t value = 0;
    for (uint32_t t = 0; t < shape->trees.size(); ++t) {
      for (uint32_t c = 0; c < shape->trees[t].mask_offsets.size(); ++c) {
        for (uint32_t k = 0; k < shape->trees[t].mask_offsets[c].size(); ++k, ++value) {
          ASSERT_EQ(by_value[value].size(), 1u);
          EXPECT_EQ(by_value[value][0], (SampleGroup::Ref{t, c, k, value}));
        }
      }
    }
    EXPECT_EQ(value, p.n_sampled_values);
  }
}

// ---- lifetimes and dependencies against brute force ----

TEST(ProofProgram, LifetimesAreFirstToLastUse) {
  for (const auto& shape : spread_of_shapes()) {
    const ProofProgram p = make_proof_program(shape);
    for (uint32_t b = 0; b < p.buffers.size(); ++b) {
      const ProgramBuffer& buffer = p.buffers[b];
      std::vector<uint32_t> uses;
      uint32_t writers = 0;
      for (uint32_t i = 0; i < p.nodes.size(); ++i) {
        const auto has = [&](const std::vector<uint32_t>& list) {
          return std::find(list.begin(), list.end(), b) != list.end();
        };
        if (has(p.nodes[i].reads) || has(p.nodes[i].writes)) uses.push_back(i);
        writers += has(p.nodes[i].writes);
      }
      ASSERT_FALSE(uses.empty());
      const bool prepared = buffer.index == 0 && (buffer.role == BufferRole::kTreeColumns ||
                                                  buffer.role == BufferRole::kTreeHashes);
      EXPECT_EQ(buffer.lifetime, prepared                            ? BufferLifetime::kShape
                                 : buffer.role == BufferRole::kProof ? BufferLifetime::kTerminalHost
                                                                     : BufferLifetime::kRequest);
      EXPECT_EQ(writers == 0, prepared);
      EXPECT_EQ(buffer.first_node, prepared ? 0 : uses.front());
      EXPECT_EQ(buffer.last_node, prepared ? p.nodes.size() - 1 : uses.back());
      EXPECT_EQ(buffer.written_once, writers <= 1);
    }
  }
}

/// Which nodes can be reached against the direction of the edges, by depth-first search.
std::set<uint32_t> reachable(const ProofProgram& p, uint32_t from) {
  std::set<uint32_t> seen;
  std::vector<uint32_t> stack = p.nodes[from].depends_on;
  while (!stack.empty()) {
    const uint32_t i = stack.back();
    stack.pop_back();
    if (!seen.insert(i).second) continue;
    stack.insert(stack.end(), p.nodes[i].depends_on.begin(), p.nodes[i].depends_on.end());
  }
  return seen;
}

TEST(ProofProgram, DependenciesAreCompleteAndReduced) {
  for (const auto& shape : spread_of_shapes()) {
    const ProofProgram p = make_proof_program(shape);
    std::vector<std::set<uint32_t>> before;
    for (uint32_t i = 0; i < p.nodes.size(); ++i) before.push_back(reachable(p, i));
    uint32_t last_transcript = 0;
    for (uint32_t i = 1; i < p.nodes.size(); ++i) {
      const ProofNode& n = p.nodes[i];
      EXPECT_TRUE(before[i].count(0)) << "node " << i << " could run before the request begins";
      if (n.transcript) {
        EXPECT_TRUE(before[i].count(last_transcript));
        last_transcript = i;
      }
      for (const uint32_t c : n.challenges) EXPECT_TRUE(before[i].count(p.challenges[c].drawn_by));
      // A buffer with one writer is read after it.
      for (uint32_t j = 0; j < i; ++j) {
        for (const uint32_t b : p.nodes[j].writes) {
          const bool reads = std::binary_search(n.reads.begin(), n.reads.end(), b);
          if (reads && p.buffers[b].written_once) {
            EXPECT_TRUE(before[i].count(j));
          }
        }
      }
      for (const uint32_t d : n.depends_on) {
        for (const uint32_t other : n.depends_on) EXPECT_FALSE(before[other].count(d));
      }
    }
    // The last node comes after all others.
    EXPECT_EQ(before.back().size(), p.nodes.size() - 1);
  }
}

// ---- faults ----

/// Two components of different sizes, every kind of node but mixes.
ProofProgram sound() { return program_of(test::small_cases()[2]); }

uint32_t find(const ProofProgram& p, NodeKind kind, uint32_t index = 0) {
  for (uint32_t i = 0; i < p.nodes.size(); ++i) {
    if (p.nodes[i].kind == kind && p.nodes[i].index == index) return i;
  }
  throw ContractError("no such node");
}

using Change = std::function<void(ProofProgram&)>;

void expect_fault(const std::string& code, const std::string& what, const Change& change) {
  ProofProgram p = sound();
  ASSERT_EQ(faults_of(p), "");
  change(p);
  const auto faults = validate(p);
  ASSERT_FALSE(faults.empty()) << what;
  bool said = false;
  for (const ProgramFault& f : faults) {
    EXPECT_EQ(f.code, code) << what << ": " << f.message;
    said = said || f.message.find(what) != std::string::npos;
  }
  EXPECT_TRUE(said) << "expected '" << what << "' in\n" << faults_of(p);
}

/// The program with one field of its shape changed.
Change reshape(const std::function<void(ProofShape&)>& change) {
  return [change](ProofProgram& p) {
    ProofShape s = *p.shape;
    change(s);
    p.shape = shared(std::move(s));
  };
}

TEST(ProgramFaults, Dangling) {
  expect_fault("DANGLING", "no shape", [](ProofProgram& p) { p.shape = nullptr; });
  expect_fault("DANGLING", "the missing buffer 999", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kHashTree, 1)].reads.back() = 999;
  });
  expect_fault("DANGLING", "the missing buffer 999", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kHashTree, 1)].writes.back() = 999;
  });
  expect_fault("DANGLING", "the missing challenge 99", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kFriFold, 1)].challenges.back() = 99;
  });
  expect_fault("DANGLING", "the missing node 9999",
               [](ProofProgram& p) { p.nodes[5].depends_on = {9999}; });
  expect_fault("DANGLING", "works on something missing",
               [](ProofProgram& p) { p.nodes[find(p, NodeKind::kOpenTree, 2)].index = 3; });
  expect_fault("DANGLING", "works on something missing", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kExtendColumns, 1)].sub_index = 2;
  });
  expect_fault("DANGLING", "challenge oods_parameter names a missing node",
               [](ProofProgram& p) { p.challenges[1].drawn_by = 9999; });
  expect_fault("DANGLING", "names a missing node",
               [](ProofProgram& p) { p.challenges[1].consumers.push_back(9999); });
  expect_fault("DANGLING", "names a missing node",
               [](ProofProgram& p) { p.buffers[3].last_node = 9999; });
  expect_fault("DANGLING", "belongs to nothing",
               [](ProofProgram& p) { p.buffers[p.buffer(BufferRole::kFriHashes, 1)].index = 2; });
  expect_fault("DANGLING", "the missing sampled value 17",
               [](ProofProgram& p) { p.sample_groups[0].refs[0].value_index = 17; });
  expect_fault("DANGLING", "quotient chunk 0 names a missing column, tree 1 column 9",
               [](ProofProgram& p) { p.quotient_chunks[0].terms[0].column = 9; });
  expect_fault("DANGLING", "the program has 1 components",
               [](ProofProgram& p) { p.components.pop_back(); });
  expect_fault("DANGLING", "component 0",
               [](ProofProgram& p) { p.components[0].program.constraints[0] = 1000; });
  expect_fault("DANGLING", "no node", [](ProofProgram& p) {
    p.nodes.clear();
    p.buffers.clear();
    p.challenges.clear();
  });
}

TEST(ProgramFaults, Duplicate) {
  expect_fault("DUPLICATE", "names one buffer twice", [](ProofProgram& p) {
    auto& reads = p.nodes[find(p, NodeKind::kOpenTree, 1)].reads;
    reads.push_back(reads.back());
  });
  expect_fault("DUPLICATE", "names one dependency twice", [](ProofProgram& p) {
    auto& list = p.nodes[find(p, NodeKind::kHashTree, 1)].depends_on;
    list.push_back(list.back());
  });
  expect_fault("DUPLICATE", "exists twice",
               [](ProofProgram& p) { p.buffers[p.buffer(BufferRole::kFriHashes, 1)].index = 0; });
  expect_fault("DUPLICATE", "challenge fri_beta_0 exists twice",
               [](ProofProgram& p) { p.challenges[1].name = "fri_beta_0"; });
  expect_fault("DUPLICATE", "does what an earlier node did",
               [](ProofProgram& p) { p.nodes[find(p, NodeKind::kHashTree, 2)].index = 1; });
  expect_fault("DUPLICATE", "which others imply", [](ProofProgram& p) {
    auto& list = p.nodes.back().depends_on;
    list.insert(list.begin(), 0);
  });
}

TEST(ProgramFaults, Overflow) {
  expect_fault("OVERFLOW", "bytes", [](ProofProgram& p) { p.buffers[2].bytes = 1ull << 63; });
  expect_fault("OVERFLOW", "64 bits", [](ProofProgram& p) { p.buffers[2].bytes = UINT64_MAX; });
  expect_fault("OVERFLOW", "64 bits", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kExtendQuotient)].work.field_mul = UINT64_MAX;
  });
}

TEST(ProgramFaults, Cycle) {
  expect_fault("CYCLE", "which comes later", [](ProofProgram& p) {
    auto& list = p.nodes[find(p, NodeKind::kHashTree, 1)].depends_on;
    list.push_back(static_cast<uint32_t>(p.nodes.size()) - 1);
  });
  expect_fault("CYCLE", "itself", [](ProofProgram& p) {
    const uint32_t at = find(p, NodeKind::kGrind);
    p.nodes[at].depends_on = {at};
  });
}

TEST(ProgramFaults, Lifetime) {
  expect_fault("LIFETIME", "is used outside its interval", [](ProofProgram& p) {
    --p.buffers[p.buffer(BufferRole::kTreeColumns, 1)].last_node;
  });
  expect_fault("LIFETIME", "is used outside its interval", [](ProofProgram& p) {
    ++p.buffers[p.buffer(BufferRole::kSampleWeights, 1)].first_node;
  });
  expect_fault("LIFETIME", "is kept longer than it is used",
               [](ProofProgram& p) { ++p.buffers[p.buffer(BufferRole::kComposition)].last_node; });
  expect_fault("LIFETIME", "is written by 4 nodes", [](ProofProgram& p) {
    p.buffers[p.buffer(BufferRole::kTreeColumns, 1)].written_once = true;
  });
  expect_fault("LIFETIME", "which requests may only read", [](ProofProgram& p) {
    ProgramBuffer& b = p.buffers[p.buffer(BufferRole::kNonce)];
    b.lifetime = BufferLifetime::kShape;
    b.first_node = 0;
    b.last_node = static_cast<uint32_t>(p.nodes.size()) - 1;
  });
  expect_fault("LIFETIME", "before it is written", [](ProofProgram& p) {
    // Component 1 is extended before its trace is generated.
    for (ProofNode& n : p.nodes) {
      if (n.kind == NodeKind::kGenerateTrace && n.sub_index == 1) n.writes.clear();
    }
  });
  expect_fault("LIFETIME", "before it is written", [](ProofProgram& p) {
    p.buffers[p.buffer(BufferRole::kTreeHashes, 0)].lifetime = BufferLifetime::kRequest;
  });
  expect_fault("LIFETIME", "is never used", [](ProofProgram& p) {
    const uint32_t unused = p.buffer(BufferRole::kLastLayer);
    for (ProofNode& n : p.nodes) {
      for (auto* list : {&n.reads, &n.writes}) {
        list->erase(std::remove(list->begin(), list->end(), unused), list->end());
      }
    }
  });
}

TEST(ProgramFaults, Challenge) {
  expect_fault("CHALLENGE", "before it is drawn",
               [](ProofProgram& p) { p.nodes[find(p, NodeKind::kFriFold, 0)].challenges = {4}; });
  expect_fault(
      "CHALLENGE", "does not depend on the draw of challenge fri_beta_1", [](ProofProgram& p) {
        p.nodes[find(p, NodeKind::kFriFold, 1)].depends_on = {find(p, NodeKind::kFriFold, 0)};
      });
  expect_fault("CHALLENGE", "names another node",
               [](ProofProgram& p) { ++p.challenges[2].drawn_by; });
  expect_fault("CHALLENGE", "does not list the nodes that use it",
               [](ProofProgram& p) { p.challenges[1].consumers.pop_back(); });
  expect_fault("CHALLENGE", "does not list the nodes that use it", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kQuotientTerms)].challenges = {2};
  });
}

TEST(ProgramFaults, Order) {
  expect_fault("ORDER", "does not wait for node", [](ProofProgram& p) {
    p.nodes[find(p, NodeKind::kHashTree, 1)].depends_on.pop_back();
  });
  expect_fault("ORDER", "its predecessor in the transcript", [](ProofProgram& p) {
    auto& list = p.nodes[find(p, NodeKind::kAbsorbNonce)].depends_on;
    list = {find(p, NodeKind::kLastLayer)};
  });
  expect_fault("ORDER", "without a reason", [](ProofProgram& p) {
    std::vector<uint32_t> generators;
    for (uint32_t i = 0; i < p.nodes.size(); ++i) {
      if (p.nodes[i].kind == NodeKind::kGenerateTrace) generators.push_back(i);
    }
    p.nodes[generators[1]].depends_on = {generators[0]};
  });
  expect_fault("ORDER", "wrong transcript mark",
               [](ProofProgram& p) { p.nodes[find(p, NodeKind::kGrind)].transcript = true; });
  expect_fault("ORDER", "wrong transcript mark",
               [](ProofProgram& p) { p.nodes[find(p, NodeKind::kFriAbsorb)].transcript = false; });
  expect_fault("ORDER", "ascending", [](ProofProgram& p) {
    auto& reads = p.nodes[find(p, NodeKind::kOpenTree, 1)].reads;
    std::swap(reads[0], reads[1]);
  });
}

TEST(ProgramFaults, ShapeOfTheProgram) {
  expect_fault("SHAPE", "the protocol", [](ProofProgram& p) { p.protocol = "stwo 2.2.0"; });
  expect_fault("SHAPE", "the version", [](ProofProgram& p) { ++p.version; });
  expect_fault("SHAPE", "composition is evaluated",
               [](ProofProgram& p) { p.half_domain_composition = false; });
  expect_fault("SHAPE", "number of sampled values", [](ProofProgram& p) { ++p.n_sampled_values; });
  expect_fault("SHAPE", "component 1", [](ProofProgram& p) { ++p.components[1].first_constraint; });
  expect_fault("SHAPE", "component 0", [](ProofProgram& p) {
    std::swap(p.components[0].program.constraints[0], p.components[0].program.constraints[1]);
  });
  expect_fault("SHAPE", "sample group 1", [](ProofProgram& p) { ++p.sample_groups[1].offset; });
  expect_fault("SHAPE", "sample group 0",
               [](ProofProgram& p) { p.sample_groups[0].refs.pop_back(); });
  expect_fault("SHAPE", "quotient chunk 0",
               [](ProofProgram& p) { ++p.quotient_chunks[0].point_shift; });
  expect_fault("SHAPE", "quotient chunk 0",
               [](ProofProgram& p) { ++p.quotient_chunks[0].terms[3].power; });
  expect_fault("SHAPE", "challenge 0", [](ProofProgram& p) { p.challenges[0].name = "alpha"; });
  expect_fault("SHAPE", "buffer 2", [](ProofProgram& p) { p.buffers[2].bytes -= 4; });
  expect_fault("SHAPE", "no power of two", [](ProofProgram& p) { p.buffers[2].alignment = 48; });
  expect_fault("SHAPE", "buffer", [](ProofProgram& p) {
    p.buffers[p.buffer(BufferRole::kProof)].lifetime = BufferLifetime::kRequest;
  });
  expect_fault("SHAPE", "node 7", [](ProofProgram& p) { p.nodes[7].stage = Stage::kPow; });
  expect_fault("SHAPE", "node 0", [](ProofProgram& p) { p.nodes[0].value = 1; });
  expect_fault("SHAPE", "node",
               [](ProofProgram& p) { ++p.nodes[find(p, NodeKind::kGrind)].work.compressions; });
  // More alignment is a backend's own affair.
  ProofProgram p = sound();
  for (ProgramBuffer& b : p.buffers) b.alignment = 4096;
  EXPECT_EQ(faults_of(p), "");
}

TEST(ProgramFaults, ForbiddenShapes) {
  expect_fault("SHAPE", "queries", reshape([](ProofShape& s) { s.config.fri.n_queries = 0; }));
  expect_fault("SHAPE", "blowup",
               reshape([](ProofShape& s) { s.config.fri.log_blowup_factor = 17; }));
  expect_fault("SHAPE", "no AIR instance", reshape([](ProofShape& s) { s.instance = nullptr; }));
  expect_fault("SHAPE", "trees", reshape([](ProofShape& s) { s.trees.pop_back(); }));
  expect_fault("SHAPE", "does not place every component",
               reshape([](ProofShape& s) { s.spans.pop_back(); }));
  expect_fault("SHAPE", "wrong column of tree 1",
               reshape([](ProofShape& s) { ++s.spans[1].first_column[1]; }));
  expect_fault("SHAPE", "tree 1 does not hold",
               reshape([](ProofShape& s) { ++s.trees[1].column_log_sizes[0]; }));
  expect_fault("SHAPE", "tree 1 does not hold",
               reshape([](ProofShape& s) { s.trees[1].mask_offsets[0] = {1}; }));
  expect_fault("SHAPE", "wrong constraint",
               reshape([](ProofShape& s) { ++s.spans[1].first_constraint; }));
  expect_fault("SHAPE", "constraints", reshape([](ProofShape& s) { ++s.n_constraints; }));
  expect_fault("SHAPE", "composition", reshape([](ProofShape& s) { ++s.composition_log_size; }));
  expect_fault("SHAPE", "query domain", reshape([](ProofShape& s) { ++s.lifting_log_size; }));
  expect_fault("SHAPE", "degree bound", reshape([](ProofShape& s) { ++s.max_degree_log_size; }));
  expect_fault("SHAPE", "eight composition columns",
               reshape([](ProofShape& s) { s.trees[2].mask_offsets[5] = {}; }));
  expect_fault("SHAPE", "wrong height", reshape([](ProofShape& s) { ++s.trees[1].height; }));
  expect_fault("SHAPE", "tree 0 has no column",
               reshape([](ProofShape& s) { s.config.lifting_log_size = s.lifting_log_size; }));
  expect_fault("SHAPE", "FRI layer 1", reshape([](ProofShape& s) { ++s.fri_layers[1].log_size; }));
  expect_fault("SHAPE", "FRI layers", reshape([](ProofShape& s) {
                 s.fri_layers.push_back({3, 1});
               }));
  expect_fault("SHAPE", "too small for fold",
               reshape([](ProofShape& s) { s.config.fri.fold_step = 9; }));
}

struct TooSteep {
  template <class E>
  void evaluate(E& eval) const {
    const auto a = eval.next_trace_mask();
    eval.add_constraint(a * a * a * a);
  }
};

struct FarMask {
  template <class E>
  void evaluate(E& eval) const {
    const auto a = eval.template next_interaction_mask<2>(1, {0, 1});
    eval.add_constraint(a[0] - a[1]);
  }
};

TEST(ProgramFaults, ForbiddenInstances) {
  const auto message = [](ProofShape s) -> std::string {
    try {
      make_proof_program(shared(std::move(s)));
    } catch (const ContractError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(described_shape(6, 3, fast_config())), "accepted");
  class One final : public AirInstance {
   public:
    explicit One(std::unique_ptr<Component> c) { components_.push_back(std::move(c)); }
  };
  const auto one = [&](std::unique_ptr<Component> c) {
    ProofShape s = *shape_of(wide_case("", 6, 3, "fast"));
    s.trees[1] = {{6}, c->info().mask_offsets[1], s.trees[1].height};
    s.instance = std::make_shared<One>(std::move(c));
    return message(std::move(s));
  };
  EXPECT_NE(one(std::make_unique<DescribedComponent<TooSteep>>("steep", 6, TooSteep{}))
                .find("component steep has a constraint of degree 4"),
            std::string::npos);
  EXPECT_NE(one(std::make_unique<DescribedComponent<FarMask>>("far", 6, FarMask{}))
                .find("component far opens a column at offsets other than"),
            std::string::npos);
}

// ---- digests ----

TEST(ProgramDigest, IsStable) {
  // Recorded once; a change here changes what every compiled plan is keyed by.
  const auto cases = test::small_cases();
  EXPECT_EQ(program_of(cases[0]).digest(),
            "f3c39f7a50755f0b53de8779636d3ad63e5dc83f5cbd46b6d765f96e6a33b554");
  EXPECT_EQ(program_of(cases[0]).semantic_digest(),
            "3b87f5cb015cae92dc720ebc51f755123c19030dc0b4215eea9604590820fe3d");
  EXPECT_EQ(program_of(cases[2]).digest(),
            "a63a1934f5e90ec1f807b4c36ed05de24949bfcd52aefd9c6e1e9acf0dfd6e1a");
  EXPECT_EQ(program_of(cases[2]).semantic_digest(),
            "8065352f4199c9723020bd5b2375a4f769737470771f2141e516c8e94eee9b24");
}

TEST(ProgramDigest, EveryFieldCounts) {
  const ProofProgram base = make_proof_program(shared(described_shape(6, 3, fast_config())));
  std::set<std::string> digests{base.digest()};
  std::set<std::string> meanings{base.semantic_digest()};
  const auto meant = [&](bool meaning, const Change& change) {
    ProofProgram p = base;
    change(p);
    EXPECT_TRUE(digests.insert(p.digest()).second);
    EXPECT_EQ(meanings.insert(p.semantic_digest()).second, meaning);
  };
  const auto execution = [&](const Change& change) { meant(false, change); };
  const auto semantics = [&](const Change& change) { meant(true, change); };

  semantics([](ProofProgram& p) { p.protocol += "x"; });
  semantics([](ProofProgram& p) { ++p.n_sampled_values; });
  semantics([](ProofProgram& p) { ++p.components[1].log_size; });
  semantics([](ProofProgram& p) { p.components[1].enabled = false; });
  semantics([](ProofProgram& p) { ++p.components[1].first_constraint; });
  semantics([](ProofProgram& p) { ++p.components[1].n_constraints; });
  semantics([](ProofProgram& p) { p.components[1].program.nodes[0].b += 1; });
  semantics([](ProofProgram& p) { p.components[1].program.constraints.pop_back(); });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].point_shift; });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].terms[0].tree; });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].terms[0].column; });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].terms[0].committed_log_size; });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].terms[0].value_index; });
  semantics([](ProofProgram& p) { ++p.quotient_chunks[1].terms[0].power; });
  semantics([](ProofProgram& p) { p.nodes[find(p, NodeKind::kMixU64)].value = 18; });
  semantics([](ProofProgram& p) { std::swap(p.nodes[1], p.nodes[2]); });
  semantics([](ProofProgram& p) { p.challenges[1].name = "oods_point"; });
  const std::function<void(ProofShape&)> shape_changes[] = {
      [](ProofShape& s) { s.statement.air += "x"; },
      [](ProofShape& s) { s.statement.channel = HashVariant::kBlake2sM31; },
      [](ProofShape& s) { s.statement.mix_config = true; },
      [](ProofShape& s) {
        s.statement.parameters.push_back({"n", 1});
      },
      [](ProofShape& s) {
        s.statement.parameters.push_back({"n", 2});
      },
      [](ProofShape& s) { ++s.config.pow_bits; },
      [](ProofShape& s) { ++s.config.fri.log_blowup_factor; },
      [](ProofShape& s) { ++s.config.fri.log_last_layer_degree_bound; },
      [](ProofShape& s) { ++s.config.fri.n_queries; },
      [](ProofShape& s) { ++s.config.fri.fold_step; },
      [](ProofShape& s) { s.config.lifting_log_size = 0; },
      [](ProofShape& s) { s.config.lifting_log_size = 7; },
      [](ProofShape& s) { ++s.trees[1].column_log_sizes[2]; },
      [](ProofShape& s) {
        s.trees[1].mask_offsets[2] = {0, -1};
      },
      [](ProofShape& s) { ++s.trees[1].height; },
      [](ProofShape& s) { ++s.spans[1].first_column[1]; },
      [](ProofShape& s) { ++s.spans[1].preprocessed[0]; },
      [](ProofShape& s) { ++s.spans[1].first_constraint; },
      [](ProofShape& s) { ++s.n_constraints; },
      [](ProofShape& s) { ++s.composition_log_size; },
      [](ProofShape& s) { ++s.lifting_log_size; },
      [](ProofShape& s) { ++s.max_degree_log_size; },
      [](ProofShape& s) { ++s.fri_layers[1].log_size; },
      [](ProofShape& s) { ++s.fri_layers[1].fold_step; },
  };
  for (const auto& change : shape_changes) semantics(reshape(change));

  execution([](ProofProgram& p) { ++p.version; });
  execution([](ProofProgram& p) { p.half_domain_composition = true; });
  execution([](ProofProgram& p) { p.components[0].name += "x"; });
  execution([](ProofProgram& p) { ++p.components[0].max_degree; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].log_size; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].offset; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].refs[1].tree; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].refs[1].column; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].refs[1].sample; });
  execution([](ProofProgram& p) { ++p.sample_groups[0].refs[1].value_index; });
  execution([](ProofProgram& p) { p.buffers[1].role = BufferRole::kNonce; });
  execution([](ProofProgram& p) { ++p.buffers[1].index; });
  execution([](ProofProgram& p) { ++p.buffers[1].bytes; });
  execution([](ProofProgram& p) { p.buffers[1].alignment = 256; });
  execution([](ProofProgram& p) { p.buffers[1].lifetime = BufferLifetime::kTerminalHost; });
  execution([](ProofProgram& p) { p.buffers[1].written_once = !p.buffers[1].written_once; });
  execution([](ProofProgram& p) { ++p.buffers[1].first_node; });
  execution([](ProofProgram& p) { ++p.buffers[1].last_node; });
  execution([](ProofProgram& p) { ++p.challenges[1].drawn_by; });
  execution([](ProofProgram& p) { ++p.challenges[1].consumers[0]; });
  const auto hash = [](ProofProgram& p) -> ProofNode& {
    return p.nodes[find(p, NodeKind::kHashTree, 1)];
  };
  execution([&](ProofProgram& p) { hash(p).kind = NodeKind::kFriHash; });
  execution([&](ProofProgram& p) { hash(p).stage = Stage::kOods; });
  execution([&](ProofProgram& p) { ++hash(p).index; });
  execution([&](ProofProgram& p) { ++hash(p).sub_index; });
  execution([&](ProofProgram& p) { ++hash(p).value; });
  execution([&](ProofProgram& p) { ++hash(p).reads[0]; });
  execution([&](ProofProgram& p) { ++hash(p).writes[0]; });
  execution([&](ProofProgram& p) { hash(p).challenges = {0}; });
  execution([&](ProofProgram& p) { hash(p).depends_on.pop_back(); });
  execution([&](ProofProgram& p) { ++hash(p).work.field_mul; });
  execution([&](ProofProgram& p) { ++hash(p).work.compressions; });
  execution([&](ProofProgram& p) { ++hash(p).work.bytes_read; });
  execution([&](ProofProgram& p) { ++hash(p).work.bytes_written; });
}

TEST(ProgramDigest, ListsAreDelimited) {
  // The same numbers, split differently between two lists.
  ProofProgram a = sound();
  ProofProgram b = a;
  a.nodes[4].reads = {1, 2};
  a.nodes[4].writes = {3};
  b.nodes[4].reads = {1};
  b.nodes[4].writes = {2, 3};
  EXPECT_NE(a.digest(), b.digest());
}

TEST(ProgramDigest, StatementsDiffer) {
  std::set<std::string> digests;
  for (const auto& shape : spread_of_shapes()) {
    EXPECT_TRUE(digests.insert(make_proof_program(shape).semantic_digest()).second)
        << label(*shape);
  }
}

// ---- text ----

TEST(ProofProgram, TextHasALineANode) {
  const ProofProgram p = sound();
  const std::string text = to_text(p);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<int64_t>(p.nodes.size()));
  EXPECT_NE(text.find("mix_config"), std::string::npos);
  EXPECT_NE(text.find("evaluate_constraints second"), std::string::npos);
  EXPECT_NE(text.find("after"), std::string::npos);
}

TEST(ProofProgram, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (uint8_t k = 0; k <= static_cast<uint8_t>(NodeKind::kAssemble); ++k) {
    EXPECT_TRUE(names.insert(node_kind_name(static_cast<NodeKind>(k))).second);
  }
  names.clear();
  for (uint8_t r = 0; r <= static_cast<uint8_t>(BufferRole::kProof); ++r) {
    EXPECT_TRUE(names.insert(buffer_role_name(static_cast<BufferRole>(r))).second);
  }
  EXPECT_EQ(node_kind_name(NodeKind::kGenerateTrace), "generate_trace");
  EXPECT_EQ(buffer_lifetime_name(BufferLifetime::kTerminalHost), "terminal_host");
}

}  // namespace
}  // namespace stwo
