#include "prof/timeline/device_op.hpp"

#include <algorithm>
#include <tuple>

#include "prof/timeline/transfers.hpp"

namespace prof {

using ledger::OpKind;
using ledger::Statement;

namespace detail {

DeviceOp read_op(const Statement& row, int64_t device_id) {
  DeviceOp op;
  op.pid = row.integer(0);
  op.kind = static_cast<OpKind>(row.integer(1));
  op.device_id = device_id;
  op.context_id = row.integer(2);
  op.stream_id = row.integer(3);
  op.start_ns = row.optional_integer(4).value_or(0);
  op.end_ns = row.optional_integer(5).value_or(0);
  op.corr = row.integer(6);
  op.graph_id = row.optional_integer(7);
  op.graph_node_id = row.optional_integer(8);
  op.kernel = row.optional_integer(9).value_or(0);
  op.queued_ns = row.optional_integer(10);
  op.submitted_ns = row.optional_integer(11);
  op.copy_kind = row.optional_integer(12).value_or(0);
  op.bytes = row.integer(13);
  op.copies = std::max<int64_t>(1, row.optional_integer(14).value_or(1));
  op.async = row.optional_integer(15).value_or(0) != 0;
  op.pageable = row.optional_integer(16).value_or(0) != 0;
  return op;
}

std::vector<int64_t> device_ids(ledger::Database& trace) {
  std::vector<int64_t> out;
  // One step into the index per device, where DISTINCT would read all of it.
  Statement next = trace.prepare("SELECT MIN(device_id) FROM gpu_op WHERE device_id > ?1");
  Statement first = trace.prepare("SELECT MIN(device_id) FROM gpu_op");
  std::optional<int64_t> id = first.step() ? first.optional_integer(0) : std::nullopt;
  while (id) {
    out.push_back(*id);
    next.reset().bind(1, *id);
    id = next.step() ? next.optional_integer(0) : std::nullopt;
  }
  return out;
}

}  // namespace detail

std::string op_label(const DeviceOp& op, Names& names) {
  switch (op.kind) {
    case OpKind::kKernel:
      return "kernel " + (op.kernel == 0 ? std::string("without a name") : names.of(op.kernel));
    case OpKind::kCopy: return "copy " + std::string(direction_name(direction_of(op.copy_kind)));
    case OpKind::kFill: return "fill";
    case OpKind::kGraph: return "graph";
  }
  return "operation";
}

OpReader::OpReader(ledger::Database& trace, const Window& window) {
  for (const int64_t id : detail::device_ids(trace)) {
    // The index gives the first two of the order; only equal times are sorted.
    Statement rows = trace.prepare(
        std::string("SELECT ") + detail::kOpColumns +
        "WHERE o.device_id = ?1 AND o.start_ns < ?3 AND (o.start_ns >= ?2 OR o.end_ns > ?2) "
        "ORDER BY o.start_ns, o.end_ns, o.pid, o.corr, o.graph_node_id, o.stream_id");
    rows.bind_all(id, window.begin_ns, window.end_ns);
    devices_.push_back({std::move(rows), {}});
    devices_.back().op.device_id = id;
    if (!advance(&devices_.back())) devices_.pop_back();
  }
}

bool OpReader::advance(Device* device) const {
  if (!device->rows.step()) return false;
  device->op = detail::read_op(device->rows, device->op.device_id);
  return true;
}

std::optional<DeviceOp> OpReader::next() {
  const auto first =
      std::min_element(devices_.begin(), devices_.end(), [](const Device& a, const Device& b) {
        return std::tie(a.op.start_ns, a.op.end_ns, a.op.pid, a.op.corr, a.op.graph_node_id,
                        a.op.stream_id, a.op.device_id) <
               std::tie(b.op.start_ns, b.op.end_ns, b.op.pid, b.op.corr, b.op.graph_node_id,
                        b.op.stream_id, b.op.device_id);
      });
  if (first == devices_.end()) return std::nullopt;
  DeviceOp out = first->op;
  if (!advance(&*first)) devices_.erase(first);
  return out;
}

CallFinder::CallFinder(ledger::Database& trace)
    : select_(trace.prepare("SELECT tid, name_id, start_ns, end_ns FROM api WHERE pid = ?1 AND "
                            "corr = ?2 AND start_ns IS NOT NULL "
                            "ORDER BY start_ns, end_ns DESC, domain LIMIT 1")) {}

const std::optional<LaunchCall>& CallFinder::find(int64_t pid, int64_t corr) {
  // All operations of one graph launch have the same call.
  if (pid_ == pid && corr_ == corr) return last_;
  select_.reset().bind_all(pid, corr);
  last_.reset();
  if (select_.step()) {
    last_ =
        LaunchCall{select_.integer(0), select_.integer(1), select_.integer(2), select_.integer(3)};
  }
  pid_ = pid;
  corr_ = corr;
  return last_;
}

}  // namespace prof
