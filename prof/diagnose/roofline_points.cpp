#include "prof/diagnose/roofline.hpp"

namespace prof {

PointOrReason roofline_point(const KernelCounters& counters, const KernelFacts* timeline) {
  for (const char* key : {"dram_read", "dram_write", "integer_instructions"}) {
    const CounterValue& v = counters.at(key);
    if (!v.value) return {std::nullopt, v.metric + ": " + v.reason};
  }
  RooflinePoint point{counters.kernel, *counters.dram_bytes(),
                      *counters.value("integer_instructions"), 0, false};
  if (timeline != nullptr && timeline->median_ns > 0) {
    point.duration_ns = static_cast<double>(timeline->median_ns);
  } else {
    const CounterValue& replay = counters.at("replay_duration");
    if (!replay.value) return {std::nullopt, replay.metric + ": " + replay.reason};
    point.duration_ns = *replay.value;
    point.replayed = true;
  }
  if (point.dram_bytes <= 0) return {std::nullopt, "it moves no DRAM bytes"};
  if (point.integer_instructions <= 0) return {std::nullopt, "it executes no integer instructions"};
  if (point.duration_ns <= 0) return {std::nullopt, "its duration is 0"};
  return {point, ""};
}

}  // namespace prof
