// Pages that need nothing but themselves: one HTML text with its style, without scripts, readable
// on a phone, by keyboard and by a screen reader, light and dark.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof {

/// For text and for quoted attributes. Bytes that are no UTF-8 and control characters become
/// U+FFFD.
std::string escape_html(std::string_view text);

/// A good, bad or unknown state is said by its word and shown by a colour.
enum class Mark { kPlain, kGood, kBad, kUnknown };

struct Cell {
  std::string text;
  Mark mark = Mark::kPlain;
  Cell(std::string cell_text, Mark cell_mark = Mark::kPlain)
      : text(std::move(cell_text)), mark(cell_mark) {}
  Cell(const char* cell_text) : text(cell_text) {}
};

struct Column {
  std::string title;
  bool numeric = false;  ///< right-aligned
};

struct Table {
  std::string caption;  ///< not empty: it also names the table for a screen reader
  std::vector<Column> columns;
  /// One cell per column. A row's first cell is its heading.
  std::vector<std::vector<Cell>> rows;
  /// Empty, or one per row, 0 to 1: drawn as a bar in one more column. Its value must be in a cell.
  std::vector<double> bars;
};

class HtmlPage {
 public:
  /// `command`: the command line that made the page; `tool`: the program and its version.
  HtmlPage(std::string title, std::string command, std::string tool);

  /// Begins a section. Everything before the first one stands at the top of the page.
  void section(const std::string& title);
  void paragraph(const std::string& text);
  /// A remark that must not be missed.
  void note(const std::string& text, Mark mark = Mark::kUnknown);
  /// Numbered.
  void steps(const std::vector<std::string>& items);
  /// Text as it is, with its line breaks.
  void preformatted(const std::string& text);
  void key_values(const std::vector<std::pair<std::string, Cell>>& items);
  void table(const Table& table);
  /// A drawing: an svg element that needs nothing outside itself and runs nothing. `description` is
  /// what it shows, in words. Classes of the style sheet: rl-axis, rl-roof, rl-point, rl-label.
  /// Throws ContractError for anything else.
  void svg(const std::string& description, const std::string& drawing);

  /// The whole page. Same calls, same bytes.
  std::string str() const;

 private:
  std::string title_;
  std::string command_;
  std::string tool_;
  std::vector<std::string> sections_;
  std::string body_;
};

}  // namespace prof
