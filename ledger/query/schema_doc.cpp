#include "ledger/query/schema_doc.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "ledger/query/result_table.hpp"
#include "ledger/schema/ledger_schema.hpp"
#include "ledger/trace/trace_schema.hpp"

namespace ledger {
namespace {

std::string trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

/// White space of any length as one blank.
std::string collapsed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return trimmed(out);
}

struct Line {
  std::string code;
  std::string comment;  ///< behind "--"
};

/// Lines of SQL, code and comment apart.
std::vector<Line> lines_of(std::string_view sql) {
  std::vector<Line> out;
  while (!sql.empty()) {
    const size_t end = std::min(sql.find('\n'), sql.size());
    const std::string_view line = sql.substr(0, end);
    sql.remove_prefix(std::min(end + 1, sql.size()));
    bool quoted = false;
    size_t at = 0;
    for (; at < line.size(); ++at) {
      if (line[at] == '\'') quoted = !quoted;
      if (!quoted && line.substr(at).starts_with("--")) break;
    }
    Line& l = out.emplace_back();
    l.code = trimmed(line.substr(0, at));
    if (at < line.size()) l.comment = trimmed(line.substr(at + 2));
  }
  return out;
}

std::string code_of(std::string_view sql) {
  std::string out;
  for (const Line& l : lines_of(sql)) out += l.code + "\n";
  return out;
}

/// Parts between commas that lie in no parentheses and no quotes.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (!quoted) {
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (c == ',' && depth == 0) {
        out.emplace_back();
        continue;
      }
    }
    out.back() += c;
  }
  for (std::string& part : out) part = collapsed(part);
  return out;
}

/// What stands in the parentheses that open at `at`.
std::string in_parentheses(std::string_view text, size_t at) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return std::string(text.substr(at + 1, i - at - 1));
  }
  return "";
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : separator) + p;
  return out;
}

std::string unquoted(std::string text) {
  std::erase(text, '\'');
  return text;
}

/// A condition on one column, in words where it has one of the usual forms.
std::string check_words(const std::string& column, const std::string& check) {
  const auto rest_after = [&](const std::string& prefix) -> std::optional<std::string> {
    if (!check.starts_with(prefix)) return std::nullopt;
    return check.substr(prefix.size());
  };
  if (const auto rest = rest_after("length(" + column + ") = ")) return *rest + " characters";
  if (const auto rest = rest_after("length(" + column + ") IN ")) {
    return joined(split(in_parentheses(*rest, 0)), " or ") + " characters";
  }
  if (const auto rest = rest_after(column + " IN ")) {
    return joined(split(unquoted(in_parentheses(*rest, 0))), ", ");
  }
  if (const auto rest = rest_after(column + " BETWEEN ")) {
    std::string words = *rest;
    if (const size_t at = words.find(" AND "); at != std::string::npos) {
      return words.replace(at, 5, " to ");
    }
  }
  if (const auto rest = rest_after(column + " >= ")) return "at least " + *rest;
  if (check == column + " <> ''") return "not empty";
  if (const auto rest = rest_after(column + " > ")) return "more than " + *rest;
  if (check == "json_valid(" + column + ")" ||
      check == column + " IS NULL OR json_valid(" + column + ")") {
    return "JSON";
  }
  return "`" + check + "`";
}

bool is_constraint(const std::string& part) {
  for (const std::string_view word : {"CHECK", "UNIQUE", "PRIMARY", "FOREIGN", "CONSTRAINT"}) {
    if (part.starts_with(word) && part.size() > word.size() &&
        (part[word.size()] == ' ' || part[word.size()] == '(')) {
      return true;
    }
  }
  return false;
}

/// Constraints inside a column's definition.
std::vector<std::string> column_constraints(const std::string& column,
                                            const std::string& definition) {
  std::vector<std::string> out;
  if (definition.find(" PRIMARY KEY") != std::string::npos) out.emplace_back("primary key");
  if (definition.find(" UNIQUE") != std::string::npos) out.emplace_back("unique");
  for (size_t at = 0; (at = definition.find("CHECK (", at)) != std::string::npos; ++at) {
    out.push_back(check_words(column, in_parentheses(definition, at + 6)));
  }
  return out;
}

/// A constraint over several columns.
std::string table_constraint(const std::string& part) {
  const size_t open = part.find('(');
  const std::string inner = in_parentheses(part, open);
  if (part.starts_with("UNIQUE")) return "unique together: " + inner;
  if (part.starts_with("PRIMARY")) return "primary key: " + inner;
  if (part.starts_with("CHECK")) return "`" + inner + "`";
  return "`" + part + "`";
}

void describe_table(Database& database, const std::string& sql, ObjectDoc* object) {
  std::map<std::string, std::string> definitions;
  const std::string code = code_of(sql);
  for (const std::string& part : split(in_parentheses(code, code.find('(')))) {
    if (is_constraint(part)) {
      object->constraints.push_back(table_constraint(part));
    } else {
      definitions[part.substr(0, part.find(' '))] = part;
    }
  }
  std::map<std::string, std::string> references;
  Statement keys = database.prepare("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1)");
  keys.bind(1, std::string_view(object->name));
  while (keys.step()) references[keys.string(0)] = keys.string(1);
  for (ColumnDoc& c : object->columns) {
    const std::string& definition = definitions[c.name];
    c.constraints = column_constraints(c.name, definition);
    if (const auto it = references.find(c.name); it != references.end()) c.references = it->second;
  }
  Statement indexes = database.prepare(
      "SELECT l.name, (SELECT group_concat(name, ', ') FROM (SELECT name FROM "
      "pragma_index_info(l.name) ORDER BY seqno)) FROM pragma_index_list(?1) AS l WHERE l.origin = "
      "'c' ORDER BY l.name");
  indexes.bind(1, std::string_view(object->name));
  while (indexes.step()) {
    object->indexes.push_back(indexes.string(0) + " (" + indexes.string(1) + ")");
  }
}

/// Comments behind columns: a table's begin their line, a view's end it.
std::map<std::string, std::string> column_texts(const std::string& sql, bool is_view) {
  std::map<std::string, std::string> out;
  for (const Line& l : lines_of(sql)) {
    if (l.comment.empty() || l.code.empty()) continue;
    std::string code = l.code;
    if (code.ends_with(',')) code.pop_back();
    const size_t blank = is_view ? code.rfind(' ') : code.find(' ');
    const std::string name =
        is_view ? code.substr(blank == std::string::npos ? 0 : blank + 1) : code.substr(0, blank);
    out.try_emplace(name, l.comment);
  }
  return out;
}

/// "-- table: text" and "-- view: text", with the comment lines that follow, by name.
std::map<std::string, std::string> object_texts(std::span<const EmbeddedSql> files) {
  std::map<std::string, std::string> out;
  for (const EmbeddedSql& file : files) {
    std::string text;
    for (const Line& l : lines_of(file.text)) {
      if (l.code.empty()) {
        const bool begins = l.comment.starts_with("table: ") || l.comment.starts_with("view: ");
        if (begins) {
          text = l.comment.substr(l.comment.find(' ') + 1);
        } else if (!text.empty() && !l.comment.empty()) {
          text += " " + l.comment;
        }
        continue;
      }
      for (const std::string_view create : {"CREATE TABLE ", "CREATE VIEW "}) {
        if (!l.code.starts_with(create)) continue;
        const std::string rest = l.code.substr(create.size());
        out[rest.substr(0, rest.find_first_of(" ("))] = text;
      }
      text.clear();
    }
  }
  return out;
}

}  // namespace

std::vector<ObjectDoc> describe_schema(std::span<const EmbeddedSql> files) {
  Database database(":memory:", OpenMode::kCreate);
  for (const EmbeddedSql& file : files) database.execute(file.text);
  const std::map<std::string, std::string> texts = object_texts(files);
  std::vector<ObjectDoc> out;
  Statement objects = database.prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
      "'sqlite_%' ORDER BY rowid");
  while (objects.step()) {
    ObjectDoc object;
    object.is_view = objects.text(0) == "view";
    object.name = objects.string(1);
    const std::string sql = objects.string(2);
    if (const auto it = texts.find(object.name); it != texts.end()) object.text = it->second;
    const auto of_columns = column_texts(sql, object.is_view);
    Statement columns = database.prepare(
        "SELECT name, type, \"notnull\" <> 0 OR pk <> 0 FROM pragma_table_xinfo(?1) ORDER BY cid");
    columns.bind(1, std::string_view(object.name));
    while (columns.step()) {
      ColumnDoc column;
      column.name = columns.string(0);
      if (!object.is_view) {
        column.type = columns.string(1);
        column.may_be_null = columns.integer(2) == 0;
      }
      if (const auto it = of_columns.find(column.name); it != of_columns.end()) {
        column.text = it->second;
      }
      object.columns.push_back(std::move(column));
    }
    if (!object.is_view) describe_table(database, sql, &object);
    out.push_back(std::move(object));
  }
  return out;
}

const std::vector<ObjectDoc>& ledger_schema_doc() {
  static const std::vector<ObjectDoc> doc = describe_schema(ledger_schema_files());
  return doc;
}

const std::vector<ObjectDoc>& trace_schema_doc() {
  static const std::vector<ObjectDoc> doc = describe_schema(kTraceSchema);
  return doc;
}

const ObjectDoc& require_schema_object(const std::string& name) {
  constexpr std::string_view kTrace = "trace.";
  const bool of_trace = name.starts_with(kTrace);
  const auto& doc = of_trace ? trace_schema_doc() : ledger_schema_doc();
  const std::string wanted = of_trace ? name.substr(kTrace.size()) : name;
  const auto it =
      std::find_if(doc.begin(), doc.end(), [&](const ObjectDoc& o) { return o.name == wanted; });
  if (it == doc.end()) {
    throw stwo::UsageError("SCHEMA_UNKNOWN", "no table or view is called '" + name +
                                                 "'; `ledger schema` lists them, those of "
                                                 "captures as trace.NAME");
  }
  return *it;
}

}  // namespace ledger
