#include "tests/kernels/support/kernel_test.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace stwo::test {
namespace {

/// Poison before and after what a kernel writes. 256 bytes keep the alignment of the block.
constexpr size_t kGuardWords = 64;

gpu::CudaRuntime& runtime() {
  std::string why;
  gpu::CudaRuntime* found = find_runtime(&why);
  STWO_CHECK(found != nullptr, "device memory without a runtime");
  return *found;
}

}  // namespace

DeviceWords::DeviceWords(std::span<const uint32_t> values, size_t guard, bool checked)
    : guard_(guard), size_(values.size()) {
  const uint64_t words = std::max<uint64_t>(values.size() + 2 * guard, 1);
  block_ = runtime().allocate(4 * words, "test words", "test");
  const gpu::PinnedBlock staging = runtime().allocate_pinned(4 * words, "test words", "test");
  auto* host = staging.as<uint32_t>();
  std::fill_n(host, words, kPoison);
  std::copy(values.begin(), values.end(), host + guard);
  runtime().upload(block_.address(), host, 4 * words, "test");
  runtime().synchronize("test");
  if (checked) initial_ = std::make_unique<Words>(values.begin(), values.end());
}

DeviceWords DeviceWords::input(std::span<const uint32_t> values) {
  return DeviceWords(values, 0, true);
}
DeviceWords DeviceWords::updated(std::span<const uint32_t> values) {
  return DeviceWords(values, kGuardWords, false);
}
DeviceWords DeviceWords::output(size_t n) { return updated(Words(n, kPoison)); }

DeviceWords::~DeviceWords() {
  if (!block_ || initial_ == nullptr) return;
  try {
    if (read() != *initial_) ADD_FAILURE() << "a kernel wrote to its input";
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

Words DeviceWords::read() const {
  const gpu::PinnedBlock staging = runtime().allocate_pinned(block_.bytes(), "test words", "test");
  runtime().download(staging.data(), block_.address(), block_.bytes(), "test");
  runtime().synchronize("test");
  const auto* host = staging.as<uint32_t>();
  for (size_t i = 0; i < guard_; ++i) {
    if (host[i] != kPoison) ADD_FAILURE() << "word " << guard_ - i << " before the buffer written";
    if (host[guard_ + size_ + i] != kPoison)
      ADD_FAILURE() << "word " << i << " after the buffer written";
  }
  return {host + guard_, host + guard_ + size_};
}

void DeviceWords::expect(std::span<const uint32_t> expected, std::string_view what) const {
  const Words got = read();
  ASSERT_EQ(got.size(), expected.size()) << what;
  size_t wrong = 0;
  size_t first = 0;
  for (size_t i = got.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return;
  ADD_FAILURE() << what << ": " << wrong << " of " << got.size() << " words differ, first word "
                << first << ": got " << got[first] << (got[first] == kPoison ? " (poison)" : "")
                << ", expected " << expected[first]
                << (expected[first] == kPoison ? " (poison)" : "");
}

void KernelTest::SetUp() {
  std::string why;
  if (find_runtime(&why) == nullptr) GTEST_SKIP() << "no CUDA device: " << why;
  use_schedule(GetParam());
}

void KernelTest::TearDown() {
  use_schedule({});
  EXPECT_EQ(driver_violations(), std::vector<std::string>());
}

void KernelTest::launch(const std::string& kernel, const gpu::LaunchGeometry& geometry,
                        const void* args, size_t args_size) {
  gpu::CudaRuntime& r = runtime();
  r.launch(r.kernel(kernel, geometry.shared_bytes, "test"), geometry, args, args_size, "test");
  r.synchronize("test");
}

}  // namespace stwo::test
