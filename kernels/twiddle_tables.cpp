#include "kernels/tables/twiddle_tables.hpp"

#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kThreads = 256;
constexpr const char* kKey = "twiddle tables";

}  // namespace

TwiddleTables::TwiddleTables(CudaRuntime& runtime, uint32_t log)
    : log_(log), block_(runtime.allocate(uint64_t{16} << log, "twiddle tables")) {
  const Kernel kernel = runtime.kernel("make_tables");
  MakeTablesArgs args = {};
  args.x = table_words(0);
  args.x_inverse = table_words(1);
  args.y = table_words(2);
  args.y_inverse = table_words(3);
  args.log_entries = log;
  LaunchGeometry geometry;
  geometry.threads = kThreads;
  geometry.grid_x = log > 8 ? 1u << (log - 8) : 1;
  runtime.launch(kernel, geometry, args, "prepare", "twiddle tables");
}

CUdeviceptr TwiddleTables::table(uint32_t i) const {
  STWO_CHECK(i < 4, "there are four twiddle tables");
  return block_.address() + (uint64_t{4} << log_) * i;
}

uint32_t* TwiddleTables::table_words(uint32_t i) const {
  STWO_CHECK(i < 4, "there are four twiddle tables");
  return block_.as<uint32_t>() + (uint64_t{1} << log_) * i;
}

std::shared_ptr<const TwiddleTables> resident_tables(CudaRuntime& runtime, uint32_t log) {
  auto tables = runtime.immutable<TwiddleTables>(kKey);
  if (tables != nullptr && tables->log() >= log) return tables;
  tables = std::make_shared<TwiddleTables>(runtime, log);
  runtime.keep_immutable(kKey, tables);
  return tables;
}

}  // namespace stwo::gpu
