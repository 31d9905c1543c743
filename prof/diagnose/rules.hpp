// The rules of the diagnosis, one function each. Internal to the folder.
#pragma once

#include "prof/diagnose/diagnosis.hpp"

namespace prof::rules {

struct Finding {
  Mechanism mechanism = Mechanism::kUndetermined;
  Match match;
  std::vector<std::string> sub_causes;
  std::vector<Evidence> details;  ///< of the sub-causes
  std::vector<std::string> missing;
  std::string summary;
  std::string prediction;
};
using Result = std::optional<Finding>;

Result launch_fragmentation(const DiagnosisInput& input);
/// Branches that wait for one another.
Result serialized_branches(const DiagnosisInput& input);
/// Small launches that follow one another.
Result serialized_chain(const DiagnosisInput& input);
Result bandwidth(const DiagnosisInput& input);
Result compute(const DiagnosisInput& input);
Result occupancy(const DiagnosisInput& input);
Result latency(const DiagnosisInput& input);

/// Fills prediction and, with it, what the numbers are based on. Time is that of the timeline; of
/// the replay, and called so, if there is none.
struct TimeBasis {
  std::optional<double> ns;
  std::string name;
};
TimeBasis launch_time(const DiagnosisInput& input);
/// "falls by at least 35 % (from 102.4 us to at most 66.56 us)"; gain in 0..1.
std::string fall_of(const TimeBasis& time, double gain);

}  // namespace prof::rules
