// Programs with one known bottleneck each, for the diagnosis to find: planted MODE.
//
//   copy       copies 512 MiB: bandwidth
//   blake2s    Blake2s rounds in registers: compute
//   chase      a thread per warp follows pointers: latency
//   occupancy  a block's shared memory leaves room for two warps: occupancy
//   tiny       2000 kernels of a microsecond: launch fragmentation
//   chain      one-block kernels of two streams, each waiting for the one before: dependency
//              serialization

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const cudaError_t status = (call);                                              \
    if (status != cudaSuccess) {                                                    \
      std::fprintf(stderr, "planted: %s: %s\n", #call, cudaGetErrorString(status)); \
      std::exit(4);                                                                 \
    }                                                                               \
  } while (false)

__global__ void planted_copy(const uint4* in, uint4* out, size_t n) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = in[i];
  }
}

__device__ uint32_t rotated(uint32_t x, int by) { return __funnelshift_r(x, x, by); }

__device__ void mix(uint32_t* v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
  v[a] += v[b] + x;
  v[d] = rotated(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = rotated(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 7);
}

__global__ void planted_blake2s(uint32_t* out, int rounds) {
  uint32_t v[16];
  const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = id * 0x9e3779b9u + static_cast<uint32_t>(i);
  for (int r = 0; r < rounds; ++r) {
    mix(v, 0, 4, 8, 12, id, r);
    mix(v, 1, 5, 9, 13, r, id);
    mix(v, 2, 6, 10, 14, id, r);
    mix(v, 3, 7, 11, 15, r, id);
    mix(v, 0, 5, 10, 15, id, r);
    mix(v, 1, 6, 11, 12, r, id);
    mix(v, 2, 7, 8, 13, id, r);
    mix(v, 3, 4, 9, 14, r, id);
  }
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum ^= v[i];
  if (sum == 0x12345678u) out[0] = sum;
}

__global__ void planted_chase(const uint32_t* next, uint32_t* out, uint32_t mask, int steps) {
  if (threadIdx.x % 32 != 0) return;
  uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u & mask;
  for (int i = 0; i < steps; ++i) at = next[at];
  if (at == ~0u) out[0] = at;
}

__global__ void planted_occupancy(uint32_t* out, int steps) {
  extern __shared__ uint32_t room[];
  uint32_t x = threadIdx.x + blockIdx.x;
  for (int i = 0; i < steps; ++i) x = x * x + 1013904223u;
  room[threadIdx.x] = x;
  __syncthreads();
  if (room[(threadIdx.x + 1) % blockDim.x] == 0x12345678u) out[0] = x;
}

__global__ void planted_tiny(uint32_t* out) {
  if (threadIdx.x == 0) out[blockIdx.x] += 1;
}

__global__ void planted_chain(uint32_t* out, int steps) {
  uint32_t x = out[threadIdx.x];
  for (int i = 0; i < steps; ++i) x = x * x + 1013904223u;
  out[threadIdx.x] = x;
}

namespace {

uint32_t* device_words(size_t n) {
  uint32_t* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(uint32_t)));
  CHECK(cudaMemset(p, 0, n * sizeof(uint32_t)));
  return p;
}

void copy() {
  constexpr size_t kWords = size_t{128} << 20;
  uint32_t* in = device_words(kWords);
  uint32_t* out = device_words(kWords);
  for (int i = 0; i < 10; ++i) {
    planted_copy<<<132 * 8, 512>>>(reinterpret_cast<const uint4*>(in),
                                   reinterpret_cast<uint4*>(out), kWords / 4);
  }
}

void blake2s() {
  uint32_t* out = device_words(1);
  for (int i = 0; i < 10; ++i) planted_blake2s<<<132 * 32, 256>>>(out, 1000);
}

void chase() {
  // Stays in the L2 cache; the step is odd, so that the chain visits every place.
  constexpr uint32_t kWords = uint32_t{4} << 20;
  std::vector<uint32_t> next(kWords);
  for (uint32_t i = 0; i < kWords; ++i) next[i] = (i * 5 + 12345) & (kWords - 1);
  uint32_t* chain = device_words(kWords);
  CHECK(cudaMemcpy(chain, next.data(), kWords * sizeof(uint32_t), cudaMemcpyHostToDevice));
  uint32_t* out = device_words(1);
  for (int i = 0; i < 10; ++i) planted_chase<<<132 * 32 * 2, 64>>>(chain, out, kWords - 1, 2000);
}

void occupancy() {
  uint32_t* out = device_words(1);
  constexpr int kShared = 200 << 10;
  CHECK(cudaFuncSetAttribute(planted_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kShared));
  for (int i = 0; i < 10; ++i) planted_occupancy<<<132 * 16, 64, kShared>>>(out, 20000);
}

void tiny() {
  uint32_t* out = device_words(1);
  for (int i = 0; i < 2000; ++i) planted_tiny<<<1, 32>>>(out);
}

void chain() {
  uint32_t* out = device_words(256);
  cudaStream_t streams[2];
  cudaEvent_t events[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
  }
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 400; ++i) {
    const int at = i % 2;
    if (i != 0) CHECK(cudaStreamWaitEvent(streams[at], events[1 - at], 0));
    planted_chain<<<1, 256, 0, streams[at]>>>(out, 10000);
    CHECK(cudaEventRecord(events[at], streams[at]));
  }
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {{"copy", copy},           {"blake2s", blake2s}, {"chase", chase},
                           {"occupancy", occupancy}, {"tiny", tiny},       {"chain", chain}};

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& mode : kModes) {
    if (argc == 2 && std::strcmp(argv[1], mode.name) == 0) {
      mode.run();
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      return 0;
    }
  }
  std::fprintf(stderr, "planted: expected one of copy, blake2s, chase, occupancy, tiny, chain\n");
  return 2;
}
