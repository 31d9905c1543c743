#include "prof/caps/tools.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "prof/target/target.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr double kVersionSeconds = 30;
constexpr double kRunSeconds = 120;

}  // namespace

Tool Tool::unusable(const std::string& name, const std::string& reason) {
  return {name, false, reason, Known<std::string>::unknown(reason),
          Known<std::string>::unknown(reason)};
}

std::string version_after(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const size_t begin = text.find_first_of("0123456789", at + word.size());
  if (begin == std::string::npos) return "";
  const size_t end = text.find_first_not_of("0123456789.", begin);
  std::string out = text.substr(begin, end == std::string::npos ? end : end - begin);
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

Known<std::string> toolkit_version(const CommandRunner& run) {
  const CommandResult result = run({"nvcc", "--version"}, kVersionSeconds);
  if (!result.started) return Known<std::string>::unknown("no nvcc in PATH");
  const std::string version = version_after(result.output, ", V");
  if (!result.ok() || version.empty()) {
    return Known<std::string>::unknown("nvcc does not tell its version");
  }
  return Known<std::string>::of(version);
}

NcuProbe probe_ncu(const CommandRunner& run, const Tool& located,
                   const std::vector<std::string>& one_kernel, bool has_device) {
  NcuProbe out{located, Known<bool>::unknown(located.reason)};
  if (!located.usable) return out;
  const auto fail = [&](const std::string& reason, Known<bool> permission) {
    out.tool.usable = false;
    out.tool.reason = reason;
    out.counter_permission = std::move(permission);
    return out;
  };
  const auto undecided = [&](const std::string& reason) {
    return fail(reason, Known<bool>::unknown(reason));
  };
  if (!has_device) return undecided("no device to try it on; run it on a machine with one");
  if (one_kernel.empty()) return undecided("this build has no kernel to try it on");
  std::vector<std::string> command = {*located.path.value,     "--config-file", "off",
                                      "--target-processes",    "all",           "--metrics",
                                      "sm__cycles_elapsed.max"};
  command.insert(command.end(), one_kernel.begin(), one_kernel.end());
  const CommandResult result = run(command, kRunSeconds);
  if (result.output.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return fail(
        "no permission for counters (ERR_NVGPUCTRPERM); run as root, or load the driver "
        "with NVreg_RestrictProfilingToAdminUsers=0",
        Known<bool>::of(false));
  }
  if (!result.ok()) {
    return undecided("its run of one kernel failed (" + result.failure +
                     "); run ncu on a small program to see why");
  }
  if (result.output.find("sm__cycles_elapsed.max") == std::string::npos) {
    return undecided("its run of one kernel gave no counter (" + last_line(result.output) +
                     "); run ncu on a small program to see why");
  }
  out.counter_permission = Known<bool>::of(true);
  return out;
}

}  // namespace prof
