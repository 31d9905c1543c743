#include "prof/caps/command.hpp"

#include "prof/target/scratch_folder.hpp"
#include "prof/target/target.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kOutputBytes = size_t{1} << 19;

}  // namespace

CommandResult run_command(const std::vector<std::string>& command, double timeout_s) {
  const ScratchFolder folder;
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
