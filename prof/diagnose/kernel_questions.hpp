// The seven questions about a kernel, answered from its counters and its place in the timeline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prof/diagnose/diagnosis.hpp"

namespace prof {

struct KernelAnswer {
  std::string name;    ///< what it says, e.g. "sectors per global load"
  std::string source;  ///< metric of the profiler, or "timeline", "plan", "computed"
  std::optional<double> value;
  std::string text;  ///< instead of a value, e.g. a grid
  std::string unit;
  std::string reason;  ///< why there is neither; empty exactly if there is one
};

struct AnsweredQuestion {
  std::string key;  ///< as in the metric table
  std::string title;
  std::vector<KernelAnswer> answers;
};

struct KernelAnswers {
  std::string kernel;
  std::string input_shape;                  ///< of the workload; empty: unknown
  std::vector<AnsweredQuestion> questions;  ///< seven
};

/// `input_shape` is what the product report says of the workload, e.g. "log_rows=20, columns=100".
/// Pure. A duration under replay is never given as the kernel's duration: that one is the
/// timeline's.
KernelAnswers answer_kernel_questions(const DiagnosisInput& input, const std::string& input_shape);

/// A block per question.
std::string to_text(const KernelAnswers& answers);
/// One JSON object, stwo_prof_kernel_v1, without a final line break; same answers, same bytes.
std::string to_json(const KernelAnswers& answers);

}  // namespace prof
