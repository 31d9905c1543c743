// A falsifiable prediction: what a measurement would have to show, item by item.
//
// One item per line:
//   KIND: QUANTITY RELATION NUMBER UNIT [of baseline]
//   bytes: trace_commit.input_bytes <= 0.75 ratio of baseline
//   share: trace_commit.device_time@log20x100 >= 0.75 fraction
//   launches: trace_commit.kernels = 6 +- 0 launches
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ledger {

enum class PredictionKind : uint8_t {
  kLaunches,
  kPasses,
  kBytes,
  kCounter,
  kTime,
  kMemory,
  kShare,
};

enum class Relation : uint8_t {
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kWithin,  ///< "= VALUE +- TOLERANCE", both ends included
};

struct PredictionItem {
  PredictionKind kind = PredictionKind::kTime;
  std::string quantity;  ///< letters, digits, _ . / -; begins with a letter
  std::string where;     ///< stage or shape after @, of the same characters; empty: none
  Relation relation = Relation::kLessOrEqual;
  double value = 0;      ///< finite
  double tolerance = 0;  ///< finite, >= 0; 0 unless the relation is kWithin
  std::string unit;      ///< one word, e.g. ms, fraction, GB/s, %
  bool of_baseline = false;

  friend bool operator==(const PredictionItem&, const PredictionItem&) = default;
};

using Prediction = std::vector<PredictionItem>;

/// Reads one item per line. Empty lines and "- " before an item are allowed. `first_line` is the
/// number of the first line in error messages.
/// Throws UsageError, naming the line: PREDICTION_FORM (not of the form above), PREDICTION_KIND,
/// PREDICTION_QUANTITY, PREDICTION_RELATION, PREDICTION_NUMBER (not a finite number, a negative
/// tolerance), PREDICTION_UNIT, PREDICTION_REPEATED (the same item twice).
Prediction parse_prediction(std::string_view text, size_t first_line = 1);

/// The canonical text of an item, without a newline. Parsing gives the item back.
std::string print_item(const PredictionItem& item);
/// The canonical text of all items: a line each, no newline after the last.
std::string print_prediction(const Prediction& prediction);

/// A list of objects {kind, quantity, where, relation, value, tolerance, unit, of_baseline}; where
/// and tolerance are null where there is none.
nlohmann::json prediction_to_json(const Prediction& prediction);
/// Throws UsageError PREDICTION_JSON (a member is missing, unknown or of another type) and the
/// codes of parse_prediction.
Prediction prediction_from_json(const nlohmann::json& json);
/// The same from text; PREDICTION_JSON also if it is no JSON.
Prediction prediction_from_json_text(std::string_view text);

/// Does the observation contradict the item? `observed` is in the item's unit; for an item "of
/// baseline" it is the quotient (or difference) to the baseline that the unit speaks of.
/// Throws UsageError PREDICTION_OBSERVED if it is not finite: what was not measured refutes nothing
/// and confirms nothing.
bool refuted(const PredictionItem& item, double observed);

/// "launches", "passes", ...
std::string_view prediction_kind_word(PredictionKind kind);
/// "<", "<=", ">", ">=", "=".
std::string_view relation_word(Relation relation);

}  // namespace ledger
