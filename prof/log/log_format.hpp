// Form of a record log, what the recorder inside a foreign process writes and the ingest reads.
//
//   file    "STWOPLOG", u32 version, then frames; the first one is the header
//   frame   u16 mark 0x9ef5 | u16 kind | u32 bytes of the payload | u32 CRC-32 | payload
//
// Numbers are little endian. The CRC covers kind, length and payload. A log is complete if its last
// frame is a trailer whose counts are those of the file: whatever ends the process before that
// leaves a log that is known to be truncated. Frames after a trailer (work that a program does
// while it ends) need another trailer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "ledger/trace/trace_rows.hpp"

namespace prof {

inline constexpr char kLogMagic[8] = {'S', 'T', 'W', 'O', 'P', 'L', 'O', 'G'};
inline constexpr uint32_t kLogVersion = 1;
inline constexpr size_t kLogPrefixBytes = sizeof kLogMagic + sizeof(uint32_t);

inline constexpr uint16_t kFrameMark = 0x9ef5;
inline constexpr size_t kFrameHeadBytes = 12;
/// Longest payload; a longer length is a damaged one.
inline constexpr uint32_t kMaxPayloadBytes = uint32_t{1} << 20;
/// Longest name. Longer ones are cut, and counted as loss "names_cut".
inline constexpr size_t kMaxNameBytes = size_t{256} << 10;

enum class FrameKind : uint16_t {
  kHeader = 1,
  kString = 2,  ///< an id and its text; rows name it from then on
  kClock = 3,
  kProblem = 4,
  kLoss = 5,
  kFact = 6,
  kTrailer = 7,
  // Records: one row of the timeline each.
  kDevice = 16,
  kContext = 17,
  kStream = 18,
  kApi = 19,
  kKernel = 20,
  kCopy = 21,
  kFill = 22,
  kGraph = 23,
  kSync = 24,
  kCudaEvent = 25,
  kMemEvent = 26,
  kPoolEvent = 27,
  kResEvent = 28,
  kJit = 29,
  kOverhead = 30,
  kMarker = 31,
  kMarkerData = 32,
  kUnknown = 33,
};
/// Is it a kind that this version knows?
bool is_known(uint16_t kind);
/// Does a frame of the kind hold a record of the timeline?
inline bool is_record(FrameKind kind) { return kind >= FrameKind::kDevice; }
/// Lower-case name, e.g. "kernel".
const char* frame_name(FrameKind kind);

/// First frame: whose log this is.
struct LogHeader {
  int64_t pid = 0;
  int64_t parent_pid = 0;
  std::string process_name{};
  std::string command{};  ///< arguments, each quoted for a shell if need be
  ledger::ClockPairRow start{};
  int64_t cupti_version = 0;         ///< cuptiGetVersion; 0: no CUPTI was found
  int64_t cupti_header_version = 0;  ///< CUPTI_API_VERSION of the recorder's build
  bool latency = false;              ///< were queued and submitted times asked for?
  bool whole_graphs = false;         ///< is a graph launch one operation?
  bool operator==(const LogHeader& other) const;
};

/// Set-up that failed.
struct LogProblem {
  enum class Kind : uint8_t {
    kLoad,       ///< CUPTI could not be loaded
    kVersion,    ///< CUPTI does not fit the recorder
    kSubscribe,  ///< callbacks: 39 another subscriber, 35 permission
    kEnable,     ///< a kind of records
    kCallback,   ///< a resource callback
    kAttribute,  ///< an attribute or a setting
    kFatal,      ///< CUPTI gave up while the program ran
    kRuntime,    ///< a call of CUPTI failed while the program ran
  };
  Kind kind = Kind::kEnable;
  std::string subject{};  ///< e.g. "concurrent_kernel"
  int64_t code = 0;       ///< CUptiResult, or 0
  std::string text{};     ///< CUPTI's words, or the name of the other subscriber
  bool required = true;   ///< does the capture miss something without it?
  bool operator==(const LogProblem&) const = default;
};
/// CUptiResult of LogProblem::code that have a meaning of their own.
inline constexpr int64_t kCuptiInsufficientPrivileges = 35;
inline constexpr int64_t kCuptiMultipleSubscribers = 39;
inline constexpr int64_t kCuptiVirtualInsufficientPrivileges = 40;

/// A fact about the process, e.g. driver_version.
struct LogFact {
  std::string key{};
  std::string value{};
  bool operator==(const LogFact&) const = default;
};

/// One NVTX event as CUPTI reports it: the start, the end, or an instant. Start and end have one
/// id.
struct MarkerRow {
  enum class Phase : uint8_t { kInstant, kStart, kEnd };
  int64_t pid = 0;
  int64_t id = 0;
  Phase phase = Phase::kInstant;
  int64_t flags = 0;
  std::optional<int64_t> ts_ns{};
  int64_t tid = 0;
  std::optional<ledger::StrId> domain{};
  std::optional<ledger::StrId> name{};
};
/// What an NVTX event carries, by the same id.
struct MarkerDataRow {
  int64_t id = 0;
  int64_t category = 0;
  std::optional<uint64_t> payload{};
};

/// A record of a kind that the recorder does not know.
struct UnknownRow {
  int64_t kind = 0;
  std::vector<uint8_t> bytes{};
};

/// Operations of a device with the fields of their kind.
struct KernelOp {
  ledger::GpuOpRow op{};
  ledger::KernelRow kernel{};
};
struct CopyOp {
  ledger::GpuOpRow op{};
  ledger::CopyRow copy{};
};
struct FillOp {
  ledger::GpuOpRow op{};
  ledger::FillRow fill{};
};
struct GraphOp {
  ledger::GpuOpRow op{};
};

/// Last frame.
struct LogTrailer {
  /// Frames of the file per kind, without trailers.
  std::map<int64_t, int64_t> counts{};
  /// Records that CUPTI dropped.
  int64_t dropped = 0;
  /// Frames that the writer could not store.
  int64_t lost = 0;
  bool operator==(const LogTrailer&) const = default;
};

/// CRC-32 (the polynomial of zlib) of `bytes`, continuing from `crc`; 0 begins.
uint32_t crc32(uint32_t crc, std::span<const uint8_t> bytes) noexcept;

}  // namespace prof
