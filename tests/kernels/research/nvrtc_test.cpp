// The run-time compiler: loading, compiling for several SMs, and its errors. No GPU is needed;
// without the library all but the errors of loading are skipped.

#include "kernels/research/nvrtc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/research/codegen.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "tests/kernels/research/nvrtc_for_tests.hpp"
#include "tests/kernels/research/research_cases.hpp"

namespace stwo::gpu {
namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.code() + ": " + e.what();
  }
  return "accepted";
}

TEST(NvrtcLoad, MissingOrForeignFiles) {
  EXPECT_EQ(error_of([] {
              Nvrtc::load("/nowhere/libnvrtc.so.13");
            }).find("NVRTC: NVRTC cannot be loaded: /nowhere/libnvrtc.so.13"),
            0u);
  // Not searched for by name: a file of the current folder.
  EXPECT_NE(error_of([] { Nvrtc::load("libm.so.6"); }).find("./libm.so.6"), std::string::npos);
  // A library, but another one.
  EXPECT_NE(error_of([] {
              Nvrtc::load(STWO_TEST_OTHER_LIBRARY);
            }).find("has no nvrtcGetErrorString; install the CUDA 13 toolkit"),
            std::string::npos);
}

TEST(Nvrtc, CompilesEveryCase) {
  STWO_REQUIRE_NVRTC(nvrtc);
  EXPECT_EQ(nvrtc->version().substr(0, 3), "13.");
  const auto& sms = nvrtc->supported_sms();
  EXPECT_TRUE(std::binary_search(sms.begin(), sms.end(), 90u));
  for (const auto& c : research_cases::all_cases()) {
    const std::string text = generate_constraint_kernel(c.program, {c.name, 256});
    const CompiledText compiled = nvrtc->compile(text, c.name + ".cu", 90);
    const std::string cubin(compiled.cubin.begin(), compiled.cubin.end());
    EXPECT_EQ(cubin.substr(0, 4),
              "\x7f"
              "ELF")
        << c.name;
    EXPECT_NE(cubin.find(research_kernel_name(c.name)), std::string::npos);
    EXPECT_NE(cubin.find(to_hex(c.program.digest())), std::string::npos);
    EXPECT_EQ(compiled.log.find("warning"), std::string::npos) << compiled.log;
    EXPECT_TRUE(compiled.resources.known) << compiled.log;
    EXPECT_GT(compiled.resources.registers, 0u);
  }
}

TEST(Nvrtc, SameTextSameCubin) {
  STWO_REQUIRE_NVRTC(nvrtc);
  const std::string text = generate_constraint_kernel(
      record_constraints(research_cases::EveryRequestScript{}), {"every", 256});
  const CompiledText first = nvrtc->compile(text, "every.cu", 90);
  EXPECT_EQ(first.cubin, nvrtc->compile(text, "every.cu", 90).cubin);
  EXPECT_NE(first.cubin, nvrtc->compile(text, "every.cu", 80).cubin);
}

TEST(Nvrtc, SaysWhatIsWrong) {
  STWO_REQUIRE_NVRTC(nvrtc);
  EXPECT_EQ(error_of([&] { nvrtc->compile("", "a.cu", 35); }).find("NUMBER: NVRTC 13."), 0u);
  EXPECT_NE(error_of([&] { nvrtc->compile("", "a.cu", 35); }).find("does not compile for SM 35"),
            std::string::npos);
  const std::string broken =
      error_of([&] { nvrtc->compile("\n\n__global__ void f() { nonsense; }\n", "a.cu", 90); });
  EXPECT_EQ(broken.find("NVRTC: a.cu does not compile for SM 90: a.cu(3): error: "), 0u) << broken;
  EXPECT_NE(broken.find("nonsense"), std::string::npos);
  // Usable afterwards.
  EXPECT_FALSE(nvrtc->compile("extern \"C\" __global__ void f() {}", "b.cu", 90).cubin.empty());
}

TEST(Nvrtc, ResourcesFromALog) {
  const KernelResources r = parse_resources(
      "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
      "ptxas info    : Function properties for f\n"
      "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size\n");
  EXPECT_TRUE(r.known);
  EXPECT_EQ(r.registers, 40u);
  EXPECT_EQ(r.spill_store_bytes, 12u);
  EXPECT_EQ(r.spill_load_bytes, 8u);
  EXPECT_FALSE(parse_resources("").known);
  EXPECT_FALSE(parse_resources("no registers").known);
}

}  // namespace
}  // namespace stwo::gpu
