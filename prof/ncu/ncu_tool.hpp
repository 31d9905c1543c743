// Where Nsight Compute's command line profiler is, and whether it can be used.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/target/target.hpp"

namespace prof {

/// Starts a program and waits for it; run_target, or what a test puts in its place.
using TargetRunner = std::function<TargetResult(const TargetOptions&)>;

struct NcuTool {
  std::string path;     ///< empty: not found
  std::string version;  ///< "2025.3.1.0"; empty: unknown
  bool usable = false;
  std::string reason;  ///< why not; empty if usable. Permission for counters shows in a run only.
};

/// The oldest version with all options that run_ncu gives.
inline constexpr int kOldestNcuYear = 2022;

struct NcuPlaces {
  std::string path_variable;  ///< like PATH
  std::string cuda_root;      ///< holds cuda*/bin/ncu
  std::string nsight_root;    ///< holds VERSION/ncu
};
/// PATH, /usr/local and /opt/nvidia/nsight-compute.
NcuPlaces default_ncu_places();

/// Executable files named ncu in the places: in the order of PATH, then the newest of each root
/// first. Each file once.
std::vector<std::string> ncu_candidates(const NcuPlaces& places);

/// "2025.3.1.0" out of what `ncu --version` prints.
std::optional<std::string> ncu_version(std::string_view output);

/// The first candidate that tells a version that is new enough; else the first one, with the
/// reason. Throws nothing but what the runner throws for reasons of the system.
NcuTool find_ncu(const TargetRunner& runner = run_target,
                 const NcuPlaces& places = default_ncu_places());

}  // namespace prof
