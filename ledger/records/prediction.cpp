#include "ledger/records/prediction.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "prover/errors.hpp"

namespace ledger {
namespace {

constexpr std::pair<PredictionKind, std::string_view> kKinds[] = {
    {PredictionKind::kLaunches, "launches"}, {PredictionKind::kPasses, "passes"},
    {PredictionKind::kBytes, "bytes"},       {PredictionKind::kCounter, "counter"},
    {PredictionKind::kTime, "time"},         {PredictionKind::kMemory, "memory"},
    {PredictionKind::kShare, "share"},
};
constexpr std::string_view kKindList = "launches, passes, bytes, counter, time, memory or share";

constexpr std::pair<Relation, std::string_view> kRelations[] = {
    {Relation::kLess, "<"},    {Relation::kLessOrEqual, "<="},
    {Relation::kGreater, ">"}, {Relation::kGreaterOrEqual, ">="},
    {Relation::kWithin, "="},
};

constexpr std::string_view kForm =
    "write it as `KIND: QUANTITY RELATION NUMBER UNIT [of baseline]`, for example `bytes: "
    "trace_commit.input_bytes <= 0.75 ratio of baseline`";

/// Longest name of a quantity, stage, shape or unit.
constexpr size_t kMaxWord = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxWord) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '/' || c == '-';
  });
}

bool is_unit(std::string_view text) {
  if (text.empty() || text.size() > kMaxWord || text == "of") return false;
  if (!is_letter(text[0]) && text[0] != '%') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '/' || c == '-' ||
           c == '%' || c == '^' || c == '*';
  });
}

template <class T, size_t N>
std::optional<T> value_of(const std::pair<T, std::string_view> (&words)[N], std::string_view word) {
  for (const auto& [value, name] : words) {
    if (name == word) return value;
  }
  return std::nullopt;
}

template <class T, size_t N>
std::string_view word_of(const std::pair<T, std::string_view> (&words)[N], T value) {
  for (const auto& [known, name] : words) {
    if (known == value) return name;
  }
  throw stwo::ContractError("an enumerator without a word");
}

[[noreturn]] void fail(const char* code, const std::string& where, const std::string& what) {
  throw stwo::UsageError(code, where + ": " + what);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return words;
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
}

double number_of(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    fail("PREDICTION_NUMBER", where,
         "'" + std::string(text) + "' is not a finite number; write one such as 0.75 or 2.5e9");
  }
  return value == 0 ? 0 : value;  // no negative zero: it would print differently
}

void split_quantity(std::string_view text, PredictionItem& item, const std::string& where) {
  const size_t at = text.find('@');
  const std::string_view name = text.substr(0, at);
  const bool has_place = at != std::string_view::npos;
  const std::string_view place = has_place ? text.substr(at + 1) : std::string_view();
  if (!is_name(name) || !is_letter(name[0]) || (has_place && !is_name(place))) {
    fail("PREDICTION_QUANTITY", where,
         "'" + std::string(text) +
             "' is no quantity; use letters, digits, _ . / and -, beginning with a letter, and @ "
             "before a stage or shape, as in trace_commit.device_time@log20x100");
  }
  item.quantity = name;
  item.where = place;
}

PredictionItem parse_item(std::string_view line, const std::string& where) {
  std::vector<std::string_view> words = words_of(line);
  if (!words.empty() && words[0] == "-") words.erase(words.begin());
  if (words.empty() || !words[0].ends_with(':')) {
    fail("PREDICTION_FORM", where, "no kind with a colon begins it; " + std::string(kForm));
  }
  PredictionItem item;
  const std::string_view kind_word = words[0].substr(0, words[0].size() - 1);
  const auto kind = value_of(kKinds, kind_word);
  if (!kind) {
    fail(
        "PREDICTION_KIND", where,
        "'" + std::string(kind_word) + "' is no kind of prediction; use " + std::string(kKindList));
  }
  item.kind = *kind;
  size_t next = 1;
  const auto take = [&](const char* what) {
    if (next >= words.size()) {
      fail("PREDICTION_FORM", where,
           std::string("it ends before the ") + what + "; " + std::string(kForm));
    }
    return words[next++];
  };
  split_quantity(take("quantity"), item, where);
  const std::string_view relation_text = take("relation");
  const auto relation = value_of(kRelations, relation_text);
  if (!relation) {
    fail("PREDICTION_RELATION", where,
         "'" + std::string(relation_text) + "' is no relation; use <, <=, >, >= or =");
  }
  item.relation = *relation;
  item.value = number_of(take("number"), where);
  const bool has_tolerance =
      next < words.size() && (words[next] == "+-" || words[next] == "\xc2\xb1");
  if (has_tolerance != (item.relation == Relation::kWithin)) {
    fail("PREDICTION_RELATION", where,
         has_tolerance ? "a tolerance belongs to =; leave it out, or write ="
                       : "= needs a tolerance; write `= VALUE +- TOLERANCE`, with +- 0 for a count "
                         "that must be exact");
  }
  if (has_tolerance) {
    ++next;
    item.tolerance = number_of(take("tolerance"), where);
    if (item.tolerance < 0) {
      fail("PREDICTION_NUMBER", where, "the tolerance is negative; write it without a sign");
    }
  }
  const std::string_view unit = take("unit");
  if (!is_unit(unit)) {
    fail(
        "PREDICTION_UNIT", where,
        "'" + std::string(unit) + "' is no unit; write one word, such as ms, bytes, fraction or %");
  }
  item.unit = unit;
  if (next < words.size()) {
    if (words.size() != next + 2 || words[next] != "of" || words[next + 1] != "baseline") {
      fail("PREDICTION_FORM", where,
           "'" + std::string(words[next]) + "' follows the unit, where only `of baseline` may; " +
               std::string(kForm));
    }
    item.of_baseline = true;
  }
  return item;
}

void add_item(Prediction& prediction, PredictionItem item, const std::string& where) {
  if (std::find(prediction.begin(), prediction.end(), item) != prediction.end()) {
    fail("PREDICTION_REPEATED", where,
         "`" + print_item(item) + "` is there already; leave one of them out");
  }
  prediction.push_back(std::move(item));
}

/// Shortest text that reads back as the same number; plain digits where people would use them.
std::string print_number(double value) {
  const double magnitude = std::abs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e15);
  char text[64];
  const auto result = plain
                          ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed)
                          : std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

}  // namespace

std::string_view prediction_kind_word(PredictionKind kind) { return word_of(kKinds, kind); }
std::string_view relation_word(Relation relation) { return word_of(kRelations, relation); }

Prediction parse_prediction(std::string_view text, size_t first_line) {
  Prediction prediction;
  size_t line_number = first_line;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = "prediction, line " + std::to_string(line_number++);
    if (!words_of(line).empty()) add_item(prediction, parse_item(line, where), where);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return prediction;
}

std::string print_item(const PredictionItem& item) {
  std::string out(prediction_kind_word(item.kind));
  out += ": " + item.quantity;
  if (!item.where.empty()) out += "@" + item.where;
  out += " " + std::string(relation_word(item.relation)) + " " + print_number(item.value);
  if (item.relation == Relation::kWithin) out += " +- " + print_number(item.tolerance);
  out += " " + item.unit;
  if (item.of_baseline) out += " of baseline";
  return out;
}

std::string print_prediction(const Prediction& prediction) {
  std::string out;
  for (const PredictionItem& item : prediction) out += (out.empty() ? "" : "\n") + print_item(item);
  return out;
}

nlohmann::json prediction_to_json(const Prediction& prediction) {
  nlohmann::json list = nlohmann::json::array();
  for (const PredictionItem& item : prediction) {
    nlohmann::json object = {{"kind", prediction_kind_word(item.kind)},
                             {"quantity", item.quantity},
                             {"where", nullptr},
                             {"relation", relation_word(item.relation)},
                             {"value", item.value},
                             {"tolerance", nullptr},
                             {"unit", item.unit},
                             {"of_baseline", item.of_baseline}};
    if (!item.where.empty()) object["where"] = item.where;
    if (item.relation == Relation::kWithin) object["tolerance"] = item.tolerance;
    list.push_back(std::move(object));
  }
  return list;
}

Prediction prediction_from_json(const nlohmann::json& json) {
  constexpr const char* kCode = "PREDICTION_JSON";
  if (!json.is_array()) fail(kCode, "prediction", "the JSON is no list; write a list of objects");
  constexpr size_t kMembers = 8;
  Prediction prediction;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string where = "prediction, item " + std::to_string(i + 1);
    const nlohmann::json& object = json[i];
    if (!object.is_object())
      fail(kCode, where, "it is no object; write one with kind, quantity, ...");
    const auto member = [&](const char* name) -> const nlohmann::json& {
      if (!object.contains(name)) {
        fail(kCode, where, std::string("member ") + name + " is missing; add it");
      }
      return object.at(name);
    };
    const auto text = [&](const char* name) {
      const nlohmann::json& value = member(name);
      if (!value.is_string()) fail(kCode, where, std::string(name) + " is no text; write a string");
      auto word = value.get<std::string>();
      if (word.empty() || word.find_first_of(" \t\r\n@") != std::string::npos) {
        fail(kCode, where, std::string(name) + " is not one word; write it without spaces and @");
      }
      return word;
    };
    const auto number = [&](const char* name) {
      const nlohmann::json& value = member(name);
      if (!value.is_number()) fail(kCode, where, std::string(name) + " is no number; write one");
      return print_number(value.get<double>());
    };
    // The line's parser holds all rules.
    std::string line = text("kind") + ": " + text("quantity");
    if (!member("where").is_null()) line += "@" + text("where");
    line += " " + text("relation") + " " + number("value");
    if (!member("tolerance").is_null()) line += " +- " + number("tolerance");
    line += " " + text("unit");
    if (!member("of_baseline").is_boolean()) {
      fail(kCode, where, "of_baseline is no boolean; write true or false");
    }
    if (object.at("of_baseline").get<bool>()) line += " of baseline";
    if (object.size() != kMembers) {
      fail(kCode, where, "it has members that are not known; leave them out");
    }
    add_item(prediction, parse_item(line, where), where);
  }
  return prediction;
}

Prediction prediction_from_json_text(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    fail("PREDICTION_JSON", "prediction", "the text is no JSON; write a list of objects");
  }
  return prediction_from_json(json);
}

bool refuted(const PredictionItem& item, double observed) {
  if (!std::isfinite(observed)) {
    fail("PREDICTION_OBSERVED", "prediction `" + print_item(item) + "`",
         "the observed value is not a finite number; measure it first");
  }
  switch (item.relation) {
    case Relation::kLess: return !(observed < item.value);
    case Relation::kLessOrEqual: return !(observed <= item.value);
    case Relation::kGreater: return !(observed > item.value);
    case Relation::kGreaterOrEqual: return !(observed >= item.value);
    case Relation::kWithin: return !(std::abs(observed - item.value) <= item.tolerance);
  }
  throw stwo::ContractError("a relation without a rule");
}

}  // namespace ledger
