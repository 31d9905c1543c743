#include "kernels/plan/fft_schedule.hpp"

#include <algorithm>
#include <string_view>

namespace stwo::gpu {
namespace {

/// Blocks a multiprocessor should get over a launch for its load to be even.
constexpr uint64_t kBlocksPerMultiprocessor = 16;
constexpr uint64_t kMaxColumnsPerBlock = 8;
/// The one strided pass that takes wide tiles.
constexpr uint32_t kWideLayers = 10;

bool is_wide(uint32_t low, uint32_t layers) { return low != 0 && layers == kWideLayers; }

/// Tiles that `rows` rows of a column take.
uint64_t tiles(uint64_t rows, uint32_t low, uint32_t layers) {
  return std::max<uint64_t>(rows >> (is_wide(low, layers) ? kFftLogWideTile : kFftLogTile), 1);
}

/// Layers per pass of a transform of 2^n rows, low to high: a contiguous pass, then strided ones.
/// Strided passes exist for 4, 8 and 10 layers; a contiguous one does up to 12 and should do 8 at
/// least, so that strided tiles have full lanes.
std::vector<uint32_t> split_layers(uint32_t n) {
  if (n <= kFftLogTile) return {n};
  if (n <= 16) return {n - 4, 4};
  if (n <= 20) return {n - 8, 8};
  if (n <= 22) return {n - 10, 10};
  if (n <= 24) return {n - 12, 8, 4};
  if (n <= 28) return {n - 16, 8, 8};
  return {n - 18, 8, 10};
}

}  // namespace

void FftSchedule::pass(const char* mode, const std::string& name, LaunchArgs<FftArgs>& args,
                       const Transform& t, uint32_t low, uint32_t layers, uint64_t read_rows,
                       uint64_t written_rows) {
  const uint64_t n_columns = t.source.count;
  args->source_stride = t.source.stride;
  args->target_stride = t.target.stride;
  args->n_columns = t.source.count;
  args->log_rows = t.log_rows;
  args->low_layer = low;
  args->n_layers = layers;
  args->domain_log = t.domain_log;
  args->domain_block = t.domain_block;
  const uint64_t table = uint64_t{4} << (t.domain_log - 1);
  args.read(args->x, {t.inverse_tables ? tables_.x_inverse : tables_.x, 0}, table);
  args.read(args->y, {t.inverse_tables ? tables_.y_inverse : tables_.y, 0}, low == 0 ? table : 0);
  args.read(args->source, t.source.row(t.source_row), 4 * n_columns * read_rows);
  args.write(args->target, t.target.row(t.target_row), 4 * n_columns * written_rows);

  std::string kernel = std::string("fft_") + mode;
  const bool is_short = t.log_rows < kFftLogTile;
  const bool wide = is_wide(low, layers);
  Geometry g;
  g.threads = wide ? kFftWideThreads : kFftThreads;
  if (std::string_view(mode) == "extend") {
    g.shared_bytes = wide ? kFftWideExtendSharedBytes : kFftExtendSharedBytes;
  } else {
    g.shared_bytes = wide ? kFftWideSharedBytes : kFftSharedBytes;
  }
  if (is_short) {
    // A tile holds several columns.
    kernel += "_short";
    args->columns_per_block = 1;
    g.grid_y = blocks_for(n_columns, uint64_t{1} << (kFftLogTile - t.log_rows));
  } else {
    kernel += low == 0 ? "_rows" : "_strided" + std::to_string(layers);
    g.grid_x = tiles(read_rows, low, layers);
    const uint64_t wanted = multiprocessors_ * kBlocksPerMultiprocessor;
    const auto group = std::clamp<uint64_t>(g.grid_x * n_columns / wanted, 1, kMaxColumnsPerBlock);
    args->columns_per_block = static_cast<uint32_t>(group);
    g.grid_y = blocks_for(n_columns, group);
  }
  b_.launch(kernel, name, g, args);
}

void FftSchedule::extend(const Columns& source, uint64_t source_row, const Columns& target,
                         uint64_t work_row, uint32_t n, uint32_t inverse_domain_log,
                         uint32_t first_block, uint32_t end_block, const std::string& what) {
  const uint32_t forward_log = n + log_blowup_;
  const uint64_t rows = uint64_t{1} << n;
  const uint64_t written = (end_block - first_block) * rows;
  const std::vector<uint32_t> layers = split_layers(n);
  const size_t top = layers.size() - 1;

  Transform t;
  t.log_rows = n;
  t.domain_log = inverse_domain_log;
  t.inverse_tables = true;
  t.source = source;
  t.source_row = source_row;
  t.target = target;
  t.target.count = source.count;
  t.target_row = work_row;
  uint32_t low = 0;
  for (size_t i = 0; i < top; ++i) {
    LaunchArgs<FftArgs> args;
    pass("inverse", (i == 0 ? "interpolate low layers of " : "interpolate layers of ") + what, args,
         t, low, layers[i], rows, rows);
    low += layers[i];
    t.source = t.target;
    t.source_row = work_row;
  }
  LaunchArgs<FftArgs> both;
  both->scale_log = n;
  both->first_block = first_block;
  both->end_block = end_block;
  both->forward_domain_log = forward_log;
  const uint64_t table = uint64_t{4} << (forward_log - 1);
  both.read(both->forward_x, {tables_.x, 0}, table);
  both.read(both->forward_y, {tables_.y, 0}, table);
  t.target_row = 0;
  pass("extend", (top == 0 ? "lde of " : "lde high layers of ") + what, both, t, low, layers[top],
       rows, written);

  // The remaining forward layers, over all the blocks written at once.
  Transform forward;
  forward.source = t.target;
  forward.target = t.target;
  forward.log_rows = forward_log;
  forward.domain_log = forward_log;
  for (size_t i = top; i-- > 0;) {
    low -= layers[i];
    LaunchArgs<FftArgs> args;
    args->first_tile =
        first_block == 0 ? 0 : static_cast<uint32_t>(tiles(first_block * rows, low, layers[i]));
    pass("forward", (i == 0 ? "lde low layers of " : "lde layers of ") + what, args, forward, low,
         layers[i], written, written);
  }
}

void FftSchedule::interpolate(const Columns& columns, uint32_t n, uint32_t domain_log,
                              const std::string& what) {
  const uint64_t rows = uint64_t{1} << n;
  Transform t;
  t.source = columns;
  t.target = columns;
  t.log_rows = n;
  t.domain_log = domain_log;
  t.inverse_tables = true;
  uint32_t low = 0;
  for (const uint32_t layers : split_layers(n)) {
    LaunchArgs<FftArgs> args;
    if (low + layers == n) args->scale_log = n;
    pass("inverse", "interpolate " + what, args, t, low, layers, rows, rows);
    low += layers;
  }
}

void FftSchedule::evaluate(Transform t, const std::string& what) {
  const uint64_t rows = uint64_t{1} << t.log_rows;
  const std::vector<uint32_t> layers = split_layers(t.log_rows);
  uint32_t low = t.log_rows;
  for (size_t i = layers.size(); i-- > 0;) {
    low -= layers[i];
    LaunchArgs<FftArgs> args;
    pass("forward", "evaluate " + what, args, t, low, layers[i], rows, rows);
    t.source = t.target;
    t.source_row = t.target_row;
  }
}

}  // namespace stwo::gpu
