// NVML through stand-ins: new and old names, missing ones, refusals.
#include "prof/nvml/nvml.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "prof/nvml/nvml_abi.hpp"

namespace prof {
namespace {

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"STWO_NVML", "FAKE_NVML_INIT", "FAKE_NVML_REFUSE",
                             "FAKE_NVML_PROCESSES", "FAKE_NVML_PSTATE", "FAKE_NVML_MODE"}) {
      ::unsetenv(name);
    }
  }
  static void set(const char* name, const std::string& value) {
    ASSERT_EQ(::setenv(name, value.c_str(), 1), 0);
  }
  static Known<std::shared_ptr<Nvml>> open(const std::string& file) {
    set("STWO_NVML", file);
    return open_nvml();
  }
};

TEST_F(NvmlTest, NewDriver) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  ASSERT_TRUE(nvml.has_value()) << nvml.reason;
  EXPECT_EQ((*nvml.value)->driver_version().value, "580.95.05");
  EXPECT_EQ((*nvml.value)->cuda_version().value, "13.0");
  const auto devices = (*nvml.value)->devices();
  ASSERT_TRUE(devices.has_value());
  ASSERT_EQ(devices.value->size(), 2U);
  const NvmlDevice& d = devices.value->at(0);
  EXPECT_EQ(d.index, 0U);
  EXPECT_EQ(d.uuid.value, "GPU-0");
  EXPECT_EQ(d.name.value, "NVIDIA Test");
  EXPECT_EQ(d.sm.value, 89U);
  EXPECT_EQ(d.memory_bytes.value, 2000U);
  EXPECT_EQ(d.memory_used_bytes.value, 700U);
  EXPECT_EQ(d.sm_clock_mhz.value, 1500U);
  EXPECT_EQ(d.memory_clock_mhz.value, 2600U);
  EXPECT_EQ(d.max_sm_clock_mhz.value, 1980U);
  EXPECT_EQ(d.max_memory_clock_mhz.value, 3200U);
  EXPECT_EQ(d.power_limit_mw.value, 700000U);
  EXPECT_EQ(d.ecc.value, true);
  EXPECT_EQ(d.uncorrected_ecc_errors.value, 3U);
  EXPECT_EQ(d.mig.value, false);
  EXPECT_EQ(d.compute_mode.value, "exclusive_process");
  EXPECT_EQ(d.persistence.value, true);
  EXPECT_EQ(d.pcie_generation.value, 5U);
  EXPECT_EQ(d.pcie_width.value, 16U);
  ASSERT_TRUE(d.processes.has_value());
  ASSERT_EQ(d.processes.value->size(), 2U);
  EXPECT_EQ(d.processes.value->at(0).pid, 1001U);
  EXPECT_EQ(d.processes.value->at(0).memory_bytes.value, 1048576U);
  EXPECT_EQ(d.processes.value->at(1).pid, 1002U);
  EXPECT_EQ(d.processes.value->at(1).memory_bytes.reason, "the driver does not tell it");
}

TEST_F(NvmlTest, LostDeviceIsUnknownNotZero) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  const auto devices = (*nvml.value)->devices();
  const NvmlDevice& lost = devices.value->at(1);
  EXPECT_EQ(lost.index, 1U);
  EXPECT_FALSE(lost.uuid.has_value());
  EXPECT_EQ(lost.uuid.reason, "GPU is lost");
  EXPECT_FALSE(lost.memory_bytes.has_value());
  EXPECT_EQ(lost.ecc.reason, "GPU is lost");
  EXPECT_EQ(lost.processes.reason, "GPU is lost");
}

TEST_F(NvmlTest, Sample) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  const NvmlSample s = (*nvml.value)->sample("GPU-0");
  EXPECT_GT(s.realtime_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(s.temperature_c.value, 41U);
  EXPECT_EQ(s.power_mw.value, 123456U);
  EXPECT_EQ(s.energy_mj.value, 5'000'000'000U);
  EXPECT_EQ(s.sm_clock_mhz.value, 1500U);
  EXPECT_EQ(s.memory_clock_mhz.value, 2600U);
  EXPECT_EQ(s.clock_reasons.value, kReasonIdle | kReasonSoftwarePowerCap);
  EXPECT_EQ(s.performance_state.value, 2U);
  EXPECT_EQ(s.gpu_utilization_percent.value, 37U);
  EXPECT_EQ(s.memory_used_bytes.value, 700U);
  EXPECT_EQ(s.uncorrected_ecc_errors.value, 3U);
  EXPECT_EQ(s.processes.value->size(), 2U);

  const NvmlSample none = (*nvml.value)->sample("GPU-other");
  EXPECT_EQ(none.temperature_c.reason, "Not Found");
  EXPECT_EQ(none.processes.reason, "Not Found");

  set("FAKE_NVML_PSTATE", "32");
  EXPECT_EQ((*nvml.value)->sample("GPU-0").performance_state.reason, "the driver does not know it");
}

TEST_F(NvmlTest, OldDriver) {
  const auto nvml = open(PROF_TEST_NVML_OLD);
  ASSERT_TRUE(nvml.has_value()) << nvml.reason;
  EXPECT_EQ((*nvml.value)->cuda_version().value, "11.4");
  const auto devices = (*nvml.value)->devices();
  ASSERT_EQ(devices.value->size(), 2U);
  EXPECT_EQ(devices.value->at(0).memory_bytes.value, 1000U);
  EXPECT_EQ(devices.value->at(0).memory_used_bytes.value, 400U);
  // Records of 16 bytes, not 24.
  ASSERT_EQ(devices.value->at(0).processes.value->size(), 2U);
  EXPECT_EQ(devices.value->at(0).processes.value->at(0).pid, 1001U);
  EXPECT_EQ((*nvml.value)->sample("GPU-0").clock_reasons.value, kReasonHardwareSlowdown);
}

TEST_F(NvmlTest, MissingFunctions) {
  const auto nvml = open(PROF_TEST_NVML_BARE);
  ASSERT_TRUE(nvml.has_value()) << nvml.reason;
  const std::string why = "this driver's NVML lacks the function";
  EXPECT_EQ((*nvml.value)->driver_version().reason, why);
  EXPECT_EQ((*nvml.value)->cuda_version().reason, why);
  const auto devices = (*nvml.value)->devices();
  ASSERT_EQ(devices.value->size(), 1U);
  EXPECT_EQ(devices.value->at(0).uuid.reason, why);
  EXPECT_EQ(devices.value->at(0).sm.reason, why);
  EXPECT_EQ(devices.value->at(0).memory_bytes.reason, why);
  EXPECT_EQ(devices.value->at(0).ecc.reason, why);
  EXPECT_EQ(devices.value->at(0).compute_mode.reason, why);
  EXPECT_EQ(devices.value->at(0).processes.reason, why);
  EXPECT_EQ((*nvml.value)->sample("GPU-0").power_mw.reason, why);
}

TEST_F(NvmlTest, NotSupportedIsUnknown) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  set("FAKE_NVML_REFUSE", std::to_string(abi::kNotSupported));
  const std::string why = "not supported by the device (Not Supported)";
  const auto devices = (*nvml.value)->devices();
  EXPECT_EQ(devices.value->at(0).uuid.value, "GPU-0");
  EXPECT_EQ(devices.value->at(0).name.reason, why);
  EXPECT_EQ(devices.value->at(0).mig.reason, why);
  EXPECT_EQ(devices.value->at(0).ecc.reason, why);
  EXPECT_FALSE(devices.value->at(0).power_limit_mw.has_value());
  EXPECT_EQ(devices.value->at(0).processes.reason, why);
  EXPECT_EQ((*nvml.value)->sample("GPU-0").energy_mj.reason, why);
  // An error that is unknown to the library stays one line.
  set("FAKE_NVML_REFUSE", "999");
  EXPECT_EQ((*nvml.value)->cuda_version().reason, "Unknown Error");
}

TEST_F(NvmlTest, ModeWithoutName) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  set("FAKE_NVML_MODE", "17");
  EXPECT_EQ((*nvml.value)->devices().value->at(0).compute_mode.reason, "mode 17 has no name");
}

TEST_F(NvmlTest, ProcessLists) {
  const auto nvml = open(PROF_TEST_NVML_NEW);
  set("FAKE_NVML_PROCESSES", "0");
  EXPECT_TRUE((*nvml.value)->sample("GPU-0").processes.value->empty());
  // More than there was room for at first.
  set("FAKE_NVML_PROCESSES", "500");
  const auto many = (*nvml.value)->sample("GPU-0").processes;
  ASSERT_TRUE(many.has_value()) << many.reason;
  ASSERT_EQ(many.value->size(), 500U);
  EXPECT_EQ(many.value->front().pid, 1001U);
  EXPECT_EQ(many.value->back().pid, 1500U);
  set("FAKE_NVML_PROCESSES", "zero");
  EXPECT_EQ((*nvml.value)->sample("GPU-0").processes.reason,
            "the driver's process list has a layout that is not known");
  EXPECT_TRUE(process_list_is_plausible({}));
  EXPECT_FALSE(process_list_is_plausible({{7, {}}, {UINT32_MAX, {}}}));
}

TEST_F(NvmlTest, NothingToLoad) {
  const auto missing = open("/no/such/libnvidia-ml.so.1");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.reason.rfind("NVML cannot be loaded (", 0), 0U) << missing.reason;
  EXPECT_NE(missing.reason.find("install the NVIDIA driver"), std::string::npos);
  const auto other = open(PROF_TEST_NOT_NVML);
  EXPECT_EQ(other.reason, std::string(PROF_TEST_NOT_NVML) + " is not NVML: it has no nvmlInit");
  set("FAKE_NVML_INIT", std::to_string(abi::kDriverNotLoaded));
  EXPECT_EQ(open(PROF_TEST_NVML_NEW).reason, "NVML does not start: Driver Not Loaded");
}

TEST_F(NvmlTest, ReasonsByName) {
  EXPECT_EQ(clock_reasons_text(0), "");
  EXPECT_EQ(clock_reasons_text(0x1), "idle");
  EXPECT_EQ(clock_reasons_text(0x1fe),
            "application_clocks, software_power_cap, hardware_slowdown, sync_boost, "
            "software_thermal, hardware_thermal, power_brake, display");
  EXPECT_EQ(clock_reasons_text(0x8004), "software_power_cap, 0x8000");
}

}  // namespace
}  // namespace prof
