// Question 1: when contexts were made and code was loaded, and whether a request had to wait for
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/db/database.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Rows listed one by one.
inline constexpr size_t kMaxLoadRows = 100;

/// A context that was made or a module that was loaded.
struct LoadRow {
  std::string what;                   ///< "context" or "module"
  int64_t ts_ns = 0;                  ///< CLOCK_REALTIME
  std::optional<std::string> call;    ///< that did it; absent: no timed call was open then
  std::optional<int64_t> bytes;       ///< module: size of the code
  std::optional<std::string> sha256;  ///< module: digest of the code
  Answer<std::string> phase;          ///< "setup", "request N", "between", "after"
  Answer<bool> in_request;            ///< inside the window's request
};

/// Compilation at run time; reading and writing its cache counts as such too.
struct JitStep {
  std::string step;    ///< "cache load", "cache store", "compilation", "unknown"
  std::string source;  ///< "PTX", "NVVM IR", "unknown"
  std::optional<int64_t> start_ns;
  std::optional<int64_t> ns;
  std::optional<std::string> cache_path;
  Answer<std::string> phase;
  Answer<bool> in_request;
};

/// What the driver loaded because something was used for the first time, in the window.
struct LazyLoads {
  int64_t modules = 0;
  int64_t module_ns = 0;
  int64_t functions = 0;
  int64_t function_ns = 0;
};

struct Loading {
  int64_t contexts = 0;  ///< in the capture
  int64_t modules = 0;
  Answer<int64_t> contexts_in_request;
  Answer<int64_t> modules_in_request;
  int64_t modules_in_window = 0;
  std::vector<LoadRow> rows;  ///< those in the request first, then by time; at most kMaxLoadRows
  Answer<int64_t> jit_steps;  ///< in the capture
  Answer<int64_t> jit_in_request;
  Answer<int64_t> jit_in_window;  ///< compilations (not steps) that touch the window
  std::vector<JitStep> jit;       ///< as `rows`
  Answer<LazyLoads> lazy;
};

Answer<Loading> loading(ledger::Database& trace, const Window& window, const Recorded& recorded);

}  // namespace prof
