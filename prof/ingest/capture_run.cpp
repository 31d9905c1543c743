#include "prof/ingest/capture_run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "prof/cupti/recorder_settings.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

namespace fs = std::filesystem;

/// An error with more said about it.
stwo::Error with_remark(const stwo::Error& error, const std::string& remark) {
  return stwo::Error(error.exit_code(), error.code(), std::string(error.what()) + "; " + remark);
}

/// The error that CUPTI's refusal in the target stands for; absent: it did not refuse.
std::optional<stwo::Error> setup_failure(const std::vector<ProcessProblem>& problems) {
  for (const auto& [pid, p] : problems) {
    const std::string process = "process " + std::to_string(pid);
    const bool permission =
        p.code == kCuptiInsufficientPrivileges || p.code == kCuptiVirtualInsufficientPrivileges;
    if (p.kind == LogProblem::Kind::kSubscribe && p.code == kCuptiMultipleSubscribers) {
      return stwo::EnvironmentError("CUPTI_SLOT_TAKEN",
                                    process + ": CUPTI is in use by " +
                                        (p.text.empty() ? "another tool" : p.text) +
                                        "; run without other profilers, debuggers and sanitizers");
    }
    if (permission && p.required) {
      return stwo::EnvironmentError(
          "CUPTI_PERMISSION",
          process + ": the driver lets only administrators record " + p.subject +
              "; run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    }
    if (p.kind == LogProblem::Kind::kLoad) {
      return stwo::EnvironmentError("CUPTI_MISSING", process + ": CUPTI " + p.subject +
                                                         " could not be loaded: " + p.text +
                                                         "; set STWO_PROF_CUPTI to its path");
    }
    if (p.kind == LogProblem::Kind::kVersion) {
      return stwo::EnvironmentError("CUPTI_VERSION", process + ": CUPTI " + p.subject + " has " +
                                                         p.text +
                                                         "; set STWO_PROF_CUPTI to one that fits");
    }
    if (p.required) {
      return stwo::EnvironmentError("CUPTI_FAILED", process + ": " + p.subject + ": CUPTI error " +
                                                        std::to_string(p.code) + " " + p.text +
                                                        "; check the driver with `stwo-prof cuda "
                                                        "caps`");
    }
  }
  return std::nullopt;
}

bool is_about_report(const stwo::Error& error) { return error.code().rfind("REPORT_", 0) == 0; }

}  // namespace

RunFolder::RunFolder(const std::string& output) : path_(output + ".logs.XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw stwo::EnvironmentError("SCRATCH", "folder for record logs " + output +
                                                ".logs: " + std::strerror(errno) +
                                                "; choose another output folder");
  }
  // The target may have another working directory.
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path_, ignored);
  if (!ignored) path_ = absolute.string();
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!keep_) fs::remove_all(path_, ignored);
}

std::vector<std::string> RunFolder::logs() const {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().extension() == ".stwolog") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string find_recorder(const std::string& given) {
  std::string path = given;
  if (path.empty()) {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    path = (program.parent_path() / kRecorderName).string();
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw stwo::EnvironmentError("RECORDER_MISSING",
                                 "recorder " + path +
                                     " is not there; build it with CUPTI's header (scripts/setup "
                                     "cuda) and keep it beside the program");
  }
  return fs::absolute(path).string();
}

std::vector<std::pair<std::string, std::string>> recorder_environment(const std::string& recorder,
                                                                      const CuptiLibrary& cupti,
                                                                      const std::string& folder,
                                                                      bool latency,
                                                                      bool whole_graphs) {
  return {{"CUDA_INJECTION64_PATH", recorder},
          {"NVTX_INJECTION64_PATH", cupti.path},
          {kCuptiVariable, cupti.path},
          {kLogFolderVariable, folder},
          {kLatencyVariable, latency ? "1" : "0"},
          {kWholeGraphsVariable, whole_graphs ? "1" : "0"}};
}

std::string kept_name(const std::string& output) {
  const fs::path path(output);
  const std::string stem = (path.parent_path() / path.stem()).string();
  const std::string extension = path.extension().string();
  std::string name = stem + ".failed" + extension;
  struct stat info {};
  for (int i = 2;
       ::lstat(name.c_str(), &info) == 0 || ::lstat((name + ".partial").c_str(), &info) == 0; ++i) {
    name = stem + ".failed." + std::to_string(i) + extension;
  }
  return name;
}

IngestResult conclude_run(IngestOptions options, RunFolder& folder, const std::string& output,
                          ledger::TraceWriter::Existing existing, const RunEnd& end) {
  using Existing = ledger::TraceWriter::Existing;
  options.logs = folder.logs();
  if (options.logs.empty()) {
    if (end.failure) throw with_remark(*end.failure, "nothing was recorded");
    throw stwo::FormatError("CAPTURE_NO_CUDA",
                            "the program ended without initialising CUDA: nothing was recorded; "
                            "check its arguments, and that it runs on a GPU");
  }
  // A program that failed has no report, or one of another run.
  if (end.failure) options.report_path.clear();
  const auto keep_capture = [&](const stwo::Error& error) {
    options.report_path.clear();
    Ingest ingest(options);
    const std::string name = kept_name(output);
    ingest.write(name, Existing::kRefuse);
    return with_remark(error, "what was recorded is kept in " + name);
  };
  std::optional<stwo::Error> failure = end.failure;
  try {
    std::optional<Ingest> ingest;
    try {
      ingest.emplace(options);
    } catch (const stwo::Error& error) {
      if (!is_about_report(error)) throw;
      failure = error;
      options.report_path.clear();
      ingest.emplace(options);
    }
    if (!ingest->has_activity()) {
      if (failure) throw with_remark(*failure, "nothing was recorded");
      if (const auto refused = setup_failure(ingest->problems())) throw *refused;
      if (ingest->scan().logs.empty()) return ingest->write(output, existing);
      throw stwo::FormatError("CAPTURE_NO_CONTEXT",
                              "the program initialised CUDA but made no context: nothing was "
                              "recorded; check its arguments, and that it runs on a GPU");
    }
    if (!failure) {
      try {
        return ingest->write(output, existing);
      } catch (const stwo::Error& error) {
        if (!is_about_report(error)) throw;
        failure = error;
      }
    }
    ingest.reset();
    failure = keep_capture(*failure);
  } catch (const stwo::Error& error) {
    // A program that did nothing leaves logs of no worth.
    const bool worthless = error.code().rfind("CAPTURE_", 0) == 0 ||
                           error.code().rfind("CUPTI_", 0) == 0 ||
                           (end.failure && error.code() == end.failure->code());
    if (worthless) throw;
    folder.keep();
    throw with_remark(error, "the record logs are kept in " + folder.path());
  }
  throw *failure;
}

}  // namespace prof
