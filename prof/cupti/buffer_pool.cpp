#include "prof/cupti/buffer_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace prof {
namespace {

uint8_t* make(int flags) noexcept {
  void* memory = ::mmap(nullptr, BufferPool::kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

void destroy(uint8_t* buffer) noexcept { ::munmap(buffer, BufferPool::kBytes); }

using Lock = std::lock_guard<std::mutex>;

}  // namespace

BufferPool::BufferPool() {
  ready_.reserve(kKept);
  used_.reserve(kKept);
}

BufferPool::~BufferPool() {
  for (uint8_t* buffer : ready_) destroy(buffer);
  for (const Used& used : used_) destroy(used.buffer);
}

uint8_t* BufferPool::take() noexcept {
  {
    const Lock lock(mutex_);
    if (!ready_.empty()) {
      uint8_t* buffer = ready_.back();
      ready_.pop_back();
      return buffer;
    }
  }
  return make(0);
}

void BufferPool::give_back(uint8_t* buffer, size_t used) noexcept {
  if (buffer == nullptr) return;
  {
    const Lock lock(mutex_);
    if (ready_.size() + used_.size() < kKept) {
      used_.push_back({buffer, std::min(used, kBytes)});
      return;
    }
  }
  destroy(buffer);
}

void BufferPool::prepare() noexcept {
  while (true) {
    Used used{nullptr, 0};
    {
      const Lock lock(mutex_);
      if (!used_.empty()) {
        used = used_.back();
        used_.pop_back();
      } else if (ready_.size() >= kReady) {
        return;
      }
    }
    if (used.buffer == nullptr) {
      used.buffer = make(MAP_POPULATE);
      if (used.buffer == nullptr) return;
    } else {
      std::memset(used.buffer, 0, used.bytes);
    }
    const Lock lock(mutex_);
    if (ready_.size() + used_.size() < kKept) {
      ready_.push_back(used.buffer);
    } else {
      destroy(used.buffer);
    }
  }
}

size_t BufferPool::ready() const noexcept {
  const Lock lock(mutex_);
  return ready_.size();
}

}  // namespace prof
