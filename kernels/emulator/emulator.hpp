// Runs kernels on the host, so that every kernel can be tested, sanitised and compared with the CPU
// prover on machines without a GPU. kernels/device/compat.cuh maps the kernel language onto it;
// only tests link it.
//
// A grid runs block by block. The threads of a block are fibers on the calling thread: each runs
// until it waits at a barrier, so a data race between two barriers gives one definite result that
// depends on the order of the fibers. set_schedule() changes that order: results which change with
// it show a missing barrier. A warp is 32 consecutive threads.
//
// A kernel that breaks the rules (some threads wait at a barrier that others never reach, more
// shared memory than the launch gave, a misaligned vector access) ends the process with one line
// that names kernel, block and thread: its state cannot be unwound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stwo::gpu::emulator {

inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kMaxThreads = 1024;
/// Shared memory holds this byte before each block; four of them are no M31 value.
inline constexpr unsigned char kSharedPoison = 0xdb;

struct KernelInfo {
  std::string name;
  size_t args_size = 0;      ///< bytes of the kernel's one parameter
  uint32_t max_threads = 0;  ///< its launch bound
};

/// Enters a kernel into the process-wide registry; made by STWO_KERNEL during static
/// initialisation. Ends the process when the name is taken.
class KernelRegistration {
 public:
  using Function = void (*)(const void* args);
  KernelRegistration(const char* name, size_t args_size, uint32_t max_threads, Function function);
};

/// All linked kernels, by name.
std::vector<KernelInfo> kernels();
/// Null when no kernel of that name is linked. Valid for the life of the process.
const KernelInfo* find_kernel(std::string_view name);

/// Runs grid_x * grid_y blocks of `threads` threads, one after another; returns when all are done.
/// `args` points at the kernel's argument struct. Several host threads may launch at the same time.
/// Ends the process when the kernel is unknown or the geometry is outside its bounds.
void launch(std::string_view name, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
            size_t shared_bytes, const void* args);

/// Order in which the threads of a block, and the blocks of a grid, run: 0 ascending, 1 descending,
/// anything else pseudo-random, new after every barrier, the same for the same seed. For all later
/// launches of the process. Before the first call the environment variable STWO_EMULATOR_SCHEDULE
/// decides (a number; absent: 0).
void set_schedule(uint64_t seed);
uint64_t schedule();

namespace detail {
/// Coordinates of the running fiber. Constant-initialised: read without a guard.
struct Position {
  uint32_t thread;
  uint32_t threads;
  uint32_t block;
  uint32_t block_y;
  uint32_t grid;
  uint32_t grid_y;
  size_t shared_size;
  void* shared;
};
extern constinit thread_local Position position;
[[noreturn]] void fail_shared(size_t size);
[[noreturn]] void fail_alignment(const void* address, size_t alignment);
}  // namespace detail

// What the kernel language needs, for the running thread. Only inside a kernel.

inline uint32_t thread_index() { return detail::position.thread; }
inline uint32_t block_size() { return detail::position.threads; }
inline uint32_t block_index() { return detail::position.block; }
inline uint32_t block_index_y() { return detail::position.block_y; }
/// Blocks in x.
inline uint32_t grid_size() { return detail::position.grid; }
/// Blocks in y.
inline uint32_t grid_size_y() { return detail::position.grid_y; }
inline uint32_t lane_index() { return detail::position.thread % kWarpSize; }

/// The block's dynamic shared memory, aligned to 16 bytes and as long as the launch asked for.
inline void* shared_bytes(size_t size) {
  if (size > detail::position.shared_size) detail::fail_shared(size);
  return detail::position.shared;
}

/// Waits for every thread of the block.
void sync_block();
/// Waits for every thread of the warp.
void sync_warp();
/// The value that lane `source_lane` of this warp gives; every thread of the warp takes part.
uint32_t shuffle(uint32_t value, uint32_t source_lane);

/// `alignment` is a power of two.
inline void check_aligned(const void* address, size_t alignment) {
  if ((reinterpret_cast<uintptr_t>(address) & (alignment - 1)) != 0)
    detail::fail_alignment(address, alignment);
}

}  // namespace stwo::gpu::emulator
