#include "prof/ncu/csv.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr char kSeparators[] = {',', ';', '\t'};

/// Reads records one after the other.
class Reader {
 public:
  Reader(std::string_view text, char separator, size_t line)
      : text_(text), separator_(separator), line_(line) {}

  bool at_end() const { return at_ >= text_.size(); }
  size_t line() const { return line_; }
  bool truncated() const { return truncated_; }
  bool starts_with(std::string_view prefix) const {
    return text_.substr(at_, prefix.size()) == prefix;
  }

  void skip_line() {
    const size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }

  /// The next record; it ends with its line unless a quoted cell holds the line break.
  std::vector<std::string> record() {
    std::vector<std::string> cells;
    std::string cell;
    bool more = true;
    while (more) {
      more = read_cell(&cell);
      cells.push_back(std::move(cell));
      cell.clear();
    }
    return cells;
  }

 private:
  /// True if another cell of the record follows.
  bool read_cell(std::string* cell) {
    if (!at_end() && text_[at_] == '"') read_quoted(cell);
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == separator_) return true;
      if (c == '\n') {
        ++line_;
        break;
      }
      // The rest of a line end; a quote inside a bare cell is text.
      if (c == '\r' && (at_end() || text_[at_] == '\n')) continue;
      *cell += c;
    }
    return false;
  }

  void read_quoted(std::string* cell) {
    ++at_;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"') {
        if (at_end() || text_[at_] != '"') return;
        ++at_;
      }
      if (c == '\n') ++line_;
      *cell += c;
    }
    truncated_ = true;
  }

  std::string_view text_;
  char separator_;
  size_t line_;
  size_t at_ = 0;
  bool truncated_ = false;
};

struct Header {
  std::vector<std::string> cells;
  std::string_view rest;
  char separator;
  size_t next_line;
  bool truncated;
};

std::optional<Header> find_header(std::string_view text, std::string_view mark) {
  size_t line = 1;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    const std::string_view rest = text.substr(std::min(end + 1, text.size()));
    for (const char separator : kSeparators) {
      Reader reader(one, separator, line);
      std::vector<std::string> cells = reader.record();
      if (cells.size() > 1 && std::find(cells.begin(), cells.end(), mark) != cells.end()) {
        return Header{std::move(cells), rest, separator, line + 1, reader.truncated()};
      }
    }
    text = rest;
    ++line;
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> CsvTable::column(std::string_view name) const {
  const auto it = std::find(header.begin(), header.end(), name);
  if (it == header.end()) return std::nullopt;
  return static_cast<size_t>(it - header.begin());
}

CsvTable parse_csv(const std::string& name, std::string_view text, std::string_view mark) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::optional<Header> header = find_header(text, mark);
  if (!header) {
    throw stwo::FormatError("NCU_CSV_HEADER", name + ": no line has a cell " + std::string(mark) +
                                                  "; export the report with ncu --import FILE "
                                                  "--page raw --csv --print-units base");
  }
  const auto cut = [&](size_t line) {
    return stwo::FormatError("NCU_CSV_TRUNCATED",
                             name + ": line " + std::to_string(line) +
                                 ": the text ends inside a quoted cell; export the report again");
  };
  if (header->truncated) throw cut(header->next_line - 1);
  if (text.back() != '\n') {
    // A bare number that lost its last digits would look whole.
    throw stwo::FormatError("NCU_CSV_TRUNCATED",
                            name + ": the last line has no end; export the report again");
  }
  CsvTable table;
  table.header = std::move(header->cells);
  Reader reader(header->rest, header->separator, header->next_line);
  while (!reader.at_end()) {
    if (reader.starts_with("==") || reader.starts_with("\n") || reader.starts_with("\r\n")) {
      reader.skip_line();
      continue;
    }
    CsvRow row{reader.line(), reader.record()};
    if (reader.truncated()) throw cut(row.line);
    if (row.cells.size() != table.header.size()) {
      throw stwo::FormatError(
          "NCU_CSV_ROW", name + ": line " + std::to_string(row.line) + ": expected " +
                             std::to_string(table.header.size()) +
                             " cells as in the header, found " + std::to_string(row.cells.size()) +
                             "; export the report again, without other output in the file");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace prof
