#include "prof/ncu/ncu_tool.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "prof/target/programs.hpp"
#include "prof/target/scratch_folder.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr double kVersionTimeoutS = 30;
constexpr uint64_t kVersionBytes = 64 << 10;

/// Numbers in a name, for an order in which 12.10 follows 12.9.
std::vector<int> numbers_of(const std::string& name) {
  std::vector<int> out;
  bool inside = false;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !inside) out.push_back(0);
    if (digit && out.back() < 100'000) out.back() = out.back() * 10 + (c - '0');
    inside = digit;
  }
  return out;
}

/// Folders of `root` whose names start with `prefix`, newest version first.
std::vector<std::string> folders(const std::string& root, std::string_view prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.compare(0, prefix.size(), prefix) == 0) out.push_back(name);
  }
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    const auto x = numbers_of(a);
    const auto y = numbers_of(b);
    return x != y ? x > y : a < b;
  });
  return out;
}

NcuTool examine(const std::string& path, const TargetRunner& runner) {
  NcuTool tool{path, "", false, ""};
  const ScratchFolder scratch;
  TargetOptions options;
  options.command = {path, "--version"};
  options.environment = {{"LC_ALL", "C"}};
  options.timeout_s = kVersionTimeoutS;
  options.stdout_path = scratch.file("stdout");
  options.stderr_path = scratch.file("stderr");
  options.output_limit_bytes = kVersionBytes;
  TargetResult result;
  try {
    result = runner(options);
  } catch (const stwo::Error& error) {
    tool.reason = std::string("it does not start: ") + error.what();
    return tool;
  }
  const auto version = ncu_version(read_text(options.stdout_path));
  if (!result.ok() || !version) {
    tool.reason = result.timed_out ? "--version does not end" : "--version tells no version";
    return tool;
  }
  tool.version = *version;
  if (std::atoi(tool.version.c_str()) < kOldestNcuYear) {
    tool.reason = "version " + tool.version + " is older than " + std::to_string(kOldestNcuYear) +
                  ".1, whose options are needed";
    return tool;
  }
  tool.usable = true;
  return tool;
}

}  // namespace

NcuPlaces default_ncu_places() {
  return {path_variable(), "/usr/local", "/opt/nvidia/nsight-compute"};
}

std::vector<std::string> ncu_candidates(const NcuPlaces& places) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& path) {
    if (is_program(path) && std::find(out.begin(), out.end(), path) == out.end()) {
      out.push_back(path);
    }
  };
  for (const std::string& path : programs_in_path("ncu", places.path_variable)) add(path);
  for (const std::string& folder : folders(places.cuda_root, "cuda")) {
    add(places.cuda_root + '/' + folder + "/bin/ncu");
  }
  for (const std::string& folder : folders(places.nsight_root, "")) {
    add(places.nsight_root + '/' + folder + "/ncu");
  }
  return out;
}

std::optional<std::string> ncu_version(std::string_view output) {
  constexpr std::string_view kWord = "Version ";
  if (output.find("Nsight Compute") == std::string_view::npos) return std::nullopt;
  const size_t at = output.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  output.remove_prefix(at + kWord.size());
  const std::string_view version =
      output.substr(0, std::min(output.find_first_not_of("0123456789."), output.size()));
  if (version.size() < 4 || version.find('.') == std::string_view::npos) return std::nullopt;
  return std::string(version);
}

NcuTool find_ncu(const TargetRunner& runner, const NcuPlaces& places) {
  NcuTool first{
      "", "", false,
      "no program ncu in PATH, " + places.cuda_root + "/cuda*/bin or " + places.nsight_root + "/*"};
  bool is_first = true;
  for (const std::string& path : ncu_candidates(places)) {
    NcuTool tool = examine(path, runner);
    if (tool.usable) return tool;
    if (is_first) first = std::move(tool);
    is_first = false;
  }
  return first;
}

}  // namespace prof
