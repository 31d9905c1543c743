// Statements and the AIR registry.

#include "prover/air/air.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prover/errors.hpp"

namespace stwo {
namespace {

using Parameters = std::vector<std::pair<std::string, uint64_t>>;

std::string error_of(const std::string& air, Parameters parameters) {
  try {
    const Air& a = AirRegistry::global().find(air);
    a.complete({air, HashVariant::kBlake2s, false, std::move(parameters)});
  } catch (const UsageError& e) {
    return e.code() + ": " + e.what();
  }
  return "accepted";
}

TEST(AirRegistry, KnowsTheWideFibonacciFamily) {
  for (const char* name : {"wide_fibonacci", "wide_fibonacci_pair", "wide_fibonacci_seq"}) {
    EXPECT_EQ(AirRegistry::global().find(name).name(), name);
  }
  try {
    AirRegistry::global().find("poseidon");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_EQ(e.code(), "AIR_UNKNOWN");
    EXPECT_NE(std::string(e.what()).find("wide_fibonacci_pair"), std::string::npos);
  }
}

TEST(AirComplete, OrderAndDefaults) {
  const Air& air = AirRegistry::global().find("wide_fibonacci_seq");
  const Statement s = air.complete({"wide_fibonacci_seq",
                                    HashVariant::kBlake2sM31,
                                    true,
                                    {{"sequence_len", 4}, {"log_n_rows", 3}}});
  EXPECT_EQ(s.parameters,
            (Parameters{{"log_n_rows", 3}, {"sequence_len", 4}, {"unused_log_n_rows", 0}}));
  EXPECT_EQ(s.channel, HashVariant::kBlake2sM31);
  EXPECT_TRUE(s.mix_config);
  EXPECT_EQ(s.parameter("sequence_len"), 4u);
  EXPECT_THROW(s.parameter("size"), ContractError);
}

TEST(AirComplete, Errors) {
  EXPECT_EQ(
      error_of("wide_fibonacci", {{"log_n_rows", 3}}),
      "AIR_PARAMETER: wide_fibonacci: parameter 'sequence_len' is missing; number of columns");
  EXPECT_EQ(error_of("wide_fibonacci", {{"log_n_rows", 30}, {"sequence_len", 3}}),
            "AIR_PARAMETER: wide_fibonacci: parameter 'log_n_rows' is 30; it must be between 1 and "
            "29");
  EXPECT_EQ(
      error_of("wide_fibonacci", {{"log_n_rows", 3}, {"sequence_len", 0}}),
      "AIR_PARAMETER: wide_fibonacci: parameter 'sequence_len' is 0; it must be between 1 and "
      "65536");
  EXPECT_EQ(error_of("wide_fibonacci", {{"log_n_rows", 3}, {"log_n_rows", 3}}),
            "AIR_PARAMETER: wide_fibonacci: parameter 'log_n_rows' is given twice; give it once");
  EXPECT_EQ(error_of("wide_fibonacci", {{"rows", 3}}),
            "AIR_PARAMETER: wide_fibonacci: unknown parameter 'rows'; its parameters are "
            "log_n_rows, sequence_len");
}

TEST(Channels, Names) {
  for (const HashVariant v : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
    EXPECT_EQ(parse_channel(channel_name(v)), v);
  }
  EXPECT_THROW(parse_channel("poseidon252"), UsageError);
}

TEST(Transcript, ConfigThenTrees) {
  const Air& air = AirRegistry::global().find("wide_fibonacci");
  Statement s = air.complete(
      {"wide_fibonacci", HashVariant::kBlake2s, true, {{"log_n_rows", 3}, {"sequence_len", 3}}});
  const auto instance = air.instantiate(s);
  const auto steps = instance->transcript(s);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].kind, TranscriptStep::Kind::kMixConfig);
  EXPECT_EQ(steps[1].kind, TranscriptStep::Kind::kCommitTree);
  EXPECT_EQ(steps[1].value, 0u);
  EXPECT_EQ(steps[2].value, 1u);
  s.mix_config = false;
  EXPECT_EQ(instance->transcript(s).size(), 2u);
}

TEST(WideFibonacci, PreprocessedColumns) {
  const Air& air = AirRegistry::global().find("wide_fibonacci_seq");
  const Statement s =
      air.complete({"wide_fibonacci_seq",
                    HashVariant::kBlake2s,
                    false,
                    {{"log_n_rows", 3}, {"sequence_len", 3}, {"unused_log_n_rows", 5}}});
  const auto instance = air.instantiate(s);
  ASSERT_EQ(instance->preprocessed().size(), 2u);
  EXPECT_EQ(instance->preprocessed()[1].log_size, 5u);
  std::vector<M31> column(8, M31(77));
  instance->preprocessed()[0].fill(column);
  for (uint32_t r = 0; r < 8; ++r) EXPECT_EQ(column[r], M31(r));
  instance->preprocessed()[1].fill(column);
  for (const M31 v : column) EXPECT_TRUE(v.is_zero());
}

}  // namespace
}  // namespace stwo
