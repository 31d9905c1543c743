// What each kernel cost in the window, and the stage it runs in.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "prof/timeline/kernel_facts.hpp"
#include "prof/timeline/launched_op.hpp"
#include "prof/timeline/stage_table.hpp"

namespace prof {

/// Memory: 16 bytes for each launch.
class KernelQuestion {
 public:
  /// Operations in order of their start.
  void add(const LaunchedOp& launched);
  /// Longest total first; equal ones by name. Kernels that touch the window.
  std::vector<KernelFacts> answer(const StageTable& stages, Names& names) const;

 private:
  struct Kernel {
    int64_t launches = 0;
    int64_t total_ns = 0;
    std::vector<int64_t> durations;
    std::vector<int64_t> gaps;
    bool waited = false;                      ///< for at least one launch the device was idle
    std::map<ledger::StrId, int64_t> stages;  ///< time by stage; 0: none
  };
  std::map<ledger::StrId, Kernel> kernels_;
};

}  // namespace prof
