// Live memory of each process and device, by kind.
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "prof/export/perfetto_parts.hpp"

namespace prof {
namespace {

/// CUPTI's kinds of memory.
constexpr std::array<const char*, 8> kKinds = {
    "unknown memory", "pageable memory", "pinned memory",        "device memory",
    "array memory",   "managed memory",  "device static memory", "managed static memory"};
constexpr int64_t kPageable = 1;
constexpr int64_t kPinned = 2;

struct Allocation {
  int64_t bytes;
  int64_t kind;
};

}  // namespace

void write_memory(ledger::Database& trace, EventWriter& writer, DeviceProcesses& devices,
                  PerfettoCounts& counts) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, Allocation> live;  // by process, device, address
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> sums;     // by process, device, kind
  ledger::Statement rows = trace.prepare(
      "SELECT pid, device_id, address, bytes, mem_kind, op, ts_ns FROM mem_event "
      "WHERE ts_ns IS NOT NULL ORDER BY ts_ns, id");
  while (rows.step()) {
    const int64_t pid = rows.integer(0);
    const int64_t device = rows.integer(1);
    const int64_t ns = rows.integer(6);
    const auto change = [&](const Allocation& what, int64_t sign) {
      int64_t& sum = sums[{pid, device, what.kind}];
      sum += sign * what.bytes;
      const bool of_host = what.kind == kPageable || what.kind == kPinned;
      writer.counter(of_host ? pid : devices.of(pid, device),
                     text::json_string(kKinds.at(static_cast<size_t>(what.kind))), ns,
                     "\"bytes\":" + std::to_string(sum));
      ++counts.memory_changes;
    };
    const auto key = std::tuple(pid, device, rows.integer(2));
    const auto found = live.find(key);
    if (rows.integer(5) == 1) {
      // An address that is live was released without a record.
      if (found != live.end()) change(found->second, -1);
      const Allocation allocation{rows.integer(3), rows.integer(4)};
      live.insert_or_assign(key, allocation);
      change(allocation, 1);
    } else if (found == live.end()) {
      ++counts.unmatched_releases;
    } else {
      const Allocation allocation = found->second;
      live.erase(found);
      change(allocation, -1);
    }
  }
}

}  // namespace prof
