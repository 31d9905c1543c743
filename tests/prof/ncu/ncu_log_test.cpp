#include "prof/ncu/ncu_log.hpp"

#include <random>

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

TEST(NcuLog, AGoodRun) {
  const NcuLog log = read_ncu_log(
      "==PROF== Connected to process 1 (/opt/p)\n==PROF== Profiling \"k\": 0%....100% - 9 passes\n"
      "==PROF== Disconnected from process 1\n==PROF== Report: /tmp/r.ncu-rep\n");
  EXPECT_FALSE(log.denied || log.busy || log.no_kernels || log.target_failed ||
               log.hardware_unsupported);
  EXPECT_EQ(log.first_error, "");
}

TEST(NcuLog, WhatWentWrong) {
  const NcuLog denied = read_ncu_log(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n");
  EXPECT_TRUE(denied.denied);
  EXPECT_TRUE(denied.no_kernels);
  EXPECT_EQ(denied.first_error.substr(0, 16), "ERR_NVGPUCTRPERM");
  EXPECT_TRUE(read_ncu_log("==ERROR== Profiling failed because a driver resource was unavailable. "
                           "Ensure that no other tool (like DCGM) is concurrently collecting.\n")
                  .busy);
  EXPECT_TRUE(
      read_ncu_log("==ERROR== The application returned an error code (1).\r\n").target_failed);
  EXPECT_TRUE(
      read_ncu_log("==ERROR== Profiling is not supported on device 0.\n").hardware_unsupported);
}

TEST(NcuLog, KernelsThatDidNotMatch) {
  const NcuLog log = read_ncu_log(
      "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. fold(unsigned int *)\n"
      "2. hash_leaves\n\n3. no longer the list\n");
  EXPECT_TRUE(log.no_kernels);
  EXPECT_EQ(log.kernels, (std::vector<std::string>{"fold(unsigned int *)", "hash_leaves"}));
}

TEST(NcuLog, TheProgramsOwnLinesAreNoEvidence) {
  const NcuLog log = read_ncu_log("ERR_NVGPUCTRPERM\nNo kernels were profiled\n1. not a kernel\n");
  EXPECT_FALSE(log.denied);
  EXPECT_FALSE(log.no_kernels);
  EXPECT_TRUE(log.kernels.empty());
}

TEST(NcuLog, AnyBytes) {
  std::mt19937 random(20260304);
  const std::string alphabet = "=ERO.1 \n\rAvailable Kernels:\xff\"";
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (unsigned n = random() % 200; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const NcuLog log = read_ncu_log(text);
    EXPECT_EQ(log.first_error.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace prof::test
