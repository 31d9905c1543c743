// Conditions of the diagnosis rule: a value held against a threshold, and by how much it passes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

enum class Comparison { kAtLeast, kAtMost, kBelow, kNone };

struct Evidence {
  std::string name;
  std::optional<double> value;      ///< unset only with kNone
  std::optional<double> threshold;  ///< unset exactly with kNone
  std::string unit;
  Comparison comparison = Comparison::kNone;
  /// Part of what a diagnosis rests on. False: a fact of the program (has it two streams?), whose
  /// distance from the threshold means nothing, or the name of a sub-cause.
  bool has_margin = false;
};

Evidence at_least(std::string name, double value, double threshold, std::string unit);
Evidence at_most(std::string name, double value, double threshold, std::string unit);
Evidence below(std::string name, double value, double threshold, std::string unit);
/// A condition whose margin does not count.
Evidence fact(Evidence evidence);
/// A value that is shown and not compared.
Evidence shown(std::string name, std::optional<double> value, std::string unit);

/// Does the value pass? True with kNone.
bool holds(const Evidence& evidence);

/// Distance from the threshold on the passing side, as a fraction of it; 0 at it, at most
/// kMaxMargin.
double margin_of(const Evidence& evidence);
inline constexpr double kMaxMargin = 10;

/// "at least", "at most", "below", "".
std::string_view comparison_name(Comparison comparison);

struct Match {
  std::vector<Evidence> evidence;
  double margin = 0;  ///< the smallest of those that count
  size_t alternative = 0;
};

/// Do all of `common` and all of one alternative hold? Of several that do, the one with the largest
/// margin. At least one alternative has to be given; an empty one always holds.
std::optional<Match> match(const std::vector<Evidence>& common,
                           const std::vector<std::vector<Evidence>>& alternatives);

}  // namespace prof
