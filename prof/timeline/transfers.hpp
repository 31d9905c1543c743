// Question 5: what was copied between host and device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/trace/intervals.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

struct DeviceOp;

enum class Direction : uint8_t {
  kH2D,
  kD2H,
  kD2D,      ///< on one device, arrays too
  kPeer,     ///< between devices
  kHost,     ///< host to host
  kManaged,  ///< moved by the driver for managed memory
  kUnknown,
};
inline constexpr size_t kDirections = 7;
/// Direction of CUPTI's number of a copy.
Direction direction_of(int64_t copy_kind);
/// "H2D", ...
std::string_view direction_name(Direction direction);

struct DirectionTransfers {
  Direction direction = Direction::kH2D;
  int64_t operations = 0;           ///< that start in the window
  int64_t bytes = 0;                ///< of these
  int64_t pageable_operations = 0;  ///< of these: with pageable host memory
  int64_t pageable_bytes = 0;
  int64_t union_ns = 0;               ///< time with at least one, inside the window
  std::optional<double> bytes_per_s;  ///< bytes / union_ns; absent without time
};

struct Transfers {
  std::vector<DirectionTransfers> directions;  ///< with operations, in the order of Direction
  int64_t fills = 0;
  int64_t fill_bytes = 0;
  int64_t terminal_d2h_operations = 0;  ///< copies to the host after the last kernel
  int64_t terminal_d2h_bytes = 0;
  int64_t intermediate_d2h_operations = 0;  ///< the other copies to the host
  /// Exactly one copy to the host, after the last kernel? Unknown without a request. False is
  /// INTERMEDIATE_D2H, or no copy at all.
  Answer<bool> one_terminal_d2h;

  /// Of a direction; zeros if there is none.
  DirectionTransfers of(Direction direction) const;
};

/// Constant memory.
class TransfersQuestion {
 public:
  /// Operations in order of their start.
  void add(const DeviceOp& op, const ledger::Interval& inside, bool counts);
  /// Adds an operation of the window that has no times: to the numbers and bytes only.
  void add_untimed(const DeviceOp& op);
  Transfers answer(const Window& window) const;

 private:
  struct PerDirection {
    DirectionTransfers out;
    ledger::UnionOfIntervals covered;
  };
  void count(const DeviceOp& op);

  std::array<PerDirection, kDirections> directions_;
  int64_t fills_ = 0;
  int64_t fill_bytes_ = 0;
  int64_t last_kernel_end_ns_ = 0;
  int64_t d2h_ = 0;
  int64_t tail_ = 0;  ///< copies to the host since the last kernel
  int64_t tail_bytes_ = 0;
  int64_t untimed_d2h_ = 0;
};

}  // namespace prof
