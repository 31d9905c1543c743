// Ranges for profilers: domain "stwo.prover", one category per kind of range, push and pop on the
// thread that submits work. Without a profiler attached a range costs one test of a pointer.
#pragma once

#include <cstdint>
#include <string_view>

namespace stwo::gpu {

enum class NvtxCategory : uint32_t { kRequest = 1, kStage = 2, kPass = 3 };

/// Open from construction to destruction. `payload`: request ordinal, or predicted bytes of a pass.
class NvtxRange {
 public:
  NvtxRange(NvtxCategory category, std::string_view name, uint64_t payload) noexcept;
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace stwo::gpu
