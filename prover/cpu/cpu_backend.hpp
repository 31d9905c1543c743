// The CPU backend: SIMD and threads. The reference for every other backend, and what people without
// a GPU run.
#pragma once

#include <memory>

#include "prover/backend.hpp"

namespace stwo {

/// n_threads = 0: every core the process may run on.
/// Memory: see CpuShape (prover/cpu/cpu_shape.hpp); prepare() refuses a shape that does not fit.
std::unique_ptr<Backend> make_cpu_backend(uint32_t n_threads = 0);

}  // namespace stwo
