#include "prof/diagnose/evidence.hpp"

#include <algorithm>

namespace prof {

Evidence at_least(std::string name, double value, double threshold, std::string unit) {
  return {std::move(name), value, threshold, std::move(unit), Comparison::kAtLeast, true};
}

Evidence at_most(std::string name, double value, double threshold, std::string unit) {
  return {std::move(name), value, threshold, std::move(unit), Comparison::kAtMost, true};
}

Evidence below(std::string name, double value, double threshold, std::string unit) {
  return {std::move(name), value, threshold, std::move(unit), Comparison::kBelow, true};
}

Evidence fact(Evidence evidence) {
  evidence.has_margin = false;
  return evidence;
}

Evidence shown(std::string name, std::optional<double> value, std::string unit) {
  return {std::move(name), value, std::nullopt, std::move(unit), Comparison::kNone, false};
}

bool holds(const Evidence& evidence) {
  if (evidence.comparison == Comparison::kNone) return true;
  if (!evidence.value || !evidence.threshold) return false;
  switch (evidence.comparison) {
    case Comparison::kAtLeast: return *evidence.value >= *evidence.threshold;
    case Comparison::kAtMost: return *evidence.value <= *evidence.threshold;
    case Comparison::kBelow: return *evidence.value < *evidence.threshold;
    case Comparison::kNone: break;
  }
  return true;
}

double margin_of(const Evidence& evidence) {
  if (!evidence.value || !evidence.threshold) return 0;
  const double value = *evidence.value;
  const double threshold = *evidence.threshold;
  const double distance =
      evidence.comparison == Comparison::kAtLeast ? value - threshold : threshold - value;
  // Any value is infinitely far above nothing.
  if (threshold <= 0) return distance > 0 ? kMaxMargin : 0;
  return std::clamp(distance / threshold, -kMaxMargin, kMaxMargin);
}

std::string_view comparison_name(Comparison comparison) {
  switch (comparison) {
    case Comparison::kAtLeast: return "at least";
    case Comparison::kAtMost: return "at most";
    case Comparison::kBelow: return "below";
    case Comparison::kNone: break;
  }
  return "";
}

std::optional<Match> match(const std::vector<Evidence>& common,
                           const std::vector<std::vector<Evidence>>& alternatives) {
  std::optional<Match> best;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    std::vector<Evidence> evidence = common;
    evidence.insert(evidence.end(), alternatives[i].begin(), alternatives[i].end());
    if (!std::all_of(evidence.begin(), evidence.end(), holds)) continue;
    double margin = kMaxMargin;
    for (const Evidence& e : evidence) {
      if (e.has_margin) margin = std::min(margin, margin_of(e));
    }
    if (!best || margin > best->margin) best = Match{std::move(evidence), margin, i};
  }
  return best;
}

}  // namespace prof
