// The rules of a product report. Needs nothing of the protocol: whoever reads reports can use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stwo {

inline constexpr std::string_view kProductReportSchema = "stwo_cuda_product_report_v1";

/// A rule a report breaks.
struct ReportViolation {
  std::string code;     ///< stable, REPORT_*
  std::string path;     ///< JSON pointer
  std::string message;  ///< one line
};
inline constexpr uint64_t kMaxReportBytes = uint64_t{64} << 20;

/// Checks form (keys, types, ranges, no duplicate keys, every null explained) and the cross checks
/// between the numbers. Returns all violations; empty means valid. Never throws on any text.
std::vector<ReportViolation> check_report(std::string_view text);

/// A value that a valid CUDA report may have and a production run must not: a fallback, a copy back
/// to the host before the proof, code compiled at run time. Shown to the reader; whoever compares
/// runs decides what it is worth.
struct ContractFlag {
  std::string code;     ///< stable, FLAG_*
  std::string path;     ///< JSON pointer of the first such value
  std::string message;  ///< one line
};
/// At most one flag per code. Empty for reports of other backends and for text that check_report
/// refuses. Never throws on any text.
std::vector<ContractFlag> contract_flags(std::string_view text);

}  // namespace stwo
