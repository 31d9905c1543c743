// A fixed set of threads that run one index range at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stwo::cpu {

/// The calling thread takes part in the work, so a pool of n has n - 1 workers. Not re-entrant: a
/// task must not call parallel_for.
class ThreadPool {
 public:
  /// n_threads = 0: as many as the process may run on (its affinity mask).
  explicit ThreadPool(uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Calls task(index, thread) for every index in [0, n), in no particular order; thread < size().
  /// Returns when all are done; rethrows the first exception.
  void parallel_for(uint64_t n, const std::function<void(uint64_t, uint32_t)>& task);

  /// Splits [0, n) into chunks of at least min_chunk (a power of two) and calls task(begin, end,
  /// thread).
  void parallel_ranges(uint64_t n, uint64_t min_chunk,
                       const std::function<void(uint64_t, uint64_t, uint32_t)>& task);

 private:
  void worker(uint32_t thread);
  void run(uint32_t thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<uint32_t> active_{0};
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> next_{0};
  uint64_t n_ = 0;
  const std::function<void(uint64_t, uint32_t)>* task_ = nullptr;
  std::exception_ptr error_;
};

}  // namespace stwo::cpu
