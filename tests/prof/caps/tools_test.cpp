// Which tools can be used, tried on stand-ins that behave as the real ones do.
#include "prof/caps/tools.hpp"

#include "tests/prof/caps/caps_files.hpp"

namespace prof {
namespace {

class ToolsTest : public test::FolderTest {
 protected:
  NcuProbe ncu(const std::string& script, bool has_device = true) const {
    const Tool located{"ncu", true, "", Known<std::string>::of("2025.3.1.0"),
                       Known<std::string>::of(program("ncu", script))};
    return probe_ncu(run_command, located, {"kernel", "a b"}, has_device);
  }
};

TEST_F(ToolsTest, NcuWithCounters) {
  // It gets our kernel as it is.
  const NcuProbe probe =
      ncu("for last; do :; done; [ \"$last\" = 'a b' ] && echo 'sm__cycles_elapsed.max cycle 12'");
  EXPECT_TRUE(probe.tool.usable) << probe.tool.reason;
  EXPECT_EQ(probe.counter_permission.value, true);
}

TEST_F(ToolsTest, NcuWithoutCounters) {
  const NcuProbe denied =
      ncu("echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have' ; exit 1");
  EXPECT_FALSE(denied.tool.usable);
  EXPECT_EQ(denied.counter_permission.value, false);
  EXPECT_EQ(denied.tool.reason.rfind("no permission for counters (ERR_NVGPUCTRPERM)", 0), 0U);
  const NcuProbe failed = ncu("echo crashed >&2; exit 9");
  EXPECT_FALSE(failed.tool.usable);
  EXPECT_FALSE(failed.counter_permission.has_value());
  const NcuProbe nothing = ncu("echo '==WARNING== No kernels were profiled.'");
  EXPECT_EQ(nothing.tool.reason,
            "its run of one kernel gave no counter (==WARNING== No kernels were profiled.); run "
            "ncu on a small program to see why");
  const NcuProbe no_device = ncu("echo 'sm__cycles_elapsed.max'", false);
  EXPECT_FALSE(no_device.tool.usable);
  EXPECT_EQ(no_device.counter_permission.reason,
            "no device to try it on; run it on a machine with one");
  const NcuProbe absent = probe_ncu(run_command, Tool::unusable("ncu", "not installed"), {}, true);
  EXPECT_EQ(absent.tool.reason, "not installed");
  EXPECT_EQ(absent.counter_permission.reason, "not installed");
}

TEST_F(ToolsTest, Toolkit) {
  const auto answer = [](const CommandResult& result) {
    return [result](const std::vector<std::string>&, double) { return result; };
  };
  EXPECT_EQ(toolkit_version(answer({true, 0,
                                    "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation "
                                    "tools, release 13.0, V13.0.88\nBuild cuda_13.0",
                                    ""}))
                .value,
            "13.0.88");
  EXPECT_EQ(toolkit_version(answer({false, std::nullopt, "", "not found"})).reason,
            "no nvcc in PATH");
  EXPECT_EQ(toolkit_version(answer({true, 0, "hello", ""})).reason,
            "nvcc does not tell its version");
}

TEST_F(ToolsTest, Versions) {
  EXPECT_EQ(version_after("version 2025.3.2.474-25v0", "ersion"), "2025.3.2.474");
  EXPECT_EQ(version_after("Version 1.2.", "ersion"), "1.2");
  EXPECT_EQ(version_after("version none", "ersion"), "");
  EXPECT_EQ(version_after("nothing", "ersion"), "");
}

TEST_F(ToolsTest, RunningACommand) {
  const CommandResult good = run_command({"/bin/sh", "-c", "echo out; echo err >&2"}, 10);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.output, "out\nerr\n");
  EXPECT_EQ(good.failure, "");
  const CommandResult missing = run_command({"/no/such/tool"}, 10);
  EXPECT_FALSE(missing.started);
  EXPECT_EQ(missing.failure, "program /no/such/tool: No such file or directory");
  const CommandResult slow = run_command({"/bin/sh", "-c", "exec sleep 1000"}, 0.1);
  EXPECT_TRUE(slow.started);
  EXPECT_FALSE(slow.exit_status.has_value());
  EXPECT_NE(slow.failure.find("limit of 0.1 s"), std::string::npos);
}

}  // namespace
}  // namespace prof
