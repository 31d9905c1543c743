#include "prof/nsys/nsys_tool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "prof/target/programs.hpp"
#include "prof/target/scratch_folder.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".nsys-rep";
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr const char* kAlternative =
    "give an output that ends in .sptrace: it is recorded without Nsight";

/// Where NVIDIA's installers put it, the newest last.
std::vector<std::string> installed_places() {
  std::vector<std::string> out = {"/usr/local/cuda/bin/nsys"};
  for (const char* root : {"/opt/nvidia/nsight-systems", "/opt/nvidia/nsight-systems-cli"}) {
    std::error_code error;
    for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
      out.push_back((it->path() / "bin/nsys").string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::string> find_nsys_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return is_program(program) ? std::optional(program) : std::nullopt;
  }
  const std::vector<std::string> found = programs_in_path(program, path_variable());
  if (!found.empty()) return found.front();
  const std::vector<std::string> places = installed_places();
  const auto installed = std::find_if(places.rbegin(), places.rend(),
                                      [](const std::string& place) { return is_program(place); });
  return installed == places.rend() ? std::nullopt : std::optional(*installed);
}

bool is_sqlite(const std::string& path) {
  return read_start(path, kSqliteMagic.size()) == kSqliteMagic;
}

/// How a program ended that did not end well, with its own last words.
std::string ending_of(const TargetResult& result, double timeout_s, const std::string& output) {
  std::string out;
  if (result.timed_out) {
    out = "did not end within " + std::to_string(static_cast<int64_t>(timeout_s)) + " s";
  } else if (result.interrupted) {
    out = "was interrupted";
  } else if (result.signal) {
    out = "was ended by signal " + std::to_string(*result.signal);
  } else {
    out = "ended with status " + std::to_string(result.exit_status.value_or(0));
  }
  std::string words = last_line(result.stderr_tail);
  // nsys says much of what goes wrong on its standard output.
  if (words.empty()) words = last_line(output);
  return words.empty() ? out : out + ": " + words;
}

struct Ran {
  TargetResult result;
  std::string output;  ///< begin of what it wrote to stdout
};

/// Runs nsys itself, quietly.
Ran run_nsys(std::vector<std::string> command, double timeout_s, const std::string& output_path,
             const std::function<void(double)>& tick = {}) {
  constexpr size_t kShownBytes = 4096;
  TargetOptions options;
  options.command = std::move(command);
  options.timeout_s = timeout_s;
  options.stdout_path = output_path + ".out";
  options.stderr_path = output_path + ".err";
  options.tick = tick;
  Ran out;
  out.result = run_target(options);
  out.output = read_start(options.stdout_path, kShownBytes);
  return out;
}

std::vector<std::string> export_command(const NsysTool& tool, const std::string& report,
                                        const std::string& sqlite_path) {
  return {tool.path, "export", "--type=sqlite", "--output=" + sqlite_path, report};
}

/// "version" is followed by it in the last line of nsys --version.
std::string version_of(const std::string& output) {
  constexpr std::string_view kWord = "version ";
  const size_t at = output.rfind(kWord);
  if (at == std::string::npos) return "";
  const std::string_view rest = std::string_view(output).substr(at + kWord.size());
  return std::string(rest.substr(0, rest.find_first_of(" \t\r\n")));
}

/// Empty: it exports.
std::string why_not_usable(const NsysTool& tool, const ScratchFolder& folder, double timeout_s) {
  const std::string report = folder.file("probe.nsys-rep");
  const Ran recorded =
      run_nsys({tool.path, "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none",
                "--output=" + folder.file("probe"), "/bin/true"},
               timeout_s, folder.file("record"));
  std::error_code error;
  if (!recorded.result.ok() || !fs::is_regular_file(report, error)) {
    if (!recorded.result.ok()) {
      return "recording a small program: nsys " +
             ending_of(recorded.result, timeout_s, recorded.output);
    }
    return "recording a small program: nsys wrote no report";
  }
  const std::string sqlite = folder.file("probe.sqlite");
  const Ran exported =
      run_nsys(export_command(tool, report, sqlite), timeout_s, folder.file("export"));
  if (!exported.result.ok()) {
    return "nsys export " + ending_of(exported.result, timeout_s, exported.output);
  }
  if (!fs::is_regular_file(sqlite, error)) return "nsys export wrote no file";
  return is_sqlite(sqlite) ? "" : "nsys export wrote something else than a SQLite database";
}

void publish(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return;
  if (errno != EEXIST &&
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return;
  }
  if (errno == EEXIST) {
    throw stwo::RefusedError("OUTPUT_EXISTS", "output " + to + " exists; the report is in " + from);
  }
  throw stwo::EnvironmentError(
      "OUTPUT_WRITE", "output " + to + ": " + std::strerror(errno) + "; the report is in " + from);
}

}  // namespace

NsysState find_nsys(const NsysSearch& search) {
  NsysState out;
  const std::optional<std::string> path = find_nsys_program(search.program);
  if (!path) {
    out.reason = "no program " + stwo::one_line(search.program) +
                 " in PATH or in NVIDIA's installation folders";
    return out;
  }
  const ScratchFolder folder;
  out.tool = NsysTool{*path, ""};
  try {
    const Ran version = run_nsys({*path, "--version"}, search.timeout_s, folder.file("version"));
    if (!version.result.ok()) {
      out.reason = "nsys --version " + ending_of(version.result, search.timeout_s, version.output);
      return out;
    }
    out.tool->version = version_of(version.output);
    out.reason = why_not_usable(*out.tool, folder, search.timeout_s);
  } catch (const stwo::Error& error) {
    // The file is executable, and yet cannot be started.
    out.reason = error.what();
  }
  out.usable = out.reason.empty();
  return out;
}

NsysTool require_nsys(const NsysSearch& search) {
  const NsysState state = find_nsys(search);
  if (!state.tool) {
    throw stwo::EnvironmentError("NSYS_MISSING", state.reason + "; " + kAlternative);
  }
  if (!state.usable) {
    throw stwo::EnvironmentError("NSYS_NO_EXPORT", state.tool->path + " cannot be used: " +
                                                       state.reason + "; " + kAlternative);
  }
  return *state.tool;
}

TargetResult record_with_nsys(const NsysTool& tool, const NsysRecording& recording) {
  const std::string& output = recording.output;
  if (output.size() <= kEnding.size() ||
      output.compare(output.size() - kEnding.size(), kEnding.size(), kEnding) != 0) {
    throw stwo::UsageError("NSYS_OUTPUT", "output " + output +
                                              " does not end in .nsys-rep, the ending of reports "
                                              "of Nsight Systems; name it so");
  }
  stwo::check_output(output, false);
  const fs::path folder = output + ".partial";
  std::error_code error;
  if (!fs::create_directory(folder, error)) {
    if (!error) {
      throw stwo::RefusedError("OUTPUT_EXISTS", "folder " + folder.string() +
                                                    " of an earlier run exists; look at it and "
                                                    "remove it");
    }
    throw stwo::EnvironmentError("OUTPUT_WRITE", "folder " + folder.string() + ": " +
                                                     error.message() + "; check the file system");
  }
  TargetOptions options;
  options.command = {
      tool.path,
      "profile",
      "--trace=cuda,nvtx",
      "--sample=none",
      "--cpuctxsw=none",
      "--cuda-memory-usage=true",
      std::string("--cuda-graph-trace=") + (recording.whole_graphs ? "graph" : "node"),
      "--output=" + (folder / "report").string()};
  options.command.insert(options.command.end(), recording.command.begin(), recording.command.end());
  options.environment = recording.environment;
  options.timeout_s = recording.timeout_s;
  options.stdout_path = recording.stdout_path;
  options.stderr_path = recording.stderr_path;
  options.tick = recording.tick;
  TargetResult result;
  try {
    result = run_target(options);
  } catch (...) {
    fs::remove_all(folder, error);
    throw;
  }
  const fs::path report = folder / "report.nsys-rep";
  if (!fs::is_regular_file(report, error)) {
    fs::remove_all(folder, error);
    require_success(options, result);
    throw stwo::EnvironmentError("NSYS_NO_REPORT",
                                 tool.path +
                                     " ended well, but wrote no report; try it by hand: "
                                     "nsys profile --trace=cuda,nvtx; or " +
                                     kAlternative);
  }
  publish(report.string(), output);
  fs::remove_all(folder, error);
  return result;
}

void export_report(const NsysTool& tool, const std::string& report, const std::string& sqlite_path,
                   double timeout_s, const std::function<void(double)>& tick) {
  const ScratchFolder folder;
  const Ran ran =
      run_nsys(export_command(tool, report, sqlite_path), timeout_s, folder.file("export"), tick);
  std::string why;
  std::error_code error;
  if (!ran.result.ok()) {
    why = ending_of(ran.result, timeout_s, ran.output);
  } else if (!fs::is_regular_file(sqlite_path, error)) {
    why = "wrote no file " + sqlite_path;
  } else if (!is_sqlite(sqlite_path)) {
    why = "wrote something else than a SQLite database to " + sqlite_path;
  } else {
    return;
  }
  throw stwo::EnvironmentError("NSYS_NO_EXPORT", "report " + report + ": " + tool.path +
                                                     " export " + why +
                                                     "; export it with the nsys that recorded it, "
                                                     "or " +
                                                     kAlternative);
}

}  // namespace prof
