// Sorts more values than memory holds: runs of bounded size go to a scratch file and are merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <type_traits>
#include <vector>

#include "prover/errors.hpp"

namespace prof {

/// A file without a name that grows, and disappears with its owner. Throws EnvironmentError
/// SCRATCH.
class ScratchFile {
 public:
  /// In `folder`, which must exist; made on the first write.
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  void append(const void* bytes, size_t size);
  void read(uint64_t offset, void* bytes, size_t size) const;
  uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* doing) const;
  std::string folder_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// add() everything, then next() until it returns false. `Less` orders the values; equal values
/// come in the order in which they were added.
template <class T, class Less = std::less<T>>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Memory for values before they go to the scratch file in `folder`; at least one value.
  ExternalSorter(std::string folder, size_t memory_bytes)
      : scratch_(std::move(folder)), limit_(std::max<size_t>(1, memory_bytes / sizeof(T))) {}

  void add(const T& value) {
    STWO_CHECK(!merging_, "a sorter takes no values after the first was read");
    if (values_.size() == limit_) spill();
    values_.push_back(value);
    ++count_;
  }
  uint64_t count() const { return count_; }

  /// The next value in order; false: there are no more.
  bool next(T& out) {
    if (!merging_) begin();
    if (runs_.empty()) {
      if (at_ == values_.size()) return false;
      out = values_[at_++];
      return true;
    }
    if (queue_.empty()) return false;
    Run& run = runs_[queue_.top()];
    out = run.buffer[run.at++];
    const size_t index = queue_.top();
    queue_.pop();
    if (refill(run)) queue_.push(index);
    return true;
  }

 private:
  static constexpr size_t kReadBytes = size_t{64} << 10;

  struct Run {
    uint64_t offset = 0;
    uint64_t left = 0;
    std::vector<T> buffer{};
    size_t at = 0;
  };
  struct Later {
    const std::vector<Run>* runs;
    bool operator()(size_t a, size_t b) const {
      const T& x = (*runs)[a].buffer[(*runs)[a].at];
      const T& y = (*runs)[b].buffer[(*runs)[b].at];
      if (Less{}(x, y)) return false;
      return Less{}(y, x) || a > b;
    }
  };

  void spill() {
    std::stable_sort(values_.begin(), values_.end(), Less{});
    Run run;
    run.offset = scratch_.size();
    run.left = values_.size();
    scratch_.append(values_.data(), values_.size() * sizeof(T));
    runs_.push_back(std::move(run));
    values_.clear();
  }

  bool refill(Run& run) {
    if (run.at < run.buffer.size()) return true;
    const uint64_t n = std::min<uint64_t>(run.left, std::max<size_t>(1, kReadBytes / sizeof(T)));
    run.buffer.resize(static_cast<size_t>(n));
    run.at = 0;
    if (n == 0) return false;
    scratch_.read(run.offset, run.buffer.data(), run.buffer.size() * sizeof(T));
    run.offset += n * sizeof(T);
    run.left -= n;
    return true;
  }

  void begin() {
    merging_ = true;
    if (runs_.empty()) {
      std::stable_sort(values_.begin(), values_.end(), Less{});
      return;
    }
    if (!values_.empty()) spill();
    std::vector<T>().swap(values_);
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (refill(runs_[i])) queue_.push(i);
    }
  }

  ScratchFile scratch_;
  size_t limit_;
  uint64_t count_ = 0;
  bool merging_ = false;
  std::vector<T> values_;
  size_t at_ = 0;
  std::vector<Run> runs_;
  std::priority_queue<size_t, std::vector<size_t>, Later> queue_{Later{&runs_}};
};

}  // namespace prof
