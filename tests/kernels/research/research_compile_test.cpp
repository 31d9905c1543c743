// The whole of `stwo research compile` but its command line: module, identity, files, parity.

#include "kernels/research/research_compile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"
#include "tests/kernels/research/host_kernels.hpp"
#include "tests/kernels/research/nvrtc_for_tests.hpp"

namespace stwo::gpu {
namespace {

using nlohmann::json;
using research_cases::host_kernel;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "stwo_research_XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path() const { return path_.string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
  }
  size_t n_files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

const OutputFunctions kFiles{check_output, write_output};

/// A device that is the host: checks the cubin's form and runs the text's host side.
class HostAsDevice final : public ParityRunner {
 public:
  explicit HostAsDevice(HostRows rows, uint32_t sm = 90) : rows_(rows), sm_(sm) {}
  std::string device() const override { return "the host"; }
  uint32_t sm() const override { return sm_; }
  ParityOutput run(std::span<const uint8_t> cubin, const std::string& kernel, uint32_t threads,
                   const ParityInput& input) override {
    EXPECT_GT(cubin.size(), 1000u);
    EXPECT_EQ(kernel, "fib_8_composition");
    EXPECT_EQ(threads, 256u);
    ParityOutput out = run_host_rows(rows_, input);
    if (spoil) ++out[1][0];
    return out;
  }
  bool spoil = false;

 private:
  HostRows rows_;
  uint32_t sm_;
};

ResearchRequest request_of(uint32_t sm = 90) {
  ResearchRequest r;
  r.program = record_constraints(air::WideFibonacciScript{8});
  r.options.name = "fib_8";
  r.sm = sm;
  return r;
}

TEST(ResearchCompile, WithoutADeviceNothingIsPromotable) {
  STWO_REQUIRE_NVRTC(nvrtc);
  const ResearchModule m = compile_research_module(request_of(), *nvrtc);
  EXPECT_FALSE(m.promotable);
  EXPECT_FALSE(m.device.has_value());
  EXPECT_NO_THROW(require_parity(m));
  const json j = json::parse(m.identity);
  EXPECT_EQ(j["schema"], "stwo_research_module_v1");
  EXPECT_EQ(j["name"], "fib_8");
  EXPECT_EQ(j["kernel"], "fib_8_composition");
  EXPECT_EQ(j["program"]["digest"], to_hex(request_of().program.digest()));
  EXPECT_EQ(j["program"]["columns"], 8);
  EXPECT_EQ(j["program"]["constraints"], 6);
  EXPECT_EQ(j["generator"]["version"], kResearchCodegenVersion);
  EXPECT_EQ(j["compiler"]["version"], nvrtc->version());
  EXPECT_EQ(j["sm"], 90);
  EXPECT_EQ(j["source"]["sha256"], sha256_hex(m.source));
  EXPECT_EQ(j["cubin"]["file"], "fib_8.sm_90.cubin");
  EXPECT_EQ(j["cubin"]["sha256"], sha256_hex(m.cubin));
  EXPECT_EQ(j["cubin"]["bytes"], m.cubin.size());
  EXPECT_GT(j["resources"]["registers"], 0);
  EXPECT_TRUE(j["parity"]["host_compiled"].is_null());
  EXPECT_FALSE(j["parity"]["host_reason"].get<std::string>().empty());
  EXPECT_TRUE(j["parity"]["device"].is_null());
  EXPECT_FALSE(j["parity"]["device_reason"].get<std::string>().empty());
  EXPECT_EQ(j["promotable"], false);
  // The same on every run.
  EXPECT_EQ(compile_research_module(request_of(), *nvrtc).identity, m.identity);
}

TEST(ResearchCompile, HostParityAloneDoesNotPromote) {
  STWO_REQUIRE_NVRTC(nvrtc);
  ResearchRequest r = request_of();
  r.host = host_kernel("fib_8").rows;
  const ResearchModule m = compile_research_module(r, *nvrtc);
  EXPECT_FALSE(m.promotable);
  const json j = json::parse(m.identity);
  EXPECT_EQ(j["parity"]["host_compiled"]["mismatches"], 0);
  EXPECT_EQ(j["parity"]["host_compiled"]["rows"], 1176);
  EXPECT_TRUE(j["parity"]["host_reason"].is_null());
  EXPECT_NO_THROW(require_parity(m));
  // Another component's text.
  r.host = host_kernel("fib_3").rows;
  EXPECT_THROW(require_parity(compile_research_module(r, *nvrtc)), Error);
}

TEST(ResearchCompile, ADeviceThatAgreesPromotes) {
  STWO_REQUIRE_NVRTC(nvrtc);
  ResearchRequest r = request_of();
  HostAsDevice device(host_kernel("fib_8").rows);
  r.device = &device;
  const ResearchModule m = compile_research_module(r, *nvrtc);
  EXPECT_TRUE(m.promotable);
  const json j = json::parse(m.identity);
  EXPECT_EQ(j["parity"]["device"]["rows"], 1176);
  EXPECT_EQ(j["parity"]["device"]["mismatches"], 0);
  EXPECT_EQ(j["parity"]["device"]["name"], "the host");
  EXPECT_TRUE(j["parity"]["device_reason"].is_null());
  EXPECT_EQ(j["promotable"], true);
}

TEST(ResearchCompile, ADeviceThatDisagreesDoesNot) {
  STWO_REQUIRE_NVRTC(nvrtc);
  ResearchRequest r = request_of();
  HostAsDevice device(host_kernel("fib_8").rows);
  device.spoil = true;
  r.device = &device;
  const ResearchModule m = compile_research_module(r, *nvrtc);
  EXPECT_FALSE(m.promotable);
  EXPECT_EQ(json::parse(m.identity)["parity"]["device"]["mismatches"], 5);
  try {
    require_parity(m);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), "RESEARCH_PARITY");
    EXPECT_EQ(e.exit_code(), ExitCode::kBug);
    EXPECT_NE(std::string(e.what()).find("fib_8_composition on the device differs from the CPU in "
                                         "5 of 1176 rows"),
              std::string::npos);
  }
}

TEST(ResearchCompile, ADeviceOfAnotherSmSaysNothing) {
  STWO_REQUIRE_NVRTC(nvrtc);
  ResearchRequest r = request_of(80);
  HostAsDevice device(host_kernel("fib_8").rows);
  r.device = &device;
  const ResearchModule m = compile_research_module(r, *nvrtc);
  EXPECT_FALSE(m.promotable);
  EXPECT_EQ(m.no_device_reason, "the device is of SM 90, the cubin of SM 80");
  EXPECT_EQ(json::parse(m.identity)["parity"]["device_reason"], m.no_device_reason);
}

TEST(ResearchCompile, WritesThreeFilesAndNeverOverExistingOnes) {
  STWO_REQUIRE_NVRTC(nvrtc);
  const TemporaryFolder folder;
  const ResearchModule m = compile_research_module(request_of(), *nvrtc);
  const auto paths = write_research_module(m, folder.path(), false, kFiles);
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(folder.read("fib_8.cu"), m.source);
  EXPECT_EQ(folder.read("fib_8.sm_90.cubin"), m.cubin);
  EXPECT_EQ(folder.read("fib_8.json"), m.identity);
  EXPECT_EQ(folder.n_files(), 3u);

  EXPECT_THROW(write_research_module(m, folder.path(), false, kFiles), RefusedError);
  ResearchModule other = m;
  other.source += "// changed\n";
  // Any one of the three is enough to refuse, and then nothing is written.
  std::filesystem::remove(folder.path() + "/fib_8.cu");
  EXPECT_THROW(write_research_module(other, folder.path(), false, kFiles), RefusedError);
  EXPECT_EQ(folder.n_files(), 2u);
  EXPECT_NO_THROW(write_research_module(other, folder.path() + "/", true, kFiles));
  EXPECT_EQ(folder.read("fib_8.cu"), other.source);
}

TEST(ResearchCompile, OutputsAreCheckedBeforeTheWork) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(check_research_outputs("fib_8", 90, folder.path(), false, kFiles));
  std::ofstream(folder.path() + "/fib_8.sm_90.cubin") << "x";
  EXPECT_THROW(check_research_outputs("fib_8", 90, folder.path(), false, kFiles), RefusedError);
  EXPECT_NO_THROW(check_research_outputs("fib_8", 90, folder.path(), true, kFiles));
  EXPECT_NO_THROW(check_research_outputs("fib_8", 80, folder.path(), false, kFiles));
  EXPECT_THROW(check_research_outputs("fib_8", 90, folder.path() + "/none", false, kFiles),
               UsageError);
}

}  // namespace
}  // namespace stwo::gpu
