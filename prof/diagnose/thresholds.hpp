// The numbers of the diagnosis rule: prof/diagnose/thresholds_v1.json, part of the program.
#pragma once

#include <string>
#include <string_view>

namespace prof {

struct Thresholds {
  std::string sha256;  ///< of the text they were read from

  double min_share = 0;     ///< of device time, below which a kernel is not diagnosed
  double min_launches = 0;  ///< captured

  double fragment_kernel_ns = 0;   ///< median kernel of a stage below which launches cost more
  double fragment_gap_share = 0;   ///< gaps over the stage's span
  double fragment_host_share = 0;  ///< host and launch latency over the gaps
  double fragment_launches = 0;    ///< of one kernel in a request
  double fragment_duration_per_gap = 0;

  double dependency_concurrency = 0;
  double dependency_streams = 0;
  double dependency_wait_share = 0;  ///< waits and dependency gaps over the stage's span
  double chain_waves = 0;
  double chain_launches = 0;

  double dram_pct = 0;
  double l2_pct = 0;
  double over_sm = 0;              ///< memory over multiprocessor throughput
  double sectors_per_request = 0;  ///< ideal for 4 bytes per thread
  double l2_hit_pct = 0;
  double reread = 0;  ///< measured DRAM bytes over those of the pass ledger

  double sm_pct = 0;
  double pipe_pct = 0;
  double over_memory = 0;

  double occupancy_busy_pct = 0;
  double eligible_warps = 0;
  double waves = 0;
  double theoretical_pct = 0;
  double near_points = 0;  ///< theoretical minus achieved occupancy

  double latency_busy_pct = 0;
  double issue_active = 0;
  double local_share = 0;  ///< local over local and global L1 sectors

  double high_margin = 0;

  double gain_of_half = 0;  ///< fall in time when the limiting quantity is halved
  double occupancy_gain = 0;
};

/// Those in the program.
const Thresholds& default_thresholds();

/// `name` stands for the text in errors. Throws FormatError THRESHOLDS_JSON (no JSON object),
/// THRESHOLDS_SCHEMA, THRESHOLDS_KEY (missing, unknown or given twice), THRESHOLDS_RANGE (no
/// number in the range of its kind).
Thresholds parse_thresholds(const std::string& name, std::string_view json);

/// Reads a file. Throws UsageError THRESHOLDS_FILE, and like parse_thresholds.
Thresholds load_thresholds(const std::string& path);

}  // namespace prof
