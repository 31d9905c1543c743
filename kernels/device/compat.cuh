// One source for two compilers. nvcc compiles the kernels for the device; the host compiler
// compiles the same files for the emulator (kernels/emulator), which runs a grid block by block on
// fibers so that every kernel is tested, sanitised and compared with the CPU prover on machines
// without a GPU.
//
// Rules for kernel code: one parameter, a plain struct from kernels/abi; all shared memory through
// shared_memory<T>(); block-wide barriers through sync_block(); no other CUDA built-ins than those
// declared here for the emulator.
#pragma once

#include <cstdint>

#ifdef __CUDACC__

#define STWO_DEVICE __device__ __forceinline__
#define STWO_CONSTANT __device__ constexpr
#define STWO_UNROLL _Pragma("unroll")
#define STWO_NO_UNROLL _Pragma("unroll 1")
/// A kernel: `name(args)` with args of type Args; at most `threads` per block, at least `blocks`
/// resident per multiprocessor.
#define STWO_KERNEL(name, Args, threads, blocks)                \
  extern "C" __global__ void __launch_bounds__(threads, blocks) \
      name(const __grid_constant__ Args args)

namespace stwo::gpu {

template <class T>
STWO_DEVICE T& shared_memory() {
  extern __shared__ __align__(16) unsigned char stwo_shared_bytes[];
  return *reinterpret_cast<T*>(stwo_shared_bytes);
}
STWO_DEVICE uint32_t thread_index() { return threadIdx.x; }
STWO_DEVICE uint32_t block_size() { return blockDim.x; }
STWO_DEVICE uint32_t block_index() { return blockIdx.x; }
STWO_DEVICE uint32_t block_index_y() { return blockIdx.y; }
STWO_DEVICE uint32_t grid_size() { return gridDim.x; }
STWO_DEVICE uint32_t grid_size_y() { return gridDim.y; }
STWO_DEVICE void sync_block() { __syncthreads(); }
STWO_DEVICE void sync_warp() { __syncwarp(); }
STWO_DEVICE uint32_t shuffle_xor(uint32_t value, uint32_t mask) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}
STWO_DEVICE uint32_t shuffle_up(uint32_t value, uint32_t delta) {
  return __shfl_up_sync(0xffffffffu, value, delta);
}
/// a + b on the multiplier's pipe. Adders and logic share one pipe that hashing fills; a product
/// with a 1 that the compiler cannot see (blocks are one-dimensional) moves additions off it.
STWO_DEVICE uint32_t add_by_multiplier(uint32_t a, uint32_t b) { return a * blockDim.y + b; }
STWO_DEVICE uint32_t rotate_right(uint32_t x, uint32_t n) {
  if (n == 16) return __byte_perm(x, 0, 0x1032);
  if (n == 8) return __byte_perm(x, 0, 0x0321);
  return __funnelshift_r(x, x, n);
}
STWO_DEVICE uint64_t atomic_min(uint64_t* address, uint64_t value) {
  return atomicMin(reinterpret_cast<unsigned long long*>(address), value);
}
STWO_DEVICE void atomic_or(uint32_t* address, uint32_t bits) { atomicOr(address, bits); }
STWO_DEVICE uint64_t load_volatile(const uint64_t* address) {
  return *reinterpret_cast<const volatile uint64_t*>(address);
}
/// 16 bytes at once; addresses are multiples of 16.
struct alignas(16) Word4 {
  uint32_t x, y, z, w;
};
STWO_DEVICE Word4 load4(const uint32_t* p) {
  const uint4 v = *reinterpret_cast<const uint4*>(p);
  return {v.x, v.y, v.z, v.w};
}
STWO_DEVICE void store4(uint32_t* p, Word4 v) {
  *reinterpret_cast<uint4*>(p) = make_uint4(v.x, v.y, v.z, v.w);
}
/// Read-only data, never written while the kernel runs.
STWO_DEVICE uint32_t load_constant(const uint32_t* p) { return __ldg(p); }

}  // namespace stwo::gpu

#else  // host compiler: the emulator

#include "kernels/emulator/emulator.hpp"

#define STWO_DEVICE inline
#define STWO_CONSTANT inline constexpr
#define STWO_UNROLL
#define STWO_NO_UNROLL
#define STWO_KERNEL(name, Args, threads, blocks)                                  \
  static void name(const Args& args);                                             \
  static const ::stwo::gpu::emulator::KernelRegistration name##_registration{     \
      #name, sizeof(Args), threads,                                               \
      [](const void* arguments) { name(*static_cast<const Args*>(arguments)); }}; \
  static void name(const Args& args)

namespace stwo::gpu {

template <class T>
T& shared_memory() {
  return *static_cast<T*>(emulator::shared_bytes(sizeof(T)));
}
inline uint32_t thread_index() { return emulator::thread_index(); }
inline uint32_t block_size() { return emulator::block_size(); }
inline uint32_t block_index() { return emulator::block_index(); }
inline uint32_t block_index_y() { return emulator::block_index_y(); }
inline uint32_t grid_size() { return emulator::grid_size(); }
inline uint32_t grid_size_y() { return emulator::grid_size_y(); }
inline void sync_block() { emulator::sync_block(); }
inline void sync_warp() { emulator::sync_warp(); }
inline uint32_t shuffle_xor(uint32_t value, uint32_t mask) {
  return emulator::shuffle(value, emulator::lane_index() ^ mask);
}
inline uint32_t shuffle_up(uint32_t value, uint32_t delta) {
  const uint32_t lane = emulator::lane_index();
  return emulator::shuffle(value, lane < delta ? lane : lane - delta);
}
inline uint32_t add_by_multiplier(uint32_t a, uint32_t b) { return a + b; }
inline uint32_t rotate_right(uint32_t x, uint32_t n) { return x >> n | x << (32 - n); }
inline uint64_t atomic_min(uint64_t* address, uint64_t value) {
  const uint64_t old = *address;
  if (value < old) *address = value;
  return old;
}
inline void atomic_or(uint32_t* address, uint32_t bits) { *address |= bits; }
inline uint64_t load_volatile(const uint64_t* address) { return *address; }
struct alignas(16) Word4 {
  uint32_t x, y, z, w;
};
inline Word4 load4(const uint32_t* p) { return {p[0], p[1], p[2], p[3]}; }
inline void store4(uint32_t* p, Word4 v) {
  emulator::check_aligned(p, 16);
  p[0] = v.x;
  p[1] = v.y;
  p[2] = v.z;
  p[3] = v.w;
}
inline uint32_t load_constant(const uint32_t* p) { return *p; }

}  // namespace stwo::gpu

#endif
