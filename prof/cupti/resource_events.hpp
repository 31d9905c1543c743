// Contexts, streams, modules and graphs that come and go: CUPTI's records of them have no times, so
// their callbacks are noted.
#pragma once

#include <cupti.h>

#include <atomic>

#include "prof/cupti/cupti_api.hpp"
#include "prof/cupti/module_digests.hpp"
#include "prof/log/log_writer.hpp"

namespace prof {

class ResourceEvents {
 public:
  ResourceEvents(const CuptiApi& cupti, LogWriter& log, ModuleDigests& modules)
      : cupti_(cupti), log_(log), modules_(modules) {}

  /// Writes the row of a callback, on the thread that makes or ends the resource.
  void add(int64_t pid, CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept;
  /// Contexts that live. One that is being destroyed does not count any more.
  int contexts() const noexcept { return contexts_; }

 private:
  void note_driver() noexcept;
  std::optional<int64_t> stream_of(const CUpti_ResourceData& data) const noexcept;
  std::optional<int64_t> graph_of(const CUpti_ResourceData& data, bool executable) const noexcept;

  const CuptiApi& cupti_;
  LogWriter& log_;
  ModuleDigests& modules_;
  std::atomic<int> contexts_{0};
  std::atomic<bool> driver_known_{false};
};

}  // namespace prof
