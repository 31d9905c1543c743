// The CUDA driver through a stand-in.
#include "prof/caps/driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace prof {
namespace {

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    clear();
    set("STWO_LIBCUDA", PROF_TEST_FAKE_CUDA);
  }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name :
         {"STWO_LIBCUDA", "STWO_CUDART", "FAKE_CUDA_INIT", "FAKE_CUDA_COUNT", "FAKE_CUDA_CLOCK"}) {
      ::unsetenv(name);
    }
  }
  static void set(const char* name, const std::string& value) {
    ASSERT_EQ(::setenv(name, value.c_str(), 1), 0);
  }
};

TEST_F(DriverTest, Devices) {
  set("FAKE_CUDA_COUNT", "2");
  const DriverFacts facts = read_driver();
  EXPECT_EQ(facts.cuda_version.value, "12.8");
  ASSERT_TRUE(facts.devices.has_value()) << facts.devices.reason;
  ASSERT_EQ(facts.devices.value->size(), 2U);
  const DriverDevice& d = facts.devices.value->at(1);
  EXPECT_EQ(d.uuid, "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
  EXPECT_EQ(d.name.value, "Fake device");
  EXPECT_EQ(d.sm.value, 90U);
  EXPECT_EQ(d.multiprocessors.value, 132U);
  EXPECT_EQ(d.memory_bytes.value, 85899345920U);
  EXPECT_EQ(d.l2_bytes.value, 52428800U);
  // 2 x 2.619 GHz x 640 bytes, what the vendor rounds to 3.35 TB/s.
  EXPECT_EQ(d.peak_memory_bytes_per_s.value, 3352320000000U);
  set("FAKE_CUDA_CLOCK", "0");
  EXPECT_EQ(read_driver().devices.value->at(0).peak_memory_bytes_per_s.reason,
            "the driver does not tell memory clock and bus width");
}

TEST_F(DriverTest, NoDevices) {
  set("FAKE_CUDA_COUNT", "0");
  EXPECT_TRUE(read_driver().devices.value->empty());
  set("FAKE_CUDA_INIT", "100");
  EXPECT_EQ(read_driver().devices.reason, "cuInit: no CUDA-capable device is detected");
  EXPECT_EQ(read_driver().cuda_version.value, "12.8");
  set("FAKE_CUDA_INIT", "803");
  EXPECT_EQ(read_driver().devices.reason, "cuInit: CUDA error 803");
}

TEST_F(DriverTest, NoDriver) {
  set("STWO_LIBCUDA", "/no/such/libcuda.so.1");
  const DriverFacts facts = read_driver();
  EXPECT_FALSE(facts.cuda_version.has_value());
  EXPECT_EQ(facts.devices.reason.rfind("the CUDA driver cannot be loaded (", 0), 0U);
  set("STWO_LIBCUDA", "libm.so.6");
  EXPECT_EQ(read_driver().devices.reason, "libm.so.6 is no CUDA driver");
}

TEST_F(DriverTest, Runtime) {
  set("STWO_CUDART", PROF_TEST_FAKE_CUDA);
  EXPECT_EQ(runtime_version().value, "12.6");
  set("STWO_CUDART", "/no/such/libcudart.so");
  EXPECT_EQ(runtime_version().reason,
            "no CUDA runtime library is installed; programs may bring their own");
}

}  // namespace
}  // namespace prof
