// Twiddle tables on the device: made there once, shared by every prepared shape that they are large
// enough for.
#pragma once

#include <memory>

#include "kernels/runtime/runtime.hpp"
#include "kernels/tables/tables_args.hpp"

namespace stwo::gpu {

/// Tables of all canonic domains up to 2^log; immutable.
class TwiddleTables {
 public:
  /// Makes them; async on the runtime's stream.
  TwiddleTables(CudaRuntime& runtime, uint32_t log);
  uint32_t log() const { return log_; }
  uint64_t bytes() const { return block_.bytes(); }
  /// Tables in the order x, x_inverse, y, y_inverse.
  CUdeviceptr table(uint32_t i) const;
  /// The same as kernels' argument structs want it.
  uint32_t* table_words(uint32_t i) const;

 private:
  uint32_t log_;
  DeviceBlock block_;
};

/// The runtime's tables, if they reach far enough, or new ones. Smaller ones stay as long as a
/// prepared shape holds them.
std::shared_ptr<const TwiddleTables> resident_tables(CudaRuntime& runtime, uint32_t log);

}  // namespace stwo::gpu
