// Roofline of integer work: kernels against the device's peaks, as a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prof/ncu/kernel_counters.hpp"
#include "prof/timeline/kernel_facts.hpp"

namespace prof {

struct DevicePeaks {
  std::string device;                      ///< name, for the title
  std::optional<double> dram_bytes_per_s;  ///< unset: no roof is drawn
  std::optional<double> l2_bytes_per_s;
  std::optional<double> integer_instructions_per_s;  ///< thread instructions
};

struct RooflinePoint {
  std::string label;
  double dram_bytes = 0;            ///< of a launch; more than 0
  double integer_instructions = 0;  ///< thread instructions of a launch; more than 0
  double duration_ns = 0;           ///< of a launch; more than 0
  bool replayed = false;            ///< the duration is that of a replay
};

/// A point, or why there is none: a counter without a value, no work on integers, no DRAM traffic.
struct PointOrReason {
  std::optional<RooflinePoint> point;
  std::string reason;
};
/// `timeline` null: the duration is that of the replay, and marked so.
PointOrReason roofline_point(const KernelCounters& counters, const KernelFacts* timeline);

/// SVG of 800 x 520 units: integer instructions per DRAM byte across, per second upwards, both
/// logarithmic over whole decades. Roofs that are known, a point and a label per kernel. Colours
/// and lines are the page's: classes rl-axis, rl-grid, rl-roof (also rl-dram, rl-l2, rl-integer),
/// rl-point (also rl-replay), rl-label. Title and description are for screen readers; `id`
/// (letters, digits, '-') keeps them apart on a page with several. Points whose numbers are not
/// positive and finite are left out. Same input, same bytes.
std::string roofline_svg(const std::vector<RooflinePoint>& points, const DevicePeaks& peaks,
                         const std::string& id = "roofline");

}  // namespace prof
