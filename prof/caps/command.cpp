#include "prof/caps/command.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "prof/target/target.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kOutputBytes = size_t{1} << 19;

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string name = (base / "stwo-prof-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    throw stwo::EnvironmentError("CAPS_FOLDER", "temporary folder " + base.string() + ": " +
                                                    std::strerror(errno) +
                                                    "; set TMPDIR to a folder you may write to");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_start(const std::string& path, size_t limit) {
  std::ifstream in(path, std::ios::binary);
  std::string out(limit, '\0');
  in.read(out.data(), static_cast<std::streamsize>(limit));
  out.resize(static_cast<size_t>(in.gcount()));
  return out;
}

CommandResult run_command(const std::vector<std::string>& command, double timeout_s) {
  const TemporaryFolder folder;
  TargetOptions options;
  options.command = command;
  options.environment = {{"LC_ALL", "C"}};
  options.timeout_s = timeout_s;
  options.stdout_path = folder.file("out");
  options.stderr_path = folder.file("err");
  options.output_limit_bytes = kOutputBytes;
  CommandResult out;
  try {
    const TargetResult result = run_target(options);
    out.started = true;
    if (!result.timed_out && !result.interrupted) out.exit_status = result.exit_status;
    out.output = read_start(options.stdout_path, kOutputBytes) +
                 read_start(options.stderr_path, kOutputBytes);
    require_success(options, result);
  } catch (const stwo::Error& e) {
    if (e.exit_code() != stwo::ExitCode::kTargetFailed && e.code() != "TARGET_COMMAND") throw;
    // What to do about it is said by who asks.
    out.failure = e.what();
    out.failure = out.failure.substr(0, out.failure.rfind("; "));
  }
  return out;
}

}  // namespace prof
