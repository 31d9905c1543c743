// The recorder inside the target: sets CUPTI up before the first CUDA call, takes its buffers and
// callbacks, and ends the log when the process ends. On the program's own threads it does nothing
// but hand out buffers and note resources that come and go; everything else is done by CUPTI's
// worker and by one thread of ours.
#pragma once

namespace prof {

/// Starts recording if the environment asks for it (recorder_settings.hpp). Once per process; later
/// calls do nothing. Never throws; whatever fails is in the log.
void start_recorder() noexcept;

}  // namespace prof
