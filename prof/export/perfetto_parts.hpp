// Parts of the Perfetto export. Internal to the folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "ledger/db/database.hpp"
#include "prof/export/event_writer.hpp"
#include "prof/export/perfetto.hpp"

namespace prof {

/// Names of table str as JSON strings.
class JsonNames {
 public:
  explicit JsonNames(ledger::Database& trace)
      : select_(trace.prepare("SELECT value FROM str WHERE id = ?1")) {}
  /// Valid until the next call.
  const std::string& of(int64_t id);

 private:
  ledger::Statement select_;
  std::unordered_map<int64_t, std::string> known_;
};

/// A process and a device are a process of the viewer.
class DeviceProcesses {
 public:
  DeviceProcesses(ledger::Database& trace, EventWriter& writer) : trace_(trace), writer_(writer) {}
  /// Number in the file, above those of the system's processes.
  int64_t of(int64_t pid, int64_t device);

 private:
  ledger::Database& trace_;
  EventWriter& writer_;
  std::map<std::pair<int64_t, int64_t>, int64_t> known_;
};

/// Counters of live memory.
void write_memory(ledger::Database& trace, EventWriter& writer, DeviceProcesses& devices,
                  PerfettoCounts& counts);

}  // namespace prof
