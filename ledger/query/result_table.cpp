#include "ledger/query/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "prover/cli/terminal.hpp"
#include "prover/hash/hex.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownDigest = 12;
constexpr size_t kDigestLength = 64;
constexpr size_t kRevisionLength = 40;

enum class Unit : uint8_t { kNone, kNs, kBytes, kRatio, kShare };

bool is_or_ends(std::string_view name, std::string_view word) {
  if (name == word) return true;
  return name.size() > word.size() + 1 && name.ends_with(word) &&
         name[name.size() - word.size() - 1] == '_';
}

Unit unit_of(std::string_view column) {
  if (is_or_ends(column, "ns")) return Unit::kNs;
  if (is_or_ends(column, "bytes")) return Unit::kBytes;
  if (is_or_ends(column, "ratio")) return Unit::kRatio;
  if (is_or_ends(column, "share")) return Unit::kShare;
  return Unit::kNone;
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// A SHA-256, or the name of a source revision.
bool is_digest(std::string_view text) {
  if (text.size() != kDigestLength && text.size() != kRevisionLength) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string bytes_text(double value) {
  const std::string magnitude = stwo::format_bytes(static_cast<uint64_t>(std::fabs(value)));
  return value < 0 ? "-" + magnitude : magnitude;
}

std::string in_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::kNs: return number("%.3f", value / 1e6);
    case Unit::kBytes: return bytes_text(value);
    case Unit::kRatio: return number("%.4f", value);
    case Unit::kShare: return number("%.1f%%", value * 100);
    default: return number("%.6g", value);
  }
}

std::string cell_text(const Value& value, Unit unit) {
  if (std::holds_alternative<std::monostate>(value)) return "-";
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return unit == Unit::kNone ? std::to_string(*integer)
                               : in_unit(static_cast<double>(*integer), unit);
  }
  if (const auto* real = std::get_if<double>(&value)) return in_unit(*real, unit);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return is_digest(*text) ? text->substr(0, kShownDigest) : stwo::one_line(*text);
  }
  const auto& blob = std::get<Blob>(value);
  if (blob.size() == kDigestLength / 2) return stwo::to_hex(blob).substr(0, kShownDigest);
  return "(" + std::to_string(blob.size()) + " bytes)";
}

std::string header_text(const std::string& column, Unit unit, bool right) {
  std::string title = column;
  if (unit == Unit::kNs) {
    title = column == "ns" ? "ms" : column.substr(0, column.size() - 3) + " ms";
  } else if (unit == Unit::kBytes && column != "bytes") {
    title = column.substr(0, column.size() - 6);
  }
  return (right ? ">" : "") + title;
}

bool is_number(const Value& v) {
  return std::holds_alternative<int64_t>(v) || std::holds_alternative<double>(v);
}

/// Columns that a row's own unit speaks of.
bool has_row_unit(std::string_view column) {
  return column == "value" || column == "a" || column == "b" || column == "delta";
}

Json json_value(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) {
    // JSON has no infinities; SQLite has no other number that is not finite.
    if (!std::isfinite(*real)) return *real > 0 ? "Infinity" : "-Infinity";
    return *real;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<Blob>(&value)) return stwo::to_hex(*blob);
  return nullptr;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string csv_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    // An empty text differs from NULL.
    return text->empty() ? "\"\"" : csv_field(*text);
  }
  const Json j = json_value(value);
  if (j.is_null()) return "";
  return j.is_string() ? j.get<std::string>() : j.dump();
}

}  // namespace

void bind_parameters(Statement& statement, const Parameters& parameters) {
  std::set<int> bound;
  for (const auto& [name, value] : parameters) {
    const int index = statement.parameter_index(":" + name);
    STWO_CHECK(index != 0, "the statement has no parameter :" + name);
    statement.bind_value(index, value);
    bound.insert(index);
  }
  STWO_CHECK(static_cast<int>(bound.size()) == statement.parameter_count(),
             "a parameter of the statement has no value");
}

ResultTable read_table(std::string question, Statement& statement, size_t max_rows) {
  ResultTable table;
  table.question = std::move(question);
  std::set<std::string> names;
  for (int c = 0; c < statement.column_count(); ++c) {
    const std::string name = statement.column_name(c);
    std::string unique = name;
    for (int n = 2; !names.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    table.columns.push_back(unique);
  }
  while (statement.step()) {
    if (table.rows.size() == max_rows) {
      table.truncated = true;
      break;
    }
    std::vector<Value>& row = table.rows.emplace_back();
    for (int c = 0; c < statement.column_count(); ++c) row.push_back(statement.value(c));
  }
  return table;
}

Statement Reader::prepare(std::string_view sql, const Parameters& parameters) {
  if (on_statement) on_statement(sql, parameters);
  Statement statement = database_.prepare(sql);
  bind_parameters(statement, parameters);
  return statement;
}

void Reader::for_each(std::string_view sql, const Parameters& parameters,
                      const std::function<void(const Statement&)>& row) {
  Statement statement = prepare(sql, parameters);
  while (statement.step()) row(statement);
}

ResultTable Reader::table(std::string question, std::string_view sql, const Parameters& parameters,
                          size_t max_rows) {
  Statement statement = prepare(sql, parameters);
  return read_table(std::move(question), statement, max_rows);
}

std::string table_text(const ResultTable& table) {
  std::string out;
  size_t widest = 0;
  for (const auto& [name, value] : table.about) {
    widest = std::max(widest, header_text(name, unit_of(name), false).size());
  }
  for (const auto& [name, value] : table.about) {
    std::string title = header_text(name, unit_of(name), false);
    title.resize(widest, ' ');
    out += title + "  " + cell_text(value, unit_of(name)) + "\n";
  }
  if (!table.about.empty()) out += "\n";
  std::vector<size_t> shown;
  size_t unit_column = table.columns.size();
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c] == "unit") unit_column = c;
    if (table.in_text.empty() || std::find(table.in_text.begin(), table.in_text.end(),
                                           table.columns[c]) != table.in_text.end()) {
      shown.push_back(c);
    }
  }
  const bool by_row = unit_column != table.columns.size();
  const auto unit_at = [&](const std::vector<Value>& row, size_t c) {
    if (!by_row || !has_row_unit(table.columns[c])) return unit_of(table.columns[c]);
    const auto* name = std::get_if<std::string>(&row[unit_column]);
    return name == nullptr ? Unit::kNone : unit_of(*name);
  };
  if (table.rows.empty()) {
    out += "no rows\n";
  } else {
    std::vector<std::string> header;
    for (const size_t c : shown) {
      // A column `value` holds all sorts of things.
      const bool right = table.columns[c] != "value" &&
                         std::any_of(table.rows.begin(), table.rows.end(),
                                     [&](const auto& row) { return is_number(row[c]); });
      header.push_back(header_text(table.columns[c], unit_of(table.columns[c]), right));
    }
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : table.rows) {
      std::vector<std::string>& line = cells.emplace_back();
      for (const size_t c : shown) {
        std::string text = cell_text(row[c], unit_at(row, c));
        // A time's unit stands in the header where the whole column is one.
        if (by_row && has_row_unit(table.columns[c]) && unit_at(row, c) == Unit::kNs &&
            is_number(row[c])) {
          text += " ms";
        }
        line.push_back(std::move(text));
      }
    }
    out += stwo::format_table(header, cells);
  }
  for (const std::string& note : table.notes) out += "note: " + stwo::one_line(note) + "\n";
  return out;
}

std::string table_json(const ResultTable& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (size_t c = 0; c < table.columns.size(); ++c) {
      object[table.columns[c]] = json_value(row[c]);
    }
    rows.push_back(std::move(object));
  }
  Json about = Json::object();
  for (const auto& [name, value] : table.about) about[name] = json_value(value);
  const Json out = {{"schema", kTableSchema},    {"question", table.question},
                    {"about", std::move(about)}, {"columns", table.columns},
                    {"rows", std::move(rows)},   {"truncated", table.truncated},
                    {"notes", table.notes}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table_csv(const ResultTable& table) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + fields[i];
    out += "\r\n";
  };
  std::vector<std::string> fields;
  for (const std::string& c : table.columns) fields.push_back(csv_field(c));
  line(fields);
  for (const auto& row : table.rows) {
    fields.clear();
    for (const Value& v : row) fields.push_back(csv_value(v));
    line(fields);
  }
  return out;
}

}  // namespace ledger
