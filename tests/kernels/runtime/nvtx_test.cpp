// The ranges a profiler sees of a proof: one domain, a request, its stages in order under their own
// names, a pass per launch with the plan's bytes, all balanced.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "kernels/cuda_backend.hpp"
#include "kernels/emulator/emulated_runtime.hpp"
#include "prover/prove.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {
namespace {

struct Push {
  uint32_t category;
  uint64_t payload;
  std::string name;
  size_t depth;
};

TEST(Nvtx, AProofIsARequestOfStagesOfPasses) {
  // Before the program's first range: NVTX looks for a profiler once.
  ASSERT_EQ(setenv("NVTX_INJECTION64_PATH", STWO_TEST_NVTX_RECORDER, 1), 0);
  auto emulated = make_emulated_runtime();
  CudaBackend backend(std::move(emulated.runtime), "test");
  const auto shape = make_shape(test::fibonacci(4, 3), parse_config("pow=3"));
  const auto prepared = backend.prepare(shape);
  prove(*prepared);
  prove(*prepared);

  void* recorder = dlopen(STWO_TEST_NVTX_RECORDER, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(recorder, nullptr) << "NVTX did not load the recorder";
  const auto recorded = reinterpret_cast<const char* (*)()>(dlsym(recorder, "stwo_nvtx_recorded"));
  ASSERT_NE(recorded, nullptr);

  std::vector<std::string> head;
  std::vector<Push> pushes;
  size_t depth = 0;
  std::istringstream text(recorded());
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "push") {
      Push p;
      words >> p.category >> p.payload >> std::ws;
      std::getline(words, p.name);
      p.depth = depth++;
      pushes.push_back(p);
    } else if (what == "pop") {
      ASSERT_GT(depth, 0u);
      --depth;
    } else {
      head.push_back(line);
    }
  }
  EXPECT_EQ(depth, 0u);
  EXPECT_EQ(head, (std::vector<std::string>{"domain stwo.prover", "category 1 request",
                                            "category 2 stage", "category 3 pass"}));

  const auto program = std::make_shared<const ProofProgram>(make_proof_program(shape));
  const CudaPlan plan = compile_plan(program, backend.target());
  std::vector<std::string> expected_passes;
  std::vector<uint64_t> expected_bytes;
  for (const PlanLaunch& l : plan.launches) {
    expected_passes.push_back(l.pass);
    uint64_t bytes = 0;
    for (const BufferUse& u : l.uses) bytes += u.read_bytes + u.written_bytes;
    expected_bytes.push_back(bytes);
  }
  for (uint64_t request = 0; request < 2; ++request) {
    // A request's pushes are those up to the next request's.
    const auto is_request = [](const Push& p) { return p.category == 1; };
    auto begin = std::find_if(pushes.begin(), pushes.end(), is_request);
    if (request == 1) begin = std::find_if(begin + 1, pushes.end(), is_request);
    ASSERT_NE(begin, pushes.end());
    const auto end = std::find_if(begin + 1, pushes.end(), is_request);
    EXPECT_EQ(begin->name, "request");
    EXPECT_EQ(begin->payload, request);
    EXPECT_EQ(begin->depth, 0u);
    std::vector<std::string> stages;
    std::vector<std::string> passes;
    std::vector<uint64_t> bytes;
    for (auto p = begin + 1; p != end; ++p) {
      EXPECT_EQ(p->depth, p->category - 1) << p->name;
      (p->category == 2 ? stages : passes).push_back(p->name);
      if (p->category == 3) bytes.push_back(p->payload);
    }
    std::vector<std::string> expected_stages;
    for (size_t s = 0; s < kStageCount; ++s) {
      expected_stages.emplace_back(stage_name(static_cast<Stage>(s)));
    }
    EXPECT_EQ(stages, expected_stages);
    EXPECT_EQ(passes, expected_passes);
    EXPECT_EQ(bytes, expected_bytes);
  }
}

}  // namespace
}  // namespace stwo::gpu
