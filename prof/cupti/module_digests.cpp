#include "prof/cupti/module_digests.hpp"

#include <exception>
#include <utility>

#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace prof {

void ModuleDigests::add(ledger::ResEventRow row, const char* code, size_t bytes) noexcept {
  row.bytes = static_cast<int64_t>(bytes);
  row.sha256.reset();
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (code != nullptr && bytes > 0 && waiting_bytes_ + bytes <= kMaxWaiting) {
      const auto* begin = reinterpret_cast<const uint8_t*>(code);
      waiting_.push_back({row, std::vector<uint8_t>(begin, begin + bytes)});
      waiting_bytes_ += bytes;
      return;
    }
  } catch (const std::exception&) {
    // No memory for the copy: the row goes without its digest.
  }
  log_.write(row);
}

void ModuleDigests::work() noexcept {
  std::vector<Waiting> work;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work.swap(waiting_);
    waiting_bytes_ = 0;
  }
  for (Waiting& module : work) {
    try {
      stwo::Sha256 hasher;
      hasher.update(std::span<const uint8_t>(module.code));
      module.row.sha256 = stwo::to_hex(hasher.finalize());
    } catch (const std::exception&) {
      module.row.sha256.reset();
    }
    log_.write(module.row);
  }
}

}  // namespace prof
