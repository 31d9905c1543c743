#include "prof/ncu/ncu_tool.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "prof/target/scratch_folder.hpp"
#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

constexpr const char* kVersion2025 =
    "NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA Corporation\n"
    "Version 2025.3.1.0 (build 36398880) (public-release)\n";

class Places : public ::testing::Test {
 protected:
  /// Makes an executable file, or one that is not.
  std::string program(const std::string& path, mode_t mode = 0755) {
    const std::string full = root_.file(path);
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full) << "ncu";
    EXPECT_EQ(::chmod(full.c_str(), mode), 0);
    return full;
  }
  NcuPlaces places(const std::string& path = "") const {
    return {path, root_.file("local"), root_.file("nsight")};
  }

  const ScratchFolder root_;
};

/// Stands for the programs: prints what is said for the path.
TargetRunner printing(const std::map<std::string, std::string>& outputs) {
  return [outputs](const TargetOptions& options) {
    std::ofstream(options.stdout_path) << outputs.at(options.command.at(0));
    TargetResult result;
    result.exit_status = 0;
    return result;
  };
}

TEST_F(Places, PathFirstThenTheNewest) {
  const std::string old = program("local/cuda-12.9/bin/ncu");
  const std::string newer = program("local/cuda-12.10/bin/ncu");
  const std::string nsight = program("nsight/2025.3.1/ncu");
  const std::string in_path = program("bin/ncu");
  program("plain/ncu", 0644);
  program("local/other/bin/ncu");
  std::filesystem::create_directories(root_.file("dir/ncu"));
  const std::string path =
      root_.file("plain") + "::" + root_.file("dir") + ':' + root_.file("bin") + ":/no/such";
  EXPECT_EQ(ncu_candidates(places(path)), (std::vector<std::string>{in_path, newer, old, nsight}));
  EXPECT_TRUE(ncu_candidates({"", "/no/such/place", "/no/such/place"}).empty());
}

TEST_F(Places, TheFirstUsableOne) {
  const std::string broken = program("bin/ncu");
  const std::string old = program("local/cuda-11/bin/ncu");
  const std::string good = program("nsight/2025.3.1/ncu");
  const NcuTool tool = find_ncu(printing({{broken, "no version\n"},
                                          {old, "Nsight Compute\nVersion 2021.3.0.0 (build 1)\n"},
                                          {good, kVersion2025}}),
                                places(root_.file("bin")));
  EXPECT_EQ(tool.path, good);
  EXPECT_EQ(tool.version, "2025.3.1.0");
  EXPECT_TRUE(tool.usable);
  EXPECT_EQ(tool.reason, "");
}

TEST_F(Places, NoneIsUsable) {
  const NcuTool none = find_ncu(printing({}), places());
  EXPECT_EQ(none.path, "");
  EXPECT_FALSE(none.usable);
  EXPECT_NE(none.reason.find("no program ncu"), std::string::npos);

  const std::string old = program("nsight/2021.3.0/ncu");
  const NcuTool tool =
      find_ncu(printing({{old, "Nsight Compute\nVersion 2021.3.0.0 (build 1)\n"}}), places());
  EXPECT_EQ(tool.path, old);
  EXPECT_FALSE(tool.usable);
  EXPECT_EQ(tool.reason, "version 2021.3.0.0 is older than 2022.1, whose options are needed");
}

TEST_F(Places, AProgramThatDoesNotStartOrEnd) {
  program("nsight/2025.3.1/ncu");
  const NcuTool failed = find_ncu(
      [](const TargetOptions&) -> TargetResult {
        throw stwo::EnvironmentError("TARGET_START", "no memory");
      },
      places());
  EXPECT_EQ(failed.reason, "it does not start: no memory");
  const NcuTool hanging = find_ncu(
      [](const TargetOptions&) {
        TargetResult result;
        result.timed_out = true;
        return result;
      },
      places());
  EXPECT_EQ(hanging.reason, "--version does not end");
}

TEST(NcuVersion, OutOfWhatItPrints) {
  EXPECT_EQ(ncu_version(kVersion2025), "2025.3.1.0");
  EXPECT_FALSE(ncu_version("").has_value());
  EXPECT_FALSE(ncu_version("Version 2025.3.1.0\n").has_value());
  EXPECT_FALSE(ncu_version("Nsight Compute\nVersion x\n").has_value());
}

}  // namespace
}  // namespace prof::test
