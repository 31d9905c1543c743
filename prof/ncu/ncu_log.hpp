// What ncu's log says about how a run ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prof {

struct NcuLog {
  bool denied = false;         ///< no permission for the counters (ERR_NVGPUCTRPERM)
  bool busy = false;           ///< another tool collects on the device
  bool no_kernels = false;     ///< nothing was profiled
  bool target_failed = false;  ///< the program returned an error or crashed
  bool hardware_unsupported = false;
  std::vector<std::string> kernels;  ///< those that ran but did not match, as the log lists them
  std::string first_error;           ///< text of the first error line; may be empty
};

/// Never throws on any text. Output of the program itself may stand between the log's lines.
NcuLog read_ncu_log(std::string_view text);

}  // namespace prof
