#include "prof/caps/tools.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr double kVersionSeconds = 30;
constexpr double kRunSeconds = 120;
constexpr const char* kSqliteMagic = "SQLite format 3";

/// The last line of what a tool printed that is not empty.
std::string last_words(const std::string& output) {
  std::string text = output;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text = stwo::one_line(text.substr(text.rfind('\n') + 1));
  return text.size() > 200 ? text.substr(0, 200) : text;
}

std::string find_in_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string path = variable == nullptr ? "" : variable;
  while (!path.empty()) {
    const size_t colon = path.find(':');
    std::string file = path.substr(0, colon) + "/" + name;
    if (std::filesystem::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0) return file;
    path = colon == std::string::npos ? "" : path.substr(colon + 1);
  }
  return "";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

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

Tool probe_nsys(const CommandRunner& run, const std::string& path) {
  const std::string nsys = path.empty() ? find_in_path("nsys") : path;
  if (nsys.empty()) {
    return Tool::unusable("nsys",
                          "not found in PATH; install Nsight Systems, or use our own "
                          "recorder, which needs none of it");
  }
  Tool tool{"nsys", false, "", Known<std::string>::unknown("it does not tell its version"),
            Known<std::string>::of(nsys)};
  const CommandResult version = run({nsys, "--version"}, kVersionSeconds);
  if (!version.ok()) {
    tool.reason = "nsys --version: " + version.failure + "; repair the installation";
    return tool;
  }
  if (const std::string found = version_after(version.output, "ersion"); !found.empty()) {
    tool.version = Known<std::string>::of(found);
  }
  const TemporaryFolder folder;
  const std::string report = folder.file("probe.nsys-rep");
  const CommandResult record = run({nsys, "profile", "--trace=none", "--sample=none",
                                    "--cpuctxsw=none", "--output=" + report, "/bin/true"},
                                   kRunSeconds);
  if (!exists(report)) {
    tool.reason = exists(folder.file("probe.qdstrm"))
                      ? "it records but cannot make a report of it: only its target part is "
                        "installed; install the whole of Nsight Systems"
                      : "it records nothing (" +
                            (record.ok() ? last_words(record.output) : record.failure) +
                            "); repair the installation";
    return tool;
  }
  const std::string database = folder.file("probe.sqlite");
  const CommandResult exported =
      run({nsys, "export", "--type=sqlite", "--output=" + database, report}, kRunSeconds);
  if (read_start(database, 15) != kSqliteMagic) {
    tool.reason = "it records but cannot export (" +
                  (exported.ok() ? last_words(exported.output) : exported.failure) +
                  "); install the whole of Nsight Systems";
    return tool;
  }
  tool.usable = true;
  return tool;
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
    return undecided("its run of one kernel gave no counter (" + last_words(result.output) +
                     "); run ncu on a small program to see why");
  }
  out.counter_permission = Known<bool>::of(true);
  return out;
}

}  // namespace prof
