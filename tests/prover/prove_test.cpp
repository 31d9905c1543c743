// The whole prover: published vectors, independence of threads and of the request number, and what
// happens with a false trace.

#include "prover/prove.hpp"
#include "prover/hash/hex.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "prover/cpu/cpu_backend.hpp"
#include "prover/cpu/cpu_shape.hpp"
#include "prover/errors.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/verify.hpp"

namespace stwo {
namespace {

Statement statement(std::string air, HashVariant channel,
                    std::vector<std::pair<std::string, uint64_t>> parameters) {
  Statement s;
  s.air = std::move(air);
  s.channel = channel;
  s.parameters = std::move(parameters);
  return s;
}

struct Proved {
  StarkProof proof;
  std::map<std::string, std::string> digests;  ///< after each transcript step
};

Proved run(const Statement& s, const PcsConfig& config, uint32_t threads = 1) {
  const auto backend = make_cpu_backend(threads);
  const auto shape = make_shape(s, config);
  const auto prepared = backend->prepare(shape);
  Proved r;
  r.proof = prove(*prepared, nullptr, [&](std::string_view step, const Digest& digest) {
    r.digests[std::string(step)] = to_hex(digest);
  });
  const VerifyResult result = verify(*shape, r.proof);
  EXPECT_TRUE(result.accepted()) << reject_reason_name(result.reason) << " " << result.detail;
  return r;
}

/// Vectors produced with the Rust prover and confirmed against the crate 2.3.0 by tests/oracle.
struct Vector {
  const char* name;
  Statement statement;
  const char* tree0;
  const char* tree1;
  const char* composition;
  const char* after_samples;
  uint64_t nonce;
  const char* final_digest;
  size_t n_samples;
};

class ProveVectors : public ::testing::TestWithParam<Vector> {};

constexpr const char* kEmptyTree =
    "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9";
constexpr const char* kEmptyTreeM31 =
    "69217a307a908014e211215042354a7c1f55b6482ca1a51e1c250d7d1fd0ee79";

INSTANTIATE_TEST_SUITE_P(
    WideFibonacci, ProveVectors,
    ::testing::Values(
        Vector{"plain",
               statement("wide_fibonacci", HashVariant::kBlake2s,
                         {{"log_n_rows", 4}, {"sequence_len", 100}}),
               kEmptyTree, "e1e421e8674047a1cd934b498ff210361a7389f90f3edd112bdc6eff73fe5041",
               "969855217a50793f286c837fa392440fb7c3e3ea70606069070d3c0d6bb167d1",
               "b64716452e6d5e9a5128edc966b795a7d70164a449d4041aead3e3a573fd3ab3", 365,
               "a12813cdde81a07a13e00941dee5675dc3a5079e96b6e455bb51e69214af0ae7", 108},
        Vector{"m31",
               statement("wide_fibonacci", HashVariant::kBlake2sM31,
                         {{"log_n_rows", 4}, {"sequence_len", 100}}),
               kEmptyTreeM31, "c97a2937ecc5b431dc21a66fb4a1dc0c7773971a55ed5619fdcc3e407285851a",
               "d02dd233a5332c73e1e4fb0219043b6a0b86925350d66b51a388c4310a70d31e",
               "c6d8dc6d2d430f41f83cc2686995ee576b775b24ee8cd004a2a4152ae14b8e6b", 229,
               "d6893b1ce04414546c25dd2b3c96f03312fd1065b970f1056fba3f6f2bebde75", 108},
        Vector{"pair",
               statement("wide_fibonacci_pair", HashVariant::kBlake2s,
                         {{"log_n_rows", 9},
                          {"sequence_len", 4},
                          {"second_log_n_rows", 3},
                          {"second_sequence_len", 5}}),
               kEmptyTree, "1130e3fd30236d939cb98dd687b01a89cb6c619e3b324fca8f2b544710230af6",
               "7439c66d1225ae50147905d8adf6451b5af98506ff6371385914c1590322444a",
               "3e57b78df8a3194d398fe100a2f781a8edca119931b27f62eb6a5931d56b2ca0", 248,
               "3b0c08ed66c558f77e2f32dc543f09dd3d4fbd10665a8c547cf8245a6bfc07ac", 17},
        Vector{"seq",
               statement("wide_fibonacci_seq", HashVariant::kBlake2s,
                         {{"log_n_rows", 4}, {"sequence_len", 3}, {"unused_log_n_rows", 5}}),
               "297b9fb6ab85dec2a0cce0fa36b5132b57e21e71d6daa73d3e7b41759bc5fc37",
               "68dee407156f24e315feb6d1bc0f5a92bfa68e2fad454a6086cd4e7a22488437",
               "4cf06cb030209d08d17dbc1bc856a85aa43ddf3e4399eea89ca447cf1d9e3671",
               "65ce63da575fa0f7bec2bc0ba92d4eb1bf638ca4a23555ca32955e25dfab5964", 360,
               "74deb65fd8b15f5a8d6ba452763705f6ee1e43ff6d69e37959341f29a16c4302", 12}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(ProveVectors, EveryStepMatches) {
  const Vector& v = GetParam();
  const Proved r = run(v.statement, fast_config());
  EXPECT_EQ(to_hex(r.proof.commitments[0]), v.tree0);
  EXPECT_EQ(to_hex(r.proof.commitments[1]), v.tree1);
  EXPECT_EQ(to_hex(r.proof.commitments[2]), v.composition);
  EXPECT_EQ(r.digests.at("sampled_values"), v.after_samples);
  EXPECT_EQ(r.proof.proof_of_work, v.nonce);
  EXPECT_EQ(r.digests.at("pow_nonce"), v.final_digest);
  size_t n_samples = 0;
  for (const auto& tree : r.proof.sampled_values) {
    for (const auto& column : tree) n_samples += column.size();
  }
  EXPECT_EQ(n_samples, v.n_samples);
}

TEST(Prove, BytesDoNotDependOnThreadsOrRequest) {
  const auto s = statement("wide_fibonacci_pair", HashVariant::kBlake2s,
                           {{"log_n_rows", 11},
                            {"sequence_len", 21},
                            {"second_log_n_rows", 6},
                            {"second_sequence_len", 9}});
  const PcsConfig config = parse_config("pow=12,blowup=2,queries=20,last=1,fold=2");
  const std::string expected = write_proof_json(run(s, config).proof);
  EXPECT_EQ(write_proof_json(run(s, config, 3).proof), expected);
  const auto backend = make_cpu_backend(2);
  const auto prepared = backend->prepare(make_shape(s, config));
  for (int request = 0; request < 5; ++request) {
    ASSERT_EQ(write_proof_json(prove(*prepared)), expected) << request;
  }
}

TEST(Prove, BothCompositionPathsGiveTheSameBytes) {
  const auto backend = make_cpu_backend(2);
  const auto compare = [&](const Statement& s, const char* config) {
    const auto prepared = backend->prepare(make_shape(s, parse_config(config)));
    const std::string half = write_proof_json(prove(*prepared));
    dynamic_cast<cpu::CpuShape&>(*prepared).full_domain_composition = true;
    EXPECT_EQ(write_proof_json(prove(*prepared)), half) << s.air << " " << config;
  };
  for (const char* config : {"fast", "blowup=2,last=1,fold=2", "blowup=3,queries=9"}) {
    for (const uint64_t log : {4u, 5u, 9u}) {
      compare(statement("wide_fibonacci", HashVariant::kBlake2s,
                        {{"log_n_rows", log}, {"sequence_len", 17}}),
              config);
      compare(statement("wide_fibonacci_pair", HashVariant::kBlake2sM31,
                        {{"log_n_rows", 7},
                         {"sequence_len", 4},
                         {"second_log_n_rows", log},
                         {"second_sequence_len", 6}}),
              config);
    }
  }
  for (const char* config : {"blowup=1,lift=8", "blowup=2,lift=12,fold=3"}) {
    compare(statement("wide_fibonacci_seq", HashVariant::kBlake2s,
                      {{"log_n_rows", 6}, {"sequence_len", 5}}),
            config);
  }
}

TEST(Prove, MixedConfigIsAnotherTranscript) {
  auto s =
      statement("wide_fibonacci", HashVariant::kBlake2s, {{"log_n_rows", 5}, {"sequence_len", 6}});
  const Proved plain = run(s, fast_config());
  s.mix_config = true;
  const Proved mixed = run(s, fast_config());
  EXPECT_EQ(plain.proof.commitments[1], mixed.proof.commitments[1]);
  EXPECT_NE(plain.proof.commitments[2], mixed.proof.commitments[2]);
  EXPECT_EQ(mixed.digests.count("mix_config"), 1u);
}

TEST(Prove, DisabledComponentStillProves) {
  const Proved r = run(statement("wide_fibonacci_pair", HashVariant::kBlake2s,
                                 {{"log_n_rows", 9},
                                  {"sequence_len", 4},
                                  {"second_log_n_rows", 4},
                                  {"second_sequence_len", 5},
                                  {"second_enabled", 0}}),
                       fast_config());
  for (size_t c = 4; c < 9; ++c) EXPECT_TRUE(r.proof.sampled_values[1][c][0].is_zero());
}

/// A session whose trace is spoilt between generation and commitment.
TEST(Prove, FalseTraceNeverLeavesTheProver) {
  const auto shape = make_shape(
      statement("wide_fibonacci", HashVariant::kBlake2s, {{"log_n_rows", 6}, {"sequence_len", 20}}),
      fast_config());
  const auto backend = make_cpu_backend(1);
  const auto prepared = backend->prepare(shape);
  auto& cpu_shape = dynamic_cast<cpu::CpuShape&>(*prepared);
  const auto prove_with = [&](auto spoil) {
    const auto session = prepared->begin();
    session->ingress();
    session->trace_generation(0);
    session->trace_commit(0);
    session->trace_generation(1);
    spoil();
    session->trace_commit(1);
    session->constraint_evaluation();
    session->oods();
  };
  EXPECT_NO_THROW(prove_with([] {}));
  // The upstream negative case: column 17 of row 2 is 1.
  EXPECT_THROW(prove_with([&] { cpu_shape.trees[1].columns[17][2] = M31(1); }),
               ConstraintsNotSatisfied);
  // One wrong cell in any column is enough.
  for (const size_t column : {0u, 1u, 2u, 10u, 19u}) {
    EXPECT_THROW(prove_with([&] { cpu_shape.trees[1].columns[column][33] += M31(1); }),
                 ConstraintsNotSatisfied)
        << column;
  }
  // And the prepared shape is still good.
  EXPECT_TRUE(verify(*shape, prove(*prepared)).accepted());
}

TEST(Prove, ObserverSeesEveryStageOnceInOrder) {
  class Log final : public StageObserver {
   public:
    void begin(Stage stage) override { log.push_back(std::string(stage_name(stage))); }
    void end(Stage stage) override { EXPECT_EQ(log.back(), stage_name(stage)); }
    std::vector<std::string> log;
  };
  const auto backend = make_cpu_backend(1);
  const auto prepared = backend->prepare(make_shape(
      statement("wide_fibonacci", HashVariant::kBlake2s, {{"log_n_rows", 4}, {"sequence_len", 3}}),
      fast_config()));
  Log log;
  prove(*prepared, &log);
  const std::vector<std::string> expected = {"ingress",      "trace_generation",
                                             "trace_commit", "trace_generation",
                                             "trace_commit", "constraint_evaluation",
                                             "oods",         "quotient",
                                             "fri_commit",   "pow",
                                             "decommit",     "proof_assembly"};
  EXPECT_EQ(log.log, expected);
}

TEST(Prepare, RefusesWhatDoesNotFitInMemory) {
  const auto backend = make_cpu_backend(1);
  const auto shape = make_shape(statement("wide_fibonacci", HashVariant::kBlake2s,
                                          {{"log_n_rows", 29}, {"sequence_len", 65536}}),
                                fast_config());
  try {
    backend->prepare(shape);
    FAIL() << "prepared petabytes";
  } catch (const EnvironmentError& e) {
    EXPECT_EQ(e.code(), "OUT_OF_MEMORY");
  }
}

TEST(Prepare, MemoryPlanIsWhatIsAllocated) {
  const auto backend = make_cpu_backend(1);
  const auto prepared = backend->prepare(make_shape(
      statement("wide_fibonacci", HashVariant::kBlake2s, {{"log_n_rows", 10}, {"sequence_len", 8}}),
      fast_config()));
  const auto& shape = dynamic_cast<const cpu::CpuShape&>(*prepared);
  uint64_t arena = shape.last_layer.c[1] - shape.last_layer.c[0];
  arena *= 16;
  for (const auto& tree : shape.trees) arena += tree.values.bytes() + tree.hashes.bytes();
  for (size_t i = 0; i < shape.fri_values.size(); ++i) {
    arena += 16 * static_cast<uint64_t>(shape.fri_values[i].c[1] - shape.fri_values[i].c[0]);
    arena += shape.fri_trees[i].bytes();
  }
  EXPECT_EQ(prepared->memory().arena_bytes, arena);
  EXPECT_EQ(prepared->memory().tables_bytes,
            shape.twiddles().bytes() + shape.domain_x.bytes() + shape.domain_y.bytes());
}

}  // namespace
}  // namespace stwo
