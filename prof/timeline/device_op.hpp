// The operations of the devices in a window, in order, with the calls that launched them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_rows.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// A timed operation. Fields after graph_node_id belong to the kinds named.
struct DeviceOp {
  int64_t pid = 0;
  ledger::OpKind kind = ledger::OpKind::kKernel;
  int64_t device_id = 0;
  int64_t context_id = 0;
  int64_t stream_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t corr = 0;
  std::optional<int64_t> graph_id{};
  std::optional<int64_t> graph_node_id{};
  ledger::StrId kernel = 0;               ///< kernel: demangled name
  std::optional<int64_t> queued_ns{};     ///< kernel
  std::optional<int64_t> submitted_ns{};  ///< kernel
  int64_t copy_kind = 0;                  ///< copy: CUPTI's number
  int64_t bytes = 0;                      ///< copy, fill
  int64_t copies = 1;                     ///< copy: how many this record stands for
  bool async = false;                     ///< copy
  bool pageable = false;                  ///< copy: reads or writes pageable host memory
};

/// "kernel NAME", "copy H2D", "fill", "graph": for people.
std::string op_label(const DeviceOp& op, Names& names);

/// Reads the timed operations that touch a window, ordered by start, end, process, correlation id,
/// node, stream and device: the order in which they were recorded does not matter. Constant memory.
class OpReader {
 public:
  OpReader(ledger::Database& trace, const Window& window);
  /// The next operation; unset at the end.
  std::optional<DeviceOp> next();

 private:
  struct Device {
    ledger::Statement rows;
    DeviceOp op;
  };
  bool advance(Device* device) const;

  std::vector<Device> devices_;  ///< those that have an operation left
};

/// The call that launched an operation.
struct LaunchCall {
  int64_t tid = 0;
  ledger::StrId name = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

/// Finds launching calls by process and correlation id: the first one, if several have it (a call
/// of the runtime and the driver's inside it). Untimed calls are not found.
class CallFinder {
 public:
  explicit CallFinder(ledger::Database& trace);
  const std::optional<LaunchCall>& find(int64_t pid, int64_t corr);

 private:
  ledger::Statement select_;
  std::optional<int64_t> pid_;
  int64_t corr_ = 0;
  std::optional<LaunchCall> last_;
};

/// Operations without times whose launching call starts in the window; `unknown` have no timed
/// call, so nobody knows whether they belong to it.
struct UntimedOps {
  int64_t kernels = 0;
  int64_t copies = 0;
  int64_t fills = 0;
  int64_t graphs = 0;
  int64_t unknown = 0;
  int64_t total() const { return kernels + copies + fills + graphs + unknown; }
};
/// `on_op` is called with every one of them that belongs to the window.
template <class OnOp>
UntimedOps untimed_ops(ledger::Database& trace, const Window& window, OnOp on_op);

namespace detail {
inline constexpr const char* kOpColumns =
    "o.pid, o.kind, o.context_id, o.stream_id, o.start_ns, o.end_ns, o.corr, o.graph_id, "
    "o.graph_node_id, k.name_id, k.queued_ns, k.submitted_ns, c.copy_kind, "
    "COALESCE(c.bytes, f.bytes, 0), c.copy_count, c.async, c.src_kind = 1 OR c.dst_kind = 1 "
    "FROM gpu_op o LEFT JOIN kernel k ON k.op_id = o.id LEFT JOIN copy c ON c.op_id = o.id "
    "LEFT JOIN fill f ON f.op_id = o.id ";
/// The columns above as an operation; times are 0 if it has none.
DeviceOp read_op(const ledger::Statement& row, int64_t device_id);
std::vector<int64_t> device_ids(ledger::Database& trace);
}  // namespace detail

template <class OnOp>
UntimedOps untimed_ops(ledger::Database& trace, const Window& window, OnOp on_op) {
  UntimedOps out;
  CallFinder calls(trace);
  for (const int64_t device : detail::device_ids(trace)) {
    ledger::Statement rows =
        trace.prepare(std::string("SELECT ") + detail::kOpColumns +
                      "WHERE o.device_id = ?1 AND o.start_ns IS NULL ORDER BY o.id");
    rows.bind(1, device);
    while (rows.step()) {
      const DeviceOp op = detail::read_op(rows, device);
      const auto& call = calls.find(op.pid, op.corr);
      if (!call) {
        ++out.unknown;
        continue;
      }
      if (!window.starts_inside(call->start_ns)) continue;
      switch (op.kind) {
        case ledger::OpKind::kKernel: ++out.kernels; break;
        case ledger::OpKind::kCopy: ++out.copies; break;
        case ledger::OpKind::kFill: ++out.fills; break;
        case ledger::OpKind::kGraph: ++out.graphs; break;
      }
      on_op(op);
    }
  }
  return out;
}

}  // namespace prof
