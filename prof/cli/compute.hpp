// Counting kernels and saying what limits them: what `compute` and `attribute` share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diagnose/diagnosis.hpp"
#include "prof/diagnose/kernel_questions.hpp"
#include "prof/diagnose/roofline.hpp"
#include "prof/diagnose/traffic.hpp"
#include "prof/html/page.hpp"
#include "prof/ncu/counters_document.hpp"
#include "prof/ncu/kernel_counters.hpp"
#include "prof/ncu/ncu_tool.hpp"
#include "prof/report/report_file.hpp"

namespace prof {

struct ComputeRequest {
  NcuTool tool;
  std::vector<std::string> command;
  std::string output;  ///< X.ncu-rep; the document goes to X.counters.json
  bool force = false;
  std::string kernel_regex;
  std::string set = "detailed";
  int64_t launch_skip = 0;
  int64_t launch_count = 8;
  double timeout_s = 600;
  std::string report_path;            ///< product report that the program writes; empty: none
  std::vector<KernelFacts> timeline;  ///< of the same program; may be empty
  Thresholds thresholds;
  std::function<void(double elapsed_s)> tick;
};

struct Finding {
  KernelAnswers answers;
  Diagnosis diagnosis;
  Traffic traffic;
};

struct ComputeResult {
  std::string document_path;
  DocumentFacts facts;
  std::vector<KernelCounters> kernels;
  std::vector<Finding> findings;  ///< one per kernel
};

/// Where the counters document of an .ncu-rep file goes.
std::string counters_path(const std::string& output);

/// Throws what run_ncu, read_report and counters_document throw, and EnvironmentError NVML_MISSING
/// or COMPUTE_DEVICE if nothing says which device ran the kernels.
ComputeResult compute_kernels(const ComputeRequest& request);

/// The facts of a kernel; null: the timeline does not have it.
const KernelFacts* facts_of(const std::vector<KernelFacts>& facts, const std::string& kernel);

/// Peaks of a device as far as they are known.
DevicePeaks device_peaks(const std::string& name, int sm);

/// The roofline; kernels that can't be drawn go to `left_out` with the reason.
std::string draw_roofline(const std::vector<KernelCounters>& kernels,
                          const std::vector<KernelFacts>& timeline, const DevicePeaks& peaks,
                          std::vector<std::string>* left_out);

/// Diagnosis, traffic and the seven answers of each kernel, for a terminal.
std::string findings_text(const std::vector<Finding>& findings);
/// The same as sections of a page, with a roofline if `svg` is not empty.
void add_findings(HtmlPage* page, const std::vector<Finding>& findings, const std::string& svg);

}  // namespace prof
