#include "prof/html/page.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "prof/html/palette.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// Bytes of the well-formed UTF-8 sequence at the start, 0 if there is none (RFC 3629).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!follows(1) || !follows(2)) return 0;
    // Neither overlong nor half of a surrogate pair.
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
    return 4;
  }
  return 0;
}

const char* class_of(Mark mark) {
  switch (mark) {
    case Mark::kGood: return "good";
    case Mark::kBad: return "bad";
    case Mark::kUnknown: return "unknown";
    case Mark::kPlain: break;
  }
  return "";
}

std::string marked(const Cell& cell) {
  std::string text = escape_html(cell.text);
  if (cell.mark == Mark::kPlain) return text;
  return std::string("<span class=\"") + class_of(cell.mark) + "\">" + text + "</span>";
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != text.end();
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0 || (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (text[0]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

HtmlPage::HtmlPage(std::string title, std::string command, std::string tool)
    : title_(std::move(title)), command_(std::move(command)), tool_(std::move(tool)) {}

void HtmlPage::section(const std::string& title) {
  sections_.push_back(title);
  body_ += "<h2 id=\"s" + std::to_string(sections_.size()) + "\">" + escape_html(title) + "</h2>\n";
}

void HtmlPage::paragraph(const std::string& text) { body_ += "<p>" + escape_html(text) + "</p>\n"; }

void HtmlPage::note(const std::string& text, Mark mark) {
  body_ += std::string("<p class=\"note ") + class_of(mark) + "\">" + escape_html(text) + "</p>\n";
}

void HtmlPage::steps(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ol>\n";
  for (const std::string& item : items) body_ += "<li>" + escape_html(item) + "</li>\n";
  body_ += "</ol>\n";
}

void HtmlPage::preformatted(const std::string& text) {
  body_ += "<pre>" + escape_html(text) + "</pre>\n";
}

void HtmlPage::key_values(const std::vector<std::pair<std::string, Cell>>& items) {
  if (items.empty()) return;
  body_ += "<dl>\n";
  for (const auto& [key, value] : items) {
    body_ += "<dt>" + escape_html(key) + "</dt><dd>" + marked(value) + "</dd>\n";
  }
  body_ += "</dl>\n";
}

void HtmlPage::table(const Table& table) {
  STWO_CHECK(!table.caption.empty() && !table.columns.empty(), "a table has no caption or column");
  STWO_CHECK(table.bars.empty() || table.bars.size() == table.rows.size(),
             "a table has not one bar per row");
  // Wider than a phone: it scrolls, also by keyboard.
  body_ += "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" +
           escape_html(table.caption) + "\">\n<table>\n<caption>" + escape_html(table.caption) +
           "</caption>\n<thead><tr>";
  const auto numeric = [&](size_t c) { return table.columns[c].numeric ? " class=\"n\"" : ""; };
  for (size_t c = 0; c < table.columns.size(); ++c) {
    body_ += std::string("<th scope=\"col\"") + numeric(c) + ">" +
             escape_html(table.columns[c].title) + "</th>";
  }
  if (!table.bars.empty()) body_ += "<td aria-hidden=\"true\"></td>";
  body_ += "</tr></thead>\n<tbody>\n";
  for (size_t r = 0; r < table.rows.size(); ++r) {
    STWO_CHECK(table.rows[r].size() == table.columns.size(),
               "a table's row has not one cell per column");
    body_ += "<tr>";
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const std::string tag = c == 0 ? "th" : "td";
      body_ += "<" + tag + (c == 0 ? " scope=\"row\"" : "") + numeric(c) + ">" +
               marked(table.rows[r][c]) + "</" + tag + ">";
    }
    if (!table.bars.empty()) {
      const double share = table.bars[r];
      STWO_CHECK(std::isfinite(share) && share >= 0 && share <= 1, "a bar is not 0 to 1 long");
      char width[32];
      std::snprintf(width, sizeof width, "%.2f", share * 100);
      body_ += std::string(
                   "<td class=\"b\" aria-hidden=\"true\"><span class=\"bar\" "
                   "style=\"width:") +
               width + "%\"></span></td>";
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table>\n</div>\n";
}

void HtmlPage::svg(const std::string& description, const std::string& drawing) {
  const std::string_view end = "</svg>";
  // As a file of its own it ends with a line break.
  const std::string svg = drawing.ends_with('\n') ? drawing.substr(0, drawing.size() - 1) : drawing;
  STWO_CHECK(svg.rfind("<svg", 0) == 0 && svg.size() > end.size() &&
                 svg.compare(svg.size() - end.size(), end.size(), end) == 0,
             "a drawing is not one svg element");
  for (const char* part :
       {"<script", "<foreignobject", "<image", "<iframe", "href=\"http", "href='http", "href=\"//",
        "url(http", "@import", " onload", " onclick", " onmouse", "javascript:", "<!"}) {
    STWO_CHECK(!contains(svg, part), std::string("a drawing contains ") + part);
  }
  body_ += "<figure>\n<div role=\"img\" aria-label=\"" + escape_html(description) + "\">" + svg +
           "</div>\n<figcaption>" + escape_html(description) + "</figcaption>\n</figure>\n";
}

std::string HtmlPage::str() const {
  const std::string title = escape_html(title_);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n<meta name=\"generator\" content=\"" +
      escape_html(tool_) + "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" + title +
      "</title>\n<style>\n" + style_sheet() +
      "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
      "<header>\n<h1>" +
      title + "</h1>\n<p>Made by:</p>\n<pre>" + escape_html(command_) + "</pre>\n</header>\n";
  if (sections_.size() > 1) {
    out += "<nav aria-label=\"Sections\">\n<ul>\n";
    for (size_t i = 0; i < sections_.size(); ++i) {
      out += "<li><a href=\"#s" + std::to_string(i + 1) + "\">" + escape_html(sections_[i]) +
             "</a></li>\n";
    }
    out += "</ul>\n</nav>\n";
  }
  return out + "<main id=\"content\">\n" + body_ + "</main>\n<footer>\n<p>Generated by " +
         escape_html(tool_) + "</p>\n</footer>\n</body>\n</html>\n";
}

}  // namespace prof
