// Kernels as text: compiled for the host they compute what their programs say.

#include "kernels/research/codegen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "kernels/research/parity.hpp"
#include "prover/air/component.hpp"
#include "prover/cpu/memory.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "tests/kernels/research/host_kernels.hpp"
#include "tests/support/random.hpp"

namespace stwo::gpu {
namespace {

using research_cases::all_cases;
using research_cases::host_kernel;

TEST(ResearchCodegen, TextComputesWhatTheProgramSays) {
  for (const auto& c : all_cases()) {
    const auto kernel = host_kernel(c.name);
    ASSERT_NE(kernel.rows, nullptr) << c.name;
    const ParityResult r = check_parity(
        c.program, [&](const ParityInput& in) { return run_host_rows(kernel.rows, in); });
    EXPECT_EQ(r.mismatches, 0u) << c.name << ": " << r.first_mismatch;
    EXPECT_EQ(r.rows, 4u + 4 + 16 + 128 + 1024);
  }
}

TEST(ResearchCodegen, TextComputesWhatTheProgramSaysOnFreshData) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (const auto& c : all_cases()) {
    const auto kernel = host_kernel(c.name);
    const ParityResult r = check_parity(
        c.program, [&](const ParityInput& in) { return run_host_rows(kernel.rows, in); },
        rng.below(UINT64_MAX));
    EXPECT_EQ(r.mismatches, 0u) << c.name << ": " << r.first_mismatch;
  }
}

TEST(ResearchCodegen, EdgesOfTheField) {
  for (const auto& c : all_cases()) {
    for (const uint32_t edge : {0u, 1u, kP - 1}) {
      ParityInput in = parity_input(c.program, 3, 4, 1);
      for (auto& column : in.columns) std::fill(column.begin(), column.end(), edge);
      std::fill(in.weights.begin(), in.weights.end(), kP - 1);
      in.inverse_vanishing = {kP - 1, 1};
      EXPECT_EQ(run_host_rows(host_kernel(c.name).rows, in), expected_output(c.program, in))
          << c.name << " " << edge;
    }
  }
}

TEST(ResearchCodegen, OffsetsOnTheTraceDomainItself) {
  const auto cases = all_cases();
  const auto c = std::find_if(cases.begin(), cases.end(),
                              [](const auto& x) { return x.name == "every_request"; });
  for (const uint32_t log : {1u, 2u, 3u, 6u}) {
    ParityInput in = parity_input(c->program, log, log + 1, log);
    in.domain_log_size = log;
    in.n_rows = uint64_t{1} << log;
    EXPECT_EQ(run_host_rows(host_kernel(c->name).rows, in), expected_output(c->program, in)) << log;
  }
}

/// The CPU prover's own vector kernel on the same rows.
template <class Script>
void expect_row_kernels(const std::string& name, const Script& script) {
  const ScriptComponent<Script> component(name, 6, script);
  const ConstraintProgram program = component.record();
  const ParityInput in = parity_input(program, 6, 7, 99);
  ConstraintRows rows;
  std::vector<cpu::Buffer<M31>> storage;
  for (const auto& column : in.columns) {
    auto& b = storage.emplace_back(column.size());
    for (size_t i = 0; i < column.size(); ++i) b[i] = M31(column[i]);
  }
  rows.tree_columns.resize(2);
  const auto columns = research_columns(program);
  for (size_t i = 0; i < columns.size(); ++i) {
    auto& list = columns[i].preprocessed ? rows.preprocessed : rows.tree_columns[1];
    list.push_back(storage[i].data());
  }
  std::vector<QM31> weights;
  for (size_t k = 0; k < program.constraints.size(); ++k) {
    const uint32_t* w = in.weights.data() + 4 * k;
    weights.push_back(QM31::from_u32(w[0], w[1], w[2], w[3]));
  }
  rows.coefficients = weights.data();
  for (uint32_t b = 0; b < 2; ++b) rows.inverse_vanishing[b] = M31(in.inverse_vanishing[b]);
  rows.trace_log_size = in.trace_log_size;
  rows.domain_log_size = in.domain_log_size;
  std::vector<cpu::Buffer<M31>> out;
  for (M31*& o : rows.out) o = out.emplace_back(in.n_rows).data();
  component.kernels().constraints(component.script(), rows, 0, in.n_rows);
  const ParityOutput got = run_host_rows(host_kernel(name).rows, in);
  for (uint32_t k = 0; k < 4; ++k) {
    for (uint64_t r = 0; r < in.n_rows; ++r) ASSERT_EQ(got[k][r], out[k][r].v) << name << " " << r;
  }
}

TEST(ResearchCodegen, AgreesWithTheProversRowKernels) {
  expect_row_kernels("fib_1", air::WideFibonacciScript{1});
  expect_row_kernels("fib_8", air::WideFibonacciScript{8});
  expect_row_kernels("fib_100", air::WideFibonacciScript{100});
  expect_row_kernels("seq_8", air::WideFibonacciSeqScript{8});
}

TEST(ResearchCodegen, TextNamesItsProgram) {
  std::set<std::string> texts;
  for (const auto& c : all_cases()) {
    const std::string digest = to_hex(c.program.digest());
    const std::string text = generate_constraint_kernel(c.program, {c.name, 256});
    EXPECT_EQ(host_kernel(c.name).program.substr(0, 64), digest);
    EXPECT_NE(text.find("// program " + digest + "\n"), std::string::npos);
    EXPECT_NE(text.find("= \"" + digest + "\";"), std::string::npos);
    EXPECT_EQ(text, generate_constraint_kernel(c.program, {c.name, 256}));
    EXPECT_EQ(text.find("#include"), std::string::npos);
    EXPECT_TRUE(texts.insert(generate_constraint_kernel(c.program, {"same_name", 256})).second);
  }
}

TEST(ResearchCodegen, GoldenText) {
  // Recorded once: a new text for an old program needs a new kResearchCodegenVersion.
  std::ifstream file(STWO_RESEARCH_GOLDEN);
  std::stringstream golden;
  golden << file.rdbuf();
  ASSERT_FALSE(golden.str().empty()) << STWO_RESEARCH_GOLDEN;
  EXPECT_EQ(kResearchCodegenVersion, 1u);
  EXPECT_EQ(generate_constraint_kernel(record_constraints(research_cases::EveryRequestScript{}),
                                       {"every_request", 256}),
            golden.str());
}

TEST(ResearchCodegen, OnlyWhatIsNeeded) {
  const auto text = [](const auto& script) {
    return generate_constraint_kernel(record_constraints(script), {"c", 128});
  };
  EXPECT_EQ(text(air::WideFibonacciScript{4}).find("offset_row"), std::string::npos);
  EXPECT_NE(text(research_cases::EveryRequestScript{}).find("row_minus_2 = offset_row(row, -2"),
            std::string::npos);
  EXPECT_NE(text(air::WideFibonacciScript{4}).find("__launch_bounds__(128)"), std::string::npos);
}

TEST(ResearchCodegen, ColumnsTreeByTreeThenPreprocessed) {
  const auto columns = research_columns(record_constraints(research_cases::MixedScript{}));
  ASSERT_EQ(columns.size(), 2u + 4 + 4 + 2);
  EXPECT_EQ(columns[1].tree, 1u);
  EXPECT_EQ(columns[2].tree, 2u);
  EXPECT_EQ(columns[9].tree, 3u);
  EXPECT_EQ(columns[9].column, 3u);
  EXPECT_FALSE(columns[9].preprocessed);
  EXPECT_TRUE(columns[10].preprocessed);
  EXPECT_EQ(columns[11].column, 1u);
}

TEST(ResearchCodegen, Refusals) {
  const ConstraintProgram program = record_constraints(air::WideFibonacciScript{4});
  const auto code = [&](const ConstraintProgram& p, const std::string& name, uint32_t threads) {
    try {
      generate_constraint_kernel(p, {name, threads});
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.code();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(code(program, "a_1", 1024), "accepted");
  for (const std::string name : {"", "1a", "A", "a-b", "a b", "a;", "_a", "\xc3\xa4"}) {
    EXPECT_EQ(code(program, name, 256), "COMPONENT") << name;
  }
  EXPECT_EQ(code(program, std::string(65, 'a'), 256), "COMPONENT");
  for (const uint32_t threads : {0u, 1u, 48u, 1056u}) {
    EXPECT_EQ(code(program, "a", threads), "NUMBER") << threads;
  }
  ConstraintProgram broken = program;
  broken.nodes[0].b = 99;
  EXPECT_EQ(code(broken, "a", 256), "CONTRACT");
  // Coordinates that are no base values.
  broken = record_constraints(research_cases::EveryRequestScript{});
  ProgramNode nested{ProgramOp::kSecureFromCoordinates};
  nested.secure = true;
  for (uint32_t i = 0; i < broken.nodes.size(); ++i) {
    if (broken.nodes[i].secure) nested.a = i;
  }
  broken.nodes.push_back(nested);
  EXPECT_EQ(code(broken, "a", 256), "CONTRACT");
}

TEST(ResearchParity, FindsAWrongKernel) {
  const auto cases = all_cases();
  const auto& c = cases[2];
  const auto wrong = [&](const std::function<void(ParityOutput&)>& spoil) {
    return check_parity(c.program, [&](const ParityInput& in) {
      ParityOutput out = expected_output(c.program, in);
      spoil(out);
      return out;
    });
  };
  EXPECT_EQ(wrong([](ParityOutput&) {}).mismatches, 0u);
  const ParityResult one = wrong([](ParityOutput& o) { o[2][1] ^= 1; });
  EXPECT_EQ(one.mismatches, 5u);
  EXPECT_NE(one.first_mismatch.find("2^1 rows, row 1: expected "), std::string::npos);
  const ParityResult all = wrong([](ParityOutput& o) { o[3].pop_back(); });
  EXPECT_EQ(all.mismatches, all.rows);
  // Another program's kernel.
  const ParityResult other = check_parity(
      c.program, [&](const ParityInput& in) { return expected_output(cases[1].program, in); });
  EXPECT_GT(other.mismatches, 0u);
}

TEST(ResearchParity, InputIsReproducibleAndCanonical) {
  const auto cases = all_cases();
  for (const auto& c : cases) {
    const ParityInput a = parity_input(c.program, 4, 6, 7);
    const ParityInput b = parity_input(c.program, 4, 6, 7);
    EXPECT_EQ(a.columns, b.columns);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.n_rows, 32u);
    for (const auto& column : a.columns) {
      EXPECT_EQ(column.size(), 64u);
      for (const uint32_t v : column) EXPECT_LT(v, kP);
    }
  }
  EXPECT_NE(parity_input(cases[2].program, 4, 6, 7).columns,
            parity_input(cases[2].program, 4, 6, 8).columns);
}

}  // namespace
}  // namespace stwo::gpu
