#include "prof/ingest/capture.hpp"

#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"

namespace prof {

CaptureResult capture_timeline(const CaptureOptions& options) {
  stwo::check_output(options.output, options.force);
  CaptureResult result;
  result.cupti = require_cupti(find_cupti(options.cupti));
  const std::string recorder = find_recorder(options.recorder_path);
  RunFolder folder(options.output);

  TargetOptions target;
  target.command = options.command;
  target.environment = options.environment;
  // Ours come last: whoever captures means this recorder.
  for (auto& variable : recorder_environment(recorder, result.cupti, folder.path(), options.latency,
                                             options.whole_graphs)) {
    target.environment.push_back(std::move(variable));
  }
  target.timeout_s = options.timeout_s;
  target.stdout_path = options.stdout_path;
  target.stderr_path = options.stderr_path;
  target.tick = options.tick;
  result.target = run_target(target);

  RunEnd end;
  try {
    require_success(target, result.target);
  } catch (const stwo::Error& error) {
    end.failure = error;
  }
  IngestOptions ingest;
  ingest.report_path = options.report_path;
  ingest.tool_version = options.tool_version;
  ingest.scratch_folder = folder.path();
  ingest.progress = options.progress;
  ingest.meta = {{"target_wall_ns", std::to_string(result.target.wall_ns)}};
  if (result.target.exit_status) {
    ingest.meta.emplace_back("target_exit_status", std::to_string(*result.target.exit_status));
  }
  if (result.target.signal) {
    ingest.meta.emplace_back("target_signal", std::to_string(*result.target.signal));
  }
  result.ingest = conclude_run(std::move(ingest), folder, options.output,
                               options.force ? ledger::TraceWriter::Existing::kReplace
                                             : ledger::TraceWriter::Existing::kRefuse,
                               end);
  return result;
}

}  // namespace prof
