#include "prof/ncu/unit.hpp"

#include <utility>

namespace prof {
namespace {

using Factor = std::pair<std::string_view, double>;

std::optional<double> find(std::string_view unit, const Factor* begin, const Factor* end) {
  for (; begin != end; ++begin) {
    if (begin->first == unit) return begin->second;
  }
  return std::nullopt;
}

std::optional<double> time_factor(std::string_view unit) {
  static constexpr Factor kTimes[] = {{"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
                                      {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
  return find(unit, std::begin(kTimes), std::end(kTimes));
}

/// Takes a decimal prefix off; 1 if there is none.
double take_prefix(std::string_view* unit) {
  static constexpr Factor kPrefixes[] = {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  if (unit->size() < 2) return 1;
  const auto factor = find(unit->substr(0, 1), std::begin(kPrefixes), std::end(kPrefixes));
  if (!factor) return 1;
  unit->remove_prefix(1);
  return *factor;
}

std::optional<double> byte_factor(std::string_view unit) {
  const double prefix = take_prefix(&unit);
  if (unit == "byte" || unit == "byte/block") return prefix;
  return std::nullopt;
}

std::optional<double> rate_factor(std::string_view unit) {
  const size_t slash = unit.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto per = time_factor(unit.substr(slash + 1));
  unit = unit.substr(0, slash);
  const double prefix = take_prefix(&unit);
  if (!per || unit != "byte") return std::nullopt;
  return prefix * (1e9 / *per);
}

std::optional<double> count_factor(std::string_view unit) {
  const double prefix = take_prefix(&unit);
  static constexpr std::string_view kThings[] = {
      "",           "inst",       "warp",       "block",           "thread",
      "sector",     "cycle",      "register",   "register/thread", "request",
      "inst/cycle", "warp/cycle", "cycle/inst", "thread/inst",     "warp/inst",
      "##",         "SM"};
  for (const std::string_view thing : kThings) {
    if (unit == thing) return prefix;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> unit_factor(std::string_view unit, std::string_view wanted) {
  if (wanted == "ns") return time_factor(unit);
  if (wanted == "byte") return byte_factor(unit);
  if (wanted == "byte/s") return rate_factor(unit);
  if (wanted == "count") return count_factor(unit);
  if (wanted == "%" && unit == "%") return 1.0;
  return std::nullopt;
}

}  // namespace prof
