#include "prof/ncu/run_ncu.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "prof/target/scratch_folder.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace prof {
namespace {

constexpr std::string_view kExtension = ".ncu-rep";
constexpr size_t kMaxRegex = 1000;
constexpr int64_t kMaxLaunches = 1'000'000;
constexpr double kMaxTimeoutS = 1e6;

[[noreturn]] void option_error(const std::string& what) {
  throw stwo::UsageError("NCU_OPTION", what);
}

void check_regex(const std::string& regex) {
  const bool is_plain = std::none_of(regex.begin(), regex.end(),
                                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (regex.empty() || regex.size() > kMaxRegex || !is_plain) {
    option_error("kernel pattern: expected 1 to " + std::to_string(kMaxRegex) +
                 " characters on one line; give --kernel REGEX");
  }
  try {
    (void)std::regex(regex);  // the profiler's own kind; it would fail only after the start
  } catch (const std::regex_error& error) {
    option_error("kernel pattern \"" + stwo::one_line(regex) + "\" is no regular expression (" +
                 error.what() + "); put \\ before characters that are meant literally");
  }
}

bool is_word(const std::string& text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           more.find(c) != std::string_view::npos;
  });
}

void require_tool(const NcuTool& tool) {
  if (tool.path.empty()) {
    throw stwo::EnvironmentError(
        "NCU_MISSING", tool.reason + "; install Nsight Compute, or put its folder in PATH");
  }
  if (!tool.usable) {
    throw stwo::EnvironmentError(
        "NCU_UNUSABLE", tool.path + ": " + tool.reason + "; install a newer Nsight Compute");
  }
}

void check_options(const NcuOptions& options) {
  require_tool(options.tool);
  if (options.command.empty()) option_error("no program to run; give it after --");
  check_regex(options.kernel_regex);
  if (!is_word(options.set, "_-")) {
    option_error("section set \"" + stwo::one_line(options.set) +
                 "\" is no name; give --set detailed");
  }
  for (const std::string& metric : options.metrics) {
    if (!is_word(metric, "_.")) {
      option_error("metric \"" + stwo::one_line(metric) + "\" is no name of a metric");
    }
  }
  if (options.launch_skip < 0 || options.launch_skip > kMaxLaunches || options.launch_count < 1 ||
      options.launch_count > kMaxLaunches) {
    option_error("launches: expected a count of 1 to " + std::to_string(kMaxLaunches) +
                 " and as many to skip at most, found " + std::to_string(options.launch_count) +
                 " after " + std::to_string(options.launch_skip));
  }
  for (const double limit : {options.timeout_s, options.import_timeout_s}) {
    if (!(limit > 0 && limit <= kMaxTimeoutS)) {
      option_error(
          "time limit: expected more than 0 and at most 1000000 seconds; kernels that "
          "wait for other kernels never end under replay");
    }
  }
  const std::string& output = options.output;
  const bool has_name =
      output.size() > kExtension.size() &&
      output.compare(output.size() - kExtension.size(), kExtension.size(), kExtension) == 0;
  if (!has_name) {
    option_error("output \"" + stwo::one_line(output) + "\": expected a name that ends in " +
                 std::string(kExtension));
  }
  stwo::check_output(output, options.force);
}

/// ncu expands %p and the like in file names.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

std::string how_it_ended(const TargetResult& result) {
  if (result.signal) return "signal " + std::to_string(*result.signal);
  if (result.exit_status) return "exit status " + std::to_string(*result.exit_status);
  return "no exit status";
}

[[noreturn]] void target_error(const char* code, const std::string& message) {
  throw stwo::Error(stwo::ExitCode::kTargetFailed, code, message);
}

std::string available(const std::vector<std::string>& kernels) {
  constexpr size_t kShown = 5;
  if (kernels.empty()) return "the program launched none that the profiler saw";
  std::string text = "the program launched ";
  for (size_t i = 0; i < std::min(kernels.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + kernels[i];
  }
  if (kernels.size() > kShown) {
    text += " and " + std::to_string(kernels.size() - kShown) + " more";
  }
  return text;
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

std::string export_csv(const NcuOptions& options, const std::string& report,
                       const ScratchFolder& folder, const TargetRunner& runner) {
  TargetOptions run;
  run.command = ncu_import_command(options.tool, report);
  run.environment = {{"LC_ALL", "C"}};
  run.timeout_s = options.import_timeout_s;
  run.stdout_path = folder.file("raw.csv");
  run.stderr_path = folder.file("import.log");
  // One byte more than the parser takes, so that a longer text is seen to be too long.
  run.output_limit_bytes = kMaxNcuCsvBytes + 1;
  run.tick = options.tick;
  const TargetResult result = runner(run);
  if (!result.ok()) {
    const std::string why = result.timed_out ? "it did not end in time" : how_it_ended(result);
    const std::string line = last_line(result.stderr_tail);
    target_error("NCU_IMPORT", options.tool.path + " cannot export its own report (" + why +
                                   (line.empty() ? "" : ": " + line) + "); see " + folder.path());
  }
  return read_text(run.stdout_path);
}

}  // namespace

std::vector<std::string> ncu_command(const NcuOptions& options, const std::string& report,
                                     const std::string& log) {
  std::vector<std::string> command = {options.tool.path,
                                      "--config-file",
                                      "off",
                                      "--target-processes",
                                      "all",
                                      "--kernel-name-base",
                                      "demangled",
                                      "--kernel-name",
                                      "regex:" + options.kernel_regex,
                                      "--launch-skip",
                                      std::to_string(options.launch_skip),
                                      "--launch-count",
                                      std::to_string(options.launch_count),
                                      "--replay-mode",
                                      "kernel",
                                      "--cache-control",
                                      "all",
                                      "--clock-control",
                                      "none",
                                      "--set",
                                      options.set};
  // The detailed set alone has no stall metrics.
  for (const char* section : {"WarpStateStats", "SchedulerStats", "InstructionStats"}) {
    command.insert(command.end(), {"--section", section});
  }
  if (!options.metrics.empty()) {
    std::string list;
    for (const std::string& metric : options.metrics) list += (list.empty() ? "" : ",") + metric;
    command.insert(command.end(), {"--metrics", list});
  }
  command.insert(command.end(), {"--log-file", escaped(log), "--export", escaped(report)});
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

std::vector<std::string> ncu_import_command(const NcuTool& tool, const std::string& report) {
  return {tool.path,
          "--config-file",
          "off",
          "--import",
          report,
          "--page",
          "raw",
          "--csv",
          "--print-units",
          "base",
          "--print-kernel-base",
          "mangled"};
}

void require_capture(const NcuOptions& options, const TargetResult& result, const NcuLog& log,
                     bool has_report, const std::string& kept) {
  const std::string see = "; see " + kept;
  const std::string& program = options.command.front();
  if (result.interrupted) target_error("NCU_INTERRUPTED", "the capture was interrupted" + see);
  if (result.timed_out) {
    target_error("NCU_TIMEOUT",
                 program + " did not end under ncu within " +
                     std::to_string(static_cast<int64_t>(options.timeout_s)) +
                     " s; kernels that wait for other kernels hang under replay: capture fewer "
                     "launches or a smaller shape, or raise --timeout" +
                     see);
  }
  if (log.denied) {
    throw stwo::EnvironmentError(
        "NCU_DENIED",
        "ncu may not read the counters of this device (ERR_NVGPUCTRPERM); run as administrator, or "
        "load the driver with NVreg_RestrictProfilingToAdminUsers=0, in a container with "
        "--cap-add=SYS_ADMIN; timelines need no such permission");
  }
  if (log.busy) {
    throw stwo::EnvironmentError("NCU_BUSY", "another tool collects counters on this device (" +
                                                 log.first_error + "); stop it, DCGM for example" +
                                                 see);
  }
  if (log.hardware_unsupported) {
    throw stwo::EnvironmentError("NCU_DEVICE",
                                 "ncu " + options.tool.version + " cannot profile this device (" +
                                     log.first_error + "); install a newer Nsight Compute" + see);
  }
  const std::string error = log.first_error.empty() ? "" : " (" + log.first_error + ")";
  if (log.target_failed || result.signal) {
    const std::string line = last_line(result.stderr_tail);
    target_error("NCU_TARGET", program + " failed under ncu: " + how_it_ended(result) + error +
                                   (line.empty() ? "" : ", last line: " + line) +
                                   "; run it without the profiler first" + see);
  }
  if (log.no_kernels && (result.ok() || log.first_error.empty())) {
    throw stwo::UsageError("NCU_NO_KERNEL", "no launch matches the kernel pattern \"" +
                                                stwo::one_line(options.kernel_regex) + "\" after " +
                                                std::to_string(options.launch_skip) + " skipped: " +
                                                available(log.kernels) + "; give another --kernel");
  }
  if (!result.ok()) {
    target_error("NCU_FAILED",
                 "ncu " + options.tool.version + " failed: " + how_it_ended(result) + error + see);
  }
  if (!has_report) {
    target_error("NCU_NO_REPORT", "ncu ended without an error" + error +
                                      " and wrote no report; free some space, "
                                      "or try with fewer launches" +
                                      see);
  }
}

CounterSet import_ncu(const NcuOptions& options, const TargetRunner& runner) {
  require_tool(options.tool);
  if (!exists(options.output)) {
    throw stwo::UsageError("NCU_OPEN", "report " + stwo::one_line(options.output) +
                                           ": no such file, or nothing in it; name an .ncu-rep");
  }
  ScratchFolder folder;
  return parse_ncu_csv(options.output, export_csv(options, options.output, folder, runner),
                       {true, true});
}

NcuCapture run_ncu(const NcuOptions& options, const TargetRunner& runner) {
  check_options(options);
  ScratchFolder folder(options.output + ".partial." + std::to_string(::getpid()));
  const std::string report = folder.file("report" + std::string(kExtension));
  const std::string log = folder.file("ncu.log");
  TargetOptions run;
  run.command = ncu_command(options, report, log);
  // The program's numbers must not change their form either; its own locale is not restored.
  run.environment = {{"LC_ALL", "C"}};
  run.timeout_s = options.timeout_s;
  run.stdout_path = folder.file("stdout");
  run.stderr_path = folder.file("stderr");
  run.tick = options.tick;
  const TargetResult result = runner(run);
  // Until the end, what there is helps to find out what went wrong.
  folder.keep();
  try {
    require_capture(options, result, read_ncu_log(read_text(log)), exists(report), folder.path());
  } catch (const stwo::Error& error) {
    // These say all there is to know.
    if (error.code() == "NCU_NO_KERNEL" || error.code() == "NCU_DENIED") folder.discard();
    throw;
  }
  NcuCapture capture;
  capture.command = run.command;
  capture.wall_ns = result.wall_ns;
  const std::string csv = export_csv(options, report, folder, runner);
  capture.counters = parse_ncu_csv(folder.file("raw.csv"), csv, {true, true});
  if (capture.counters.launches.empty()) {
    throw stwo::UsageError("NCU_NO_KERNEL", "the report has no launch that matches \"" +
                                                stwo::one_line(options.kernel_regex) +
                                                "\"; give another --kernel");
  }
  const std::string content = read_text(report);
  capture.report_sha256 = stwo::sha256_hex(content);
  stwo::write_output(options.output, content, options.force);
  folder.discard();
  return capture;
}

}  // namespace prof
