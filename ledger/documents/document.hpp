// The JSON documents that `ledger add` files: which one a text is, and whether it keeps every rule
// of its kind. docs/formats.md lists keys and rules.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ledger {

/// Sorted keys: dump() is the canonical text.
using Json = nlohmann::json;

enum class DocumentKind { kProductReport, kPlan, kCounters, kVerdict, kCalibration };
/// "product_report", "plan", "counters", "verdict", "calibration".
std::string_view document_kind_name(DocumentKind kind);

/// A rule that a document breaks.
struct Problem {
  std::string code;  ///< stable: DOCUMENT_*, PLAN_*, COUNTERS_*, VERDICT_*, CALIBRATION_*, REPORT_*
  std::string path;  ///< JSON pointer; empty: the whole document
  std::string message;  ///< one line
};

struct Document {
  DocumentKind kind = DocumentKind::kProductReport;
  Json json;
};

inline constexpr size_t kMaxDocumentBytes = size_t{64} << 20;
/// Later problems of one text are not listed.
inline constexpr size_t kMaxProblems = 1000;

/// Throws FormatError with the first problem's code. The message is one line: `name`, the path,
/// what was expected and found, what to do, and how many more problems there are.
Document read_document(const std::string& name, std::string_view text);

/// All problems; empty: valid. Cross checks between values run only when the form is right. Never
/// throws on any text.
std::vector<Problem> check_document(std::string_view text);

struct DocumentCode {
  std::string_view code;
  std::string_view advice;  ///< what to do about it
};
/// Every code but those of the product report's own checker.
std::span<const DocumentCode> document_codes();

}  // namespace ledger
