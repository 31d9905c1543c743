#include "prof/diagnose/traffic.hpp"

#include "prof/diagnose/text.hpp"

namespace prof {

Traffic compare_traffic(const KernelCounters& counters, std::optional<int64_t> ledger_bytes,
                        const Thresholds& thresholds) {
  Traffic out;
  out.measured_bytes = counters.dram_bytes();
  if (ledger_bytes) out.ledger_bytes = static_cast<double>(*ledger_bytes);
  if (!out.measured_bytes) {
    const CounterValue& read = counters.at("dram_read");
    const CounterValue& lacking = read.value ? counters.at("dram_write") : read;
    out.reason = lacking.metric + ": " + lacking.reason;
  } else if (!out.ledger_bytes) {
    out.reason = "no plan tells the bytes of this kernel";
  } else if (*out.ledger_bytes <= 0) {
    out.reason = "the pass ledger predicts no bytes";
  } else {
    out.ratio = *out.measured_bytes / *out.ledger_bytes;
    out.verdict = *out.ratio > thresholds.reread ? TrafficVerdict::kRereads
                  : *out.ratio < 1               ? TrafficVerdict::kBelow
                                                 : TrafficVerdict::kNear;
  }
  return out;
}

std::string to_text(const Traffic& traffic) {
  const auto bytes = [](const std::optional<double>& value) {
    return value ? quantity_text(*value, "byte") : std::string("unknown");
  };
  std::string text =
      "measured " + bytes(traffic.measured_bytes) + ", pass ledger " + bytes(traffic.ledger_bytes);
  if (!traffic.ratio) return text + ": " + traffic.reason;
  text += ": " + number_text(*traffic.ratio) + " times as much";
  switch (traffic.verdict) {
    case TrafficVerdict::kRereads: return text + " (rereads)";
    case TrafficVerdict::kBelow: return text + " (caches serve the rest)";
    case TrafficVerdict::kNear:
    case TrafficVerdict::kUnknown: break;
  }
  return text + " (as planned)";
}

}  // namespace prof
