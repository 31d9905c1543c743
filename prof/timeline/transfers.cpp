#include "prof/timeline/transfers.hpp"

#include <algorithm>

#include "prof/timeline/device_op.hpp"

namespace prof {

using ledger::OpKind;

Direction direction_of(int64_t copy_kind) {
  switch (copy_kind) {
    case 1:  // host to device
    case 3:  // host to array
      return Direction::kH2D;
    case 2:  // device to host
    case 4:  // array to host
      return Direction::kD2H;
    case 5:  // arrays and device memory
    case 6:
    case 7:
    case 8: return Direction::kD2D;
    case 9: return Direction::kHost;
    case 10: return Direction::kPeer;
    case 11:
    case 12:
    case 13: return Direction::kManaged;
    default: return Direction::kUnknown;
  }
}

std::string_view direction_name(Direction direction) {
  static constexpr std::string_view kNames[kDirections] = {"H2D",  "D2H",     "D2D",    "peer",
                                                           "host", "managed", "unknown"};
  return kNames[static_cast<size_t>(direction)];
}

DirectionTransfers Transfers::of(Direction direction) const {
  for (const DirectionTransfers& d : directions) {
    if (d.direction == direction) return d;
  }
  DirectionTransfers none;
  none.direction = direction;
  return none;
}

void TransfersQuestion::count(const DeviceOp& op) {
  if (op.kind == OpKind::kFill) {
    ++fills_;
    fill_bytes_ += op.bytes;
  }
  if (op.kind != OpKind::kCopy) return;
  DirectionTransfers& d = directions_[static_cast<size_t>(direction_of(op.copy_kind))].out;
  d.operations += op.copies;
  d.bytes += op.bytes;
  if (op.pageable) {
    d.pageable_operations += op.copies;
    d.pageable_bytes += op.bytes;
  }
}

void TransfersQuestion::add(const DeviceOp& op, const ledger::Interval& inside, bool counts) {
  if (op.kind == OpKind::kKernel || op.kind == OpKind::kGraph) {
    // Starts are in order: what was copied until now started before this kernel did.
    last_kernel_end_ns_ = std::max(last_kernel_end_ns_, op.end_ns);
    tail_ = 0;
    tail_bytes_ = 0;
    return;
  }
  if (counts) count(op);
  if (op.kind != OpKind::kCopy) return;
  const Direction direction = direction_of(op.copy_kind);
  directions_[static_cast<size_t>(direction)].covered.add(inside);
  if (counts && direction == Direction::kD2H) {
    d2h_ += op.copies;
    if (op.start_ns >= last_kernel_end_ns_) {
      tail_ += op.copies;
      tail_bytes_ += op.bytes;
    }
  }
}

void TransfersQuestion::add_untimed(const DeviceOp& op) {
  count(op);
  if (op.kind == OpKind::kCopy && direction_of(op.copy_kind) == Direction::kD2H) {
    untimed_d2h_ += op.copies;
  }
}

Transfers TransfersQuestion::answer(const Window& window) const {
  Transfers out;
  for (size_t i = 0; i < kDirections; ++i) {
    DirectionTransfers d = directions_[i].out;
    d.direction = static_cast<Direction>(i);
    d.union_ns = directions_[i].covered.covered_ns();
    if (d.operations == 0 && d.union_ns == 0) continue;
    if (d.union_ns > 0) {
      d.bytes_per_s = static_cast<double>(d.bytes) * 1e9 / static_cast<double>(d.union_ns);
    }
    out.directions.push_back(d);
  }
  out.fills = fills_;
  out.fill_bytes = fill_bytes_;
  out.terminal_d2h_operations = tail_;
  out.terminal_d2h_bytes = tail_bytes_;
  out.intermediate_d2h_operations = d2h_ - tail_;
  if (window.source == WindowSource::kCapture) {
    out.one_terminal_d2h =
        Answer<bool>::unknown("the window is no request, so nothing says which copy is the last");
  } else if (untimed_d2h_ > 0) {
    out.one_terminal_d2h =
        Answer<bool>::unknown(std::to_string(untimed_d2h_) + " copies to the host have no times");
  } else {
    out.one_terminal_d2h = Answer<bool>::of(tail_ == 1 && d2h_ == 1);
  }
  return out;
}

}  // namespace prof
