// What tests of single kernels share: a fixture that launches on the process's runtime, and device
// memory that shows every word a kernel should not have written.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/kernels/support/test_runtime.hpp"
#include "tests/support/random.hpp"

namespace stwo::test {

/// What outputs hold before a launch: no M31 value, so a word that stayed unwritten is never taken
/// for a result.
inline constexpr uint32_t kPoison = 0xd15ea5edu;

using Words = std::vector<uint32_t>;

/// Words in device memory.
class DeviceWords {
 public:
  /// What kernels only read. As long as `values`, so that a sanitised emulator sees reads beyond
  /// them; the destructor checks that nobody wrote. Empty `values` get one word of room.
  static DeviceWords input(std::span<const uint32_t> values);
  template <class T>
  static DeviceWords input(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
    Words words(values.size() * (sizeof(T) / 4));
    if (!words.empty()) std::memcpy(words.data(), values.data(), 4 * words.size());
    return input(std::span<const uint32_t>(words));
  }
  /// What kernels update: `values` between guards of poison.
  static DeviceWords updated(std::span<const uint32_t> values);
  /// What kernels write: n words of poison between guards of poison.
  static DeviceWords output(size_t n);

  DeviceWords(DeviceWords&&) = default;
  DeviceWords& operator=(DeviceWords&&) = delete;
  ~DeviceWords();

  /// Device address of a word, as argument structs want it; a multiple of 256 for word 0.
  uint32_t* at(uint64_t word = 0) const { return block_.as<uint32_t>() + guard_ + word; }
  /// All words between the guards; adds a failure when a guard was written.
  Words read() const;
  /// Fails, once, unless the words are `expected`.
  void expect(std::span<const uint32_t> expected, std::string_view what = "") const;

 private:
  DeviceWords(std::span<const uint32_t> values, size_t guard, bool checked);
  gpu::DeviceBlock block_;
  size_t guard_ = 0;
  size_t size_ = 0;
  std::unique_ptr<Words> initial_;  ///< of inputs
};

/// Runs every test under every schedule. Skips when there is no runtime.
class KernelTest : public testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Launches and waits.
  template <class Args>
  void launch(const std::string& kernel, const gpu::LaunchGeometry& geometry, const Args& args) {
    launch(kernel, geometry, &args, sizeof(Args));
  }
  void launch(const std::string& kernel, const gpu::LaunchGeometry& geometry, const void* args,
              size_t args_size);

  Random rng;

 private:
  testing::ScopedTrace seed_{__FILE__, __LINE__, "STWO_TEST_SEED=" + std::to_string(run_seed())};
};

inline std::string schedule_name(const testing::TestParamInfo<Schedule>& test) {
  return test.param.name;
}

inline uint32_t blocks_for(uint64_t items, uint64_t per_block) {
  return static_cast<uint32_t>((items + per_block - 1) / per_block);
}

}  // namespace stwo::test

/// Instantiates a suite, a class derived from KernelTest, for every schedule.
#define STWO_UNDER_ALL_SCHEDULES(Suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Schedules, Suite, testing::ValuesIn(::stwo::test::schedules()), \
                           ::stwo::test::schedule_name)
/// Declares a suite of kernel tests without members of its own; its tests are TEST_P(Suite, Name).
#define STWO_KERNEL_TESTS(Suite)                    \
  class Suite : public ::stwo::test::KernelTest {}; \
  STWO_UNDER_ALL_SCHEDULES(Suite)
