#include "prof/ncu/ncu_log.hpp"

#include <algorithm>
#include <cctype>

#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr size_t kMaxKernels = 100;
constexpr std::string_view kErrorMark = "==ERROR==";

bool has(std::string_view line, std::string_view what) {
  return line.find(what) != std::string_view::npos;
}

/// "12. name" -> "name"; empty: another line.
std::string_view list_entry(std::string_view line) {
  const size_t dot = line.find(". ");
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view number = line.substr(0, dot);
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return digits ? line.substr(dot + 2) : std::string_view();
}

/// Lines of the profiler only: what the program prints is no evidence of how the profiler fared.
void read_message(std::string_view line, NcuLog* log) {
  log->denied = log->denied || has(line, "ERR_NVGPUCTRPERM");
  log->busy = log->busy || has(line, "driver resource was unavailable") ||
              has(line, "driver resource is unavailable");
  log->no_kernels = log->no_kernels || has(line, "No kernels were profiled") ||
                    has(line, "No kernels were found");
  log->target_failed = log->target_failed || has(line, "application returned an error code") ||
                       has(line, "Target application terminated") ||
                       has(line, "target process terminated");
  log->hardware_unsupported =
      log->hardware_unsupported || has(line, "not supported on this device") ||
      has(line, "Profiling is not supported on device") || has(line, "Unsupported GPU");
  if (line.substr(0, kErrorMark.size()) == kErrorMark && log->first_error.empty()) {
    std::string_view what = line.substr(kErrorMark.size());
    what.remove_prefix(std::min(what.find_first_not_of(' '), what.size()));
    log->first_error = stwo::one_line(what);
  }
}

}  // namespace

NcuLog read_ncu_log(std::string_view text) {
  NcuLog log;
  bool in_list = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.substr(0, 2) == "==") {
      read_message(line, &log);
      in_list = false;
      continue;
    }
    if (line == "Available Kernels:") {
      in_list = true;
      continue;
    }
    const std::string_view kernel = in_list ? list_entry(line) : std::string_view();
    in_list = in_list && !kernel.empty();
    if (in_list && log.kernels.size() < kMaxKernels) log.kernels.push_back(stwo::one_line(kernel));
  }
  return log;
}

}  // namespace prof
