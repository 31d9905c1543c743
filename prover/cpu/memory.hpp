// Large zeroed buffers for the CPU backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace stwo::cpu {

/// Every buffer is readable and writable this many bytes past its size, so that vector kernels need
/// no scalar tail.
inline constexpr size_t kBufferPaddingBytes = 256;

/// Move-only owner of anonymous pages, 4 KiB aligned at least, zero at first touch, asked to be
/// huge pages when large. Throws EnvironmentError (OUT_OF_MEMORY) naming the bytes.
class RawBuffer {
 public:
  RawBuffer() = default;
  explicit RawBuffer(size_t bytes);
  ~RawBuffer();
  RawBuffer(RawBuffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), mapped_(std::exchange(o.mapped_, 0)) {}
  RawBuffer& operator=(RawBuffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(mapped_, o.mapped_);
    return *this;
  }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  size_t mapped_ = 0;
};

/// Typed view of a RawBuffer.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t count) : raw_(count * sizeof(T)), count_(count) {}
  T* data() const { return static_cast<T*>(raw_.data()); }
  size_t size() const { return count_; }
  uint64_t bytes() const { return count_ * sizeof(T); }
  T& operator[](size_t i) const { return data()[i]; }

 private:
  RawBuffer raw_;
  size_t count_ = 0;
};

/// Physical memory this process may still use: the smaller of what the kernel reports available and
/// the cgroup's limit. 0 if neither can be read.
uint64_t available_memory_bytes();

}  // namespace stwo::cpu
