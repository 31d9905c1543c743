// The run-time compiler, where this machine has it: beside the toolkit the build found, or where
// Nvrtc::load looks by itself.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "kernels/research/nvrtc.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {

inline std::optional<Nvrtc> find_nvrtc(std::string* why) {
  const std::string beside = STWO_TEST_NVRTC;
  try {
    return Nvrtc::load(std::filesystem::exists(beside) ? beside : "");
  } catch (const EnvironmentError& e) {
    *why = e.what();
    return std::nullopt;
  }
}

}  // namespace stwo::gpu

/// Declares `name` as the compiler, or skips the test and says why.
#define STWO_REQUIRE_NVRTC(name)                              \
  std::string name##_missing;                                 \
  const auto name = ::stwo::gpu::find_nvrtc(&name##_missing); \
  if (!name) GTEST_SKIP() << "NVRTC: " << name##_missing
