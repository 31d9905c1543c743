#include "ledger/documents/json_text.hpp"

#include <algorithm>

namespace ledger::documents {
namespace {

constexpr int kNumberOverflow = 406;  ///< nlohmann's id of that error

std::string at_byte(size_t position) { return "at byte " + std::to_string(position) + ": "; }

/// Position of the bracket that goes beyond kMaxDepth. Counted on the raw text, so that nothing is
/// built first; up to the first syntax error the count is the parser's.
std::optional<size_t> too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return i;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return std::nullopt;
}

/// The library's words without its prefix, one line of ASCII.
std::string reason(const Json::exception& error) {
  std::string text = error.what();
  if (const size_t colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown_name(text);
}

/// Receives the parser's events and builds the value. Unlike a finished value it sees keys that are
/// given twice.
class Builder {
 public:
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) {
    if (!has_no_nul(value)) return false;
    return put(std::move(value));
  }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Open& object = open_.back();
    const auto [member, is_new] =
        object.value->get_ref<Json::object_t&>().try_emplace(std::move(name));
    object.key = &member->first;
    object.member = &member->second;
    if (!is_new && parsed_.duplicates.size() < kMaxProblems) {
      parsed_.duplicates.push_back(path_of_value());
    }
    return has_no_nul(*object.key);
  }
  bool parse_error(size_t position, const std::string&, const Json::exception& error) {
    if (error.id == kNumberOverflow) {
      failure_ = {"DOCUMENT_VALUE", path_of_value(),
                  at_byte(position) + "expected a number that a double can hold"};
    } else {
      failure_ = {"DOCUMENT_JSON", path_of_container(), at_byte(position) + reason(error)};
    }
    return false;
  }

  ParsedText& parsed() { return parsed_; }
  const Problem& failure() const { return failure_; }

 private:
  struct Open {
    Json* value;
    const std::string* key = nullptr;  ///< of the member being read
    Json* member = nullptr;
  };

  bool has_room() {
    if (++values_ <= kMaxValues) return true;
    failure_ = {"DOCUMENT_TOO_LARGE", path_of_value(),
                "expected at most " + std::to_string(kMaxValues) + " values, found more"};
    return false;
  }
  Json* place(Json&& value) {
    if (open_.empty()) {
      parsed_.json = std::move(value);
      return &parsed_.json;
    }
    Open& parent = open_.back();
    if (parent.value->is_array()) {
      // Elements move when the array grows, but only while none of them is open.
      parent.value->push_back(std::move(value));
      return &parent.value->back();
    }
    *parent.member = std::move(value);
    return parent.member;
  }
  bool put(Json&& value) {
    if (!has_room()) return false;
    place(std::move(value));
    return true;
  }
  bool open(Json&& value) {
    if (!has_room()) return false;
    Json* placed = place(std::move(value));
    open_.push_back({placed});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool has_no_nul(const std::string& text) {
    if (text.find('\0') == std::string::npos) return true;
    failure_ = {"DOCUMENT_VALUE", path_of_value(), "expected text without the character U+0000"};
    return false;
  }

  std::string path_of_container() const {
    std::string path;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      const Open& o = open_[i];
      path +=
          '/' + (o.value->is_array() ? std::to_string(o.value->size() - 1) : pointer_token(*o.key));
    }
    return path;
  }
  /// Of the member or element that is being read.
  std::string path_of_value() const {
    if (open_.empty()) return "";
    const Open& o = open_.back();
    if (o.value->is_array()) return at_index(path_of_container(), o.value->size());
    if (o.key == nullptr) return path_of_container();
    return path_of_container() + '/' + pointer_token(*o.key);
  }

  ParsedText parsed_;
  std::vector<Open> open_;
  size_t values_ = 0;
  Problem failure_{"DOCUMENT_JSON", "", "not JSON"};
};

}  // namespace

std::optional<ParsedText> parse_text(std::string_view text, Problems& problems) {
  if (text.size() > kMaxDocumentBytes) {
    problems.add("DOCUMENT_TOO_LARGE", "",
                 "expected at most " + std::to_string(kMaxDocumentBytes) + " bytes, found " +
                     std::to_string(text.size()));
    return std::nullopt;
  }
  // The parser would skip a byte order mark and end at a zero byte.
  if (text.starts_with("\xef\xbb\xbf")) {
    problems.add("DOCUMENT_JSON", "", at_byte(1) + "a byte order mark; expected an object");
    return std::nullopt;
  }
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    problems.add("DOCUMENT_JSON", "", at_byte(zero + 1) + "a zero byte");
    return std::nullopt;
  }
  if (const auto deep = too_deep_at(text)) {
    problems.add("DOCUMENT_JSON", "",
                 at_byte(*deep + 1) + "nested too deeply; expected at most " +
                     std::to_string(kMaxDepth) + " levels");
    return std::nullopt;
  }
  Builder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    const Problem& p = builder.failure();
    problems.add(p.code, p.path, p.message);
    return std::nullopt;
  }
  return std::move(builder.parsed());
}

}  // namespace ledger::documents
