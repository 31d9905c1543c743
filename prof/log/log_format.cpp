#include "prof/log/log_format.hpp"

#include <array>
#include <cstring>

namespace prof {
namespace {

// Eight bytes a step (slicing): table k is the effect of a byte that has k bytes behind it.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr CrcTables make_tables() {
  CrcTables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? (c >> 1) ^ 0xedb88320U : c >> 1;
    t[0][i] = c;
  }
  for (size_t k = 1; k < t.size(); ++k) {
    for (size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xff];
  }
  return t;
}
constexpr CrcTables kTables = make_tables();

}  // namespace

uint32_t crc32(uint32_t crc, std::span<const uint8_t> bytes) noexcept {
  uint32_t c = ~crc;
  const uint8_t* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    uint32_t low = 0;
    uint32_t high = 0;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    low ^= c;
    c = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
        kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
        kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; left > 0; --left, ++p) c = (c >> 8) ^ kTables[0][(c ^ *p) & 0xff];
  return ~c;
}

bool is_known(uint16_t kind) {
  return (kind >= static_cast<uint16_t>(FrameKind::kHeader) &&
          kind <= static_cast<uint16_t>(FrameKind::kTrailer)) ||
         (kind >= static_cast<uint16_t>(FrameKind::kDevice) &&
          kind <= static_cast<uint16_t>(FrameKind::kUnknown));
}

const char* frame_name(FrameKind kind) {
  switch (kind) {
    case FrameKind::kHeader: return "header";
    case FrameKind::kString: return "string";
    case FrameKind::kClock: return "clock";
    case FrameKind::kProblem: return "problem";
    case FrameKind::kLoss: return "loss";
    case FrameKind::kFact: return "fact";
    case FrameKind::kTrailer: return "trailer";
    case FrameKind::kDevice: return "device";
    case FrameKind::kContext: return "context";
    case FrameKind::kStream: return "stream";
    case FrameKind::kApi: return "api";
    case FrameKind::kKernel: return "kernel";
    case FrameKind::kCopy: return "copy";
    case FrameKind::kFill: return "fill";
    case FrameKind::kGraph: return "graph";
    case FrameKind::kSync: return "sync";
    case FrameKind::kCudaEvent: return "cuda_event";
    case FrameKind::kMemEvent: return "mem_event";
    case FrameKind::kPoolEvent: return "pool_event";
    case FrameKind::kResEvent: return "res_event";
    case FrameKind::kJit: return "jit";
    case FrameKind::kOverhead: return "overhead";
    case FrameKind::kMarker: return "marker";
    case FrameKind::kMarkerData: return "marker_data";
    case FrameKind::kUnknown: return "unknown";
  }
  return "?";
}

bool LogHeader::operator==(const LogHeader& o) const {
  return pid == o.pid && parent_pid == o.parent_pid && process_name == o.process_name &&
         command == o.command && start.realtime_ns == o.start.realtime_ns &&
         start.monotonic_raw_ns == o.start.monotonic_raw_ns && cupti_version == o.cupti_version &&
         cupti_header_version == o.cupti_header_version && latency == o.latency &&
         whole_graphs == o.whole_graphs;
}

}  // namespace prof
