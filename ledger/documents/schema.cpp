#include "ledger/documents/schema.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace ledger::documents {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
}

bool is_sha256(std::string_view s) {
  return s.size() == 64 && std::all_of(s.begin(), s.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

bool is_utc(std::string_view s) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  constexpr size_t kSecondsEnd = 19;
  std::string form(kForm);
  if (s.size() != form.size()) form.erase(kSecondsEnd, 4);
  if (s.size() != form.size()) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (form[i] == '0' ? !is_digit(s[i]) : s[i] != form[i]) return false;
  }
  const auto number = [&](size_t at, size_t n) {
    int value = 0;
    for (const char c : s.substr(at, n)) value = value * 10 + (c - '0');
    return value;
  };
  const int year = number(0, 4);
  const int month = number(5, 2);
  const int day = number(8, 2);
  if (month < 1 || month > 12) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int days = kDays[month - 1] + (month == 2 && leap ? 1 : 0);
  return day >= 1 && day <= days && number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60;
}

bool is_ulid(std::string_view s) {
  // 26 digits of 5 bits are two bits too many: the first is at most 7.
  return s.size() == 26 && s[0] <= '7' &&
         s.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string_view::npos;
}

bool is_code(std::string_view s) {
  return !s.empty() && s[0] >= 'A' && s[0] <= 'Z' && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  });
}

std::string join(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view n : names) {
    if (!out.empty()) out += ", ";
    out += n;
  }
  return out;
}

std::string range(const Rule& rule) {
  if (rule.min == rule.max) return std::to_string(rule.min);
  if (rule.max == kMaxInteger && rule.type == Type::kArray) {
    return "at least " + std::to_string(rule.min);
  }
  const std::string max = rule.max == kMaxInteger ? "2^63-1" : std::to_string(rule.max);
  return std::to_string(rule.min) + " to " + max;
}

std::string description(const Rule& rule) {
  std::string out;
  switch (rule.type) {
    case Type::kObject: out = "an object"; break;
    case Type::kArray: out = "an array"; break;
    case Type::kBool: out = "true or false"; break;
    case Type::kUint: out = "a whole number from " + range(rule); break;
    case Type::kReal: out = "a number"; break;
    case Type::kText: out = "a string"; break;
    case Type::kName: out = "a string, not empty, without control characters"; break;
    case Type::kChoice: out = "one of " + join({rule.choices.begin(), rule.choices.end()}); break;
    case Type::kSha256: out = "64 lowercase hex digits"; break;
    case Type::kUtc: out = "a time YYYY-MM-DDTHH:MM:SS[.fff]Z"; break;
    case Type::kUlid: out = "a ULID of 26 upper case characters"; break;
    case Type::kCode: out = "a code of upper case letters, digits and _"; break;
  }
  return rule.is_nullable ? out + ", or null" : out;
}

bool has_type(const Json& value, Type type) {
  switch (type) {
    case Type::kObject: return value.is_object();
    case Type::kArray: return value.is_array();
    case Type::kBool: return value.is_boolean();
    case Type::kUint:
    case Type::kReal: return value.is_number();
    default: return value.is_string();
  }
}

/// `value` has the rule's type.
bool is_allowed(const Json& value, const Rule& rule) {
  if (rule.type == Type::kUint) {
    return value.is_number_unsigned() && value.get<uint64_t>() >= rule.min &&
           value.get<uint64_t>() <= rule.max;
  }
  if (!value.is_string()) return true;
  const auto& s = value.get_ref<const std::string&>();
  switch (rule.type) {
    case Type::kName: return is_name(s);
    case Type::kChoice:
      return std::find(rule.choices.begin(), rule.choices.end(), s) != rule.choices.end();
    case Type::kSha256: return is_sha256(s);
    case Type::kUtc: return is_utc(s);
    case Type::kUlid: return is_ulid(s);
    case Type::kCode: return is_code(s);
    default: return true;
  }
}

}  // namespace

std::unique_ptr<DocumentSchema::Node>& DocumentSchema::slot(std::string_view path) {
  Node* at = &root_;
  std::string_view rest = path;
  while (true) {
    STWO_CHECK(rest.starts_with('/'), "rule without a path: " + std::string(path));
    rest.remove_prefix(1);
    const std::string_view token = rest.substr(0, rest.find('/'));
    rest.remove_prefix(token.size());
    std::unique_ptr<Node>& next = token == "*" ? at->any : at->keys[std::string(token)];
    if (rest.empty()) return next;
    at = next.get();
    STWO_CHECK(at != nullptr, "rule before its parent's: " + std::string(path));
  }
}

void DocumentSchema::add(std::string_view prefix, std::span<const Rule> rules) & {
  for (const Rule& rule : rules) {
    std::unique_ptr<Node>& node = slot(std::string(prefix) + std::string(rule.path));
    STWO_CHECK(node == nullptr, "two rules for " + std::string(rule.path));
    node = std::make_unique<Node>(Node{rule, {}, nullptr});
  }
}

DocumentSchema&& DocumentSchema::add(std::string_view prefix, std::span<const Rule> rules) && {
  add(prefix, rules);
  return std::move(*this);
}

/// One check. Recurses as deeply as the value is nested, which parse_text bounds.
class DocumentSchema::Walk {
 public:
  explicit Walk(Problems& problems) : problems_(problems) {}

  void visit(const Json& value, const Node& node) {
    if (problems_.full()) return;
    const Rule& rule = node.rule;
    if (value.is_null() && rule.is_nullable) return;
    if (!has_type(value, rule.type)) return mismatch("DOCUMENT_TYPE", value, rule);
    if (!is_allowed(value, rule)) return mismatch("DOCUMENT_VALUE", value, rule);
    if (value.is_object()) visit_members(value, node);
    if (value.is_array()) visit_elements(value, node);
  }

 private:
  void mismatch(const char* error, const Json& value, const Rule& rule) {
    problems_.add(error, path_, "expected " + description(rule) + ", found " + shown(value));
  }

  void visit_members(const Json& object, const Node& node) {
    for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
      const auto known = node.keys.find(key);
      const Node* child = known != node.keys.end() ? known->second.get() : node.any.get();
      const size_t length = path_.size();
      path_ += '/' + pointer_token(key);
      if (child == nullptr) {
        unknown(node);
      } else {
        visit(value, *child);
      }
      path_.resize(length);
    }
    for (const auto& [key, child] : node.keys) {
      if (object.contains(key)) continue;
      problems_.add("DOCUMENT_KEY_MISSING", path_ + '/' + key,
                    "this key is missing; expected " + description(child->rule));
    }
  }

  void unknown(const Node& node) {
    std::vector<std::string_view> names;
    for (const auto& [key, child] : node.keys) names.push_back(key);
    problems_.add("DOCUMENT_KEY_UNKNOWN", path_,
                  "this key is not part of the schema; expected " + join(names));
  }

  void visit_elements(const Json& elements, const Node& node) {
    const Rule& rule = node.rule;
    if (elements.size() < rule.min || elements.size() > rule.max) {
      problems_.add(
          "DOCUMENT_VALUE", path_,
          "expected " + range(rule) + " elements, found " + std::to_string(elements.size()));
      return;
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      const size_t length = path_.size();
      path_ += '/' + std::to_string(i);
      visit(elements[i], *node.any);
      path_.resize(length);
    }
  }

  Problems& problems_;
  std::string path_;
};

void DocumentSchema::check(const Json& root, Problems& problems) const {
  Walk(problems).visit(root, root_);
}

}  // namespace ledger::documents
