// The profilers on this machine: can they do what we need them for? Found out by letting them do
// it.
#pragma once

#include <string>
#include <vector>

#include "prof/caps/command.hpp"
#include "prof/nvml/known.hpp"

namespace prof {

struct Tool {
  std::string name;  ///< cupti, nvtx, nsys, ncu
  bool usable = false;
  std::string reason;  ///< why not, and what to do; empty exactly when usable
  Known<std::string> version;
  Known<std::string> path;

  static Tool unusable(const std::string& name, const std::string& reason);
};

struct NcuProbe {
  Tool tool;
  Known<bool> counter_permission;
};
/// Nsight Compute. `located`: where its tool is, with its version, or why there is none.
/// `one_kernel`: a command that launches one kernel and ends. `has_device`: can it run?
NcuProbe probe_ncu(const CommandRunner& run, const Tool& located,
                   const std::vector<std::string>& one_kernel, bool has_device);

/// Version of the toolkit whose nvcc is in PATH, e.g. "13.0.88".
Known<std::string> toolkit_version(const CommandRunner& run);

/// "2025.3.1" out of "... version 2025.3.1.90-..." or "..., V13.0.88": the first dotted number
/// after `word`; empty if there is none.
std::string version_after(const std::string& text, const std::string& word);

}  // namespace prof
