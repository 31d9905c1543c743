#include "prover/cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "prover/errors.hpp"

namespace stwo::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

uint64_t read_number(const char* path) {
  std::ifstream in(path);
  uint64_t value = 0;
  return in >> value ? value : 0;
}

}  // namespace

RawBuffer::RawBuffer(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2) {
    throw EnvironmentError("OUT_OF_MEMORY", "a buffer of " + std::to_string(bytes) +
                                                " bytes is beyond the address space");
  }
  const size_t want = bytes + kBufferPaddingBytes;
  const size_t unit = want >= kHugePage ? kHugePage : 4096;
  mapped_ = (want + unit - 1) / unit * unit;
  data_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    const size_t failed = std::exchange(mapped_, 0);
    throw EnvironmentError("OUT_OF_MEMORY", "cannot allocate " + std::to_string(failed) +
                                                " bytes; lower the trace size or the blowup");
  }
  // Many columns at a large stride would otherwise miss the TLB on every row. Advice only.
  if (unit == kHugePage) madvise(data_, mapped_, MADV_HUGEPAGE);
}

RawBuffer::~RawBuffer() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

uint64_t available_memory_bytes() {
  uint64_t available = 0;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    if (key == "MemAvailable:") {
      meminfo >> available;
      available *= 1024;
      break;
    }
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
  const uint64_t used = read_number("/sys/fs/cgroup/memory.current");
  if (limit != 0) {
    const uint64_t left = limit > used ? limit - used : 0;
    available = available == 0 ? left : std::min(available, left);
  }
  return available;
}

}  // namespace stwo::cpu
