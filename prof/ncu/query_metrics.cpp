#include "prof/ncu/query_metrics.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "prover/errors.hpp"

namespace prof {
namespace {

using Names = std::set<std::string, std::less<>>;

std::string_view base_of(std::string_view name) { return name.substr(0, name.find('.')); }

std::string_view collection_of(std::string_view name) { return name.substr(0, name.find("__")); }

bool is_metric_name(std::string_view word) {
  if (word.find("__") == std::string_view::npos) return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

/// First words of the lines that name a metric; the same in every version.
Names listed_names(std::string_view text) {
  Names names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\""), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r\","));
    if (is_metric_name(word)) names.emplace(word);
  }
  return names;
}

bool is_listed(const Names& names, std::string_view name) {
  return names.count(name) != 0 || names.count(base_of(name)) != 0 ||
         // A list with suffixes has the base only as the start of full names.
         [&] {
           const std::string start = std::string(base_of(name)) + '.';
           const auto it = names.lower_bound(start);
           return it != names.end() && it->compare(0, start.size(), start) == 0;
         }();
}

}  // namespace

bool TableCheck::ok() const {
  return std::none_of(missing.begin(), missing.end(),
                      [](const MetricAvailability& m) { return m.required; });
}

TableCheck check_metric_table(std::string_view text, const MetricTable& table) {
  const Names names = listed_names(text);
  if (names.empty()) {
    throw stwo::FormatError("NCU_QUERY",
                            "the list of metrics: no line names a metric; give the output of "
                            "ncu --query-metrics");
  }
  std::set<std::string, std::less<>> collections;
  for (const std::string& name : names) collections.emplace(collection_of(name));
  static constexpr std::string_view kOwnCollections[] = {"launch", "device", "sass"};
  TableCheck check;
  check.listed = names.size();
  for (const MetricSpec& spec : table.metrics) {
    const auto name = std::find_if(spec.names.begin(), spec.names.end(),
                                   [&](const std::string& n) { return is_listed(names, n); });
    const bool found = name != spec.names.end();
    const bool elsewhere = std::all_of(spec.names.begin(), spec.names.end(), [&](const auto& n) {
      const std::string_view collection = collection_of(n);
      return std::count(std::begin(kOwnCollections), std::end(kOwnCollections), collection) != 0 &&
             collections.count(collection) == 0;
    });
    if (elsewhere) {
      check.unlisted.push_back(spec.key);
      continue;
    }
    MetricAvailability entry{spec.key, found ? *name : "", !spec.rules.empty()};
    (found ? check.found : check.missing).push_back(std::move(entry));
  }
  return check;
}

std::string to_text(const TableCheck& check) {
  std::string text = std::to_string(check.found.size()) + " metrics of the table are listed, " +
                     std::to_string(check.missing.size()) + " are missing, " +
                     std::to_string(check.unlisted.size()) + " are in collections not listed\n";
  for (const MetricAvailability& m : check.missing) {
    text += "missing: " + m.key + (m.required ? " (a rule needs it)" : "") + '\n';
  }
  return text;
}

}  // namespace prof
