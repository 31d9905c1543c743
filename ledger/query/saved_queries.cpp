#include "ledger/query/saved_queries.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "ledger/schema/embedded_sql.hpp"

namespace ledger {

/// Generated from ledger/queries/*.sql.
extern const std::span<const EmbeddedSql> kSavedQueries;

namespace {

constexpr std::string_view kComment = "-- ";

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// ":name: text" or ":name = default: text".
QueryParameter parse_declaration(const std::string& file, std::string_view line) {
  const std::string what = "parameter line \"" + std::string(line) + "\" of query " + file;
  QueryParameter p;
  line.remove_prefix(1);
  const size_t end = std::min(line.find(':'), line.find(' '));
  STWO_CHECK(end != std::string_view::npos, what);
  p.name = line.substr(0, end);
  line.remove_prefix(end);
  if (line.starts_with(" =")) {
    line.remove_prefix(2);
    const size_t colon = line.find(':');
    STWO_CHECK(colon != std::string_view::npos, what);
    std::string_view value = line.substr(0, colon);
    while (value.starts_with(' ')) value.remove_prefix(1);
    p.default_text = value;
    line.remove_prefix(colon);
  }
  STWO_CHECK(is_name(p.name) && line.starts_with(": ") && line.size() > 2, what);
  p.text = line.substr(2);
  return p;
}

std::string list_names() {
  std::string out;
  for (const SavedQuery& q : saved_queries()) out += (out.empty() ? "" : ", ") + q.name;
  return out;
}

}  // namespace

SavedQuery parse_saved_query(std::string_view file_name, std::string_view text) {
  SavedQuery query;
  query.name = file_name.substr(0, file_name.rfind('.'));
  query.sql = text;
  std::string_view rest = text;
  while (rest.starts_with(kComment)) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(kComment.size(), end - kComment.size());
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (query.description.empty()) {
      query.description = line;
    } else if (line.starts_with(':')) {
      query.parameters.push_back(parse_declaration(query.name, line));
    }
  }
  STWO_CHECK(!query.description.empty() && !query.description.starts_with(':'),
             "query " + query.name + " does not say what it answers");
  return query;
}

const std::vector<SavedQuery>& saved_queries() {
  static const std::vector<SavedQuery> queries = [] {
    std::vector<SavedQuery> out;
    for (const EmbeddedSql& file : kSavedQueries) {
      out.push_back(parse_saved_query(file.name, file.text));
    }
    return out;
  }();
  return queries;
}

const SavedQuery& require_saved_query(const std::string& name) {
  for (const SavedQuery& q : saved_queries()) {
    if (q.name == name) return q;
  }
  throw stwo::UsageError("QUERY_UNKNOWN",
                         "no saved query is called '" + name + "'; there are " + list_names());
}

std::pair<std::string, std::string> parse_parameter(const std::string& text) {
  const size_t equals = text.find('=');
  std::string_view name = std::string_view(text).substr(0, equals);
  if (name.starts_with(':')) name.remove_prefix(1);
  if (equals == std::string::npos || !is_name(name)) {
    throw stwo::UsageError("QUERY_PARAMETER",
                           "parameter '" + text + "' has the wrong form; write NAME=VALUE");
  }
  return {std::string(name), text.substr(equals + 1)};
}

Value parameter_value(const std::string& text) {
  const char* const end = text.data() + text.size();
  int64_t integer = 0;
  if (const auto r = std::from_chars(text.data(), end, integer);
      r.ec == std::errc() && r.ptr == end && std::to_string(integer) == text) {
    return integer;
  }
  // Without the point, a digest like 12e456... would be a number.
  const bool decimal = text.find('.') != std::string::npos &&
                       text.find_first_not_of("0123456789.-") == std::string::npos;
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real);
      decimal && r.ec == std::errc() && r.ptr == end) {
    return real;
  }
  return text;
}

void bind_given_parameters(Statement& statement, const std::vector<QueryParameter>& declared,
                           const std::vector<std::pair<std::string, std::string>>& given) {
  const auto fail = [](const std::string& message) {
    throw stwo::UsageError("QUERY_PARAMETER", message);
  };
  std::set<std::string> names;
  for (const auto& [name, value] : given) {
    if (!names.insert(name).second) fail("parameter " + name + " is given twice; give it once");
  }
  std::string known;
  for (int i = 1; i <= statement.parameter_count(); ++i) {
    const std::string marked = statement.parameter_name(i);
    if (!marked.starts_with(':')) {
      fail("parameter " + std::to_string(i) +
           " of the query has no name of the form :name; "
           "write one");
    }
    const std::string name = marked.substr(1);
    known += (known.empty() ? "" : ", ") + name;
    const auto value =
        std::find_if(given.begin(), given.end(), [&](const auto& g) { return g.first == name; });
    if (value != given.end()) {
      statement.bind_value(i, parameter_value(value->second));
      continue;
    }
    const auto declaration = std::find_if(declared.begin(), declared.end(),
                                          [&](const auto& d) { return d.name == name; });
    if (declaration == declared.end() || !declaration->default_text) {
      const std::string what = declaration == declared.end() ? "" : " (" + declaration->text + ")";
      fail("parameter " + name + what + " has no value; give it with --param " + name + "=VALUE");
    }
    statement.bind_value(i, parameter_value(*declaration->default_text));
  }
  for (const std::string& name : names) {
    if (statement.parameter_index(":" + name) == 0) {
      fail("the query has no parameter " + name + "; " +
           (known.empty() ? "it has none" : "it has " + known));
    }
  }
}

}  // namespace ledger
