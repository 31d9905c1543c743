#include "prover/cpu/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace stwo::cpu {
namespace {

/// Rounds a worker spins for more work before it sleeps. Stages follow each other within
/// microseconds, a wake-up costs tens of them.
constexpr int kSpinRounds = 20000;

uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(uint32_t n_threads) {
  const uint32_t n = n_threads == 0 ? usable_cores() : n_threads;
  for (uint32_t t = 1; t < n; ++t) workers_.emplace_back([this, t] { worker(t); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    generation_.fetch_add(1, std::memory_order_release);
  }
  start_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void ThreadPool::run(uint32_t thread) {
  for (;;) {
    const uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= n_) return;
    try {
      (*task_)(i, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_.store(n_, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::worker(uint32_t thread) {
  uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < kSpinRounds && generation_.load(std::memory_order_acquire) == seen; ++i) {
      pause();
    }
    if (generation_.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_) return;
    run(thread);
    active_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::parallel_for(uint64_t n, const std::function<void(uint64_t, uint32_t)>& task) {
  if (n == 0) return;
  if (workers_.empty() || n == 1) {
    for (uint64_t i = 0; i < n; ++i) task(i, 0);
    return;
  }
  task_ = &task;
  n_ = n;
  error_ = nullptr;
  next_.store(0, std::memory_order_relaxed);
  active_.store(static_cast<uint32_t>(workers_.size()), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  start_.notify_all();
  run(0);
  // Workers still hold indices they took; every one of them must have left before task_ goes away.
  for (uint64_t spins = 0; active_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins > 1000) {
      std::this_thread::yield();
    } else {
      pause();
    }
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::parallel_ranges(uint64_t n, uint64_t min_chunk,
                                 const std::function<void(uint64_t, uint64_t, uint32_t)>& task) {
  // Four chunks a thread even out unequal speed without much overhead.
  const uint64_t wanted = (n + 4 * size() - 1) / (4 * size());
  const uint64_t chunk = std::max(min_chunk, (wanted + min_chunk - 1) / min_chunk * min_chunk);
  parallel_for((n + chunk - 1) / chunk, [&](uint64_t i, uint32_t thread) {
    task(i * chunk, std::min(n, (i + 1) * chunk), thread);
  });
}

}  // namespace stwo::cpu
