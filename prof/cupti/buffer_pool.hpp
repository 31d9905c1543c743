// Buffers for CUPTI to write records into. CUPTI asks for one on the thread that works, so a buffer
// must be at hand at once: zeroed, and with its pages in memory. Another thread prepares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace prof {

class BufferPool {
 public:
  /// Aligned to pages. CUPTI asks for one per thread.
  static constexpr size_t kBytes = size_t{8} << 20;
  /// Buffers that prepare() keeps at hand, and most that are kept at all.
  static constexpr size_t kReady = 4;
  static constexpr size_t kKept = 16;

  BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// A zeroed buffer that nobody else has; null: no memory.
  uint8_t* take() noexcept;
  /// Returns a buffer whose first `used` bytes are not zero any more.
  void give_back(uint8_t* buffer, size_t used) noexcept;
  /// Makes buffers ready: for a thread that nobody waits for.
  void prepare() noexcept;

  size_t ready() const noexcept;

 private:
  struct Used {
    uint8_t* buffer;
    size_t bytes;
  };
  mutable std::mutex mutex_;
  // Room for kKept each from the start: nothing is allocated while buffers change hands.
  std::vector<uint8_t*> ready_;
  std::vector<Used> used_;
};

}  // namespace prof
