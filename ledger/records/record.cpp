#include "ledger/records/record.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "ledger/records/record_text.hpp"
#include "ledger/records/record_time.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {
namespace {

constexpr std::pair<RecordState, std::string_view> kStates[] = {
    {RecordState::kDraft, "draft"},
    {RecordState::kOpen, "open"},
    {RecordState::kDecided, "decided"},
};
constexpr std::string_view kRoles[] = {"baseline", "instrumented", "abba", "supports",
                                       "contradicts"};
constexpr std::string_view kTargetKinds[] = {"run",  "capture",  "verdict",    "calibration",
                                             "plan", "artifact", "experiment", "brief"};
constexpr std::string_view kDecisions[] = {"keep", "reject", "investigate"};

constexpr std::string_view kUnnumbered = "unnumbered";
constexpr std::string_view kDecision = "decision";
constexpr std::string_view kNoVerdict = "no verdict";
constexpr std::string_view kCorrection = "correction";
constexpr std::string_view kLinks = "links";

template <size_t N>
size_t index_of(const std::string_view (&words)[N], std::string_view word) {
  return static_cast<size_t>(std::find(std::begin(words), std::end(words), word) -
                             std::begin(words));
}

template <size_t N>
void require_word(const std::string_view (&words)[N], std::string_view word, const char* code,
                  const std::string& what) {
  if (index_of(words, word) != N) return;
  std::string list;
  for (size_t i = 0; i < N; ++i) {
    list += std::string(i == 0 ? "" : i + 1 < N ? ", " : " or ") + std::string(words[i]);
  }
  throw stwo::UsageError(code, what + " '" + std::string(word) + "' is unknown; use " + list);
}

// --- Reading

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : name_(name) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.size() > kMaxRecordFile) {
      fail("RECORD_TEXT", 1,
           "the file has " + std::to_string(text.size()) + " bytes (at most " +
               std::to_string(kMaxRecordFile) + " are read); link artifacts instead");
    }
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines_.push_back(line);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  Record parse() {
    read_title();
    read_head();
    const RecordForm& form = record_form(record_.kind);
    std::vector<std::string_view> headings;
    for (const RecordField& f : form.fields) headings.push_back(f.heading);
    for (const std::string_view h : {kDecision, kNoVerdict, kCorrection, kLinks}) {
      headings.push_back(h);
    }
    split_sections(headings);
    for (const RecordField& f : form.fields) {
      if (f.prediction) {
        read_prediction(sections_.at(f.heading));
      } else if (std::string text = free_text(f.heading); !text.empty()) {
        record_.fields[std::string(f.column)] = std::move(text);
      }
    }
    read_decision(sections_.at(kDecision));
    record_.no_verdict_reason = free_text(kNoVerdict);
    record_.correction = free_text(kCorrection);
    read_links(sections_.at(kLinks));
    return std::move(record_);
  }

 private:
  struct Section {
    size_t begin = 0;  ///< index of the first line after the heading
    size_t end = 0;
  };

  /// `line` counts from 1.
  [[noreturn]] void fail(const std::string& code, size_t line, const std::string& what) const {
    throw stwo::FormatError(code,
                            "record " + name_ + ", line " + std::to_string(line) + ": " + what);
  }
  /// A check of a single value, whose failure is one of this file.
  template <class Check>
  auto checked(size_t line, Check check) const {
    try {
      return check();
    } catch (const stwo::UsageError& e) {
      fail(e.code(), line, e.what());
    }
  }

  /// Line `index` from character `from` on, without white space around it.
  std::string line_text(size_t index, size_t from, const std::string& what) const {
    return checked(index + 1, [&] { return record_line(lines_[index].substr(from), what); });
  }

  void read_title() {
    constexpr const char* kMend = "; begin the file with a line such as `# 0004: What is tried`";
    const std::string_view line = lines_.empty() ? std::string_view() : lines_[0];
    const size_t colon = line.find(": ");
    if (!line.starts_with("# ") || colon == std::string_view::npos) {
      fail("RECORD_TITLE", 1, std::string("there is no title") + kMend);
    }
    const std::string_view number = line.substr(2, colon - 2);
    if (number != kUnnumbered) {
      int64_t value = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      if (error != std::errc{} || end != number.data() + number.size() ||
          number != record_number_text(value)) {
        fail("RECORD_TITLE", 1,
             "'" + std::string(number) + "' is no number of at least four digits, nor '" +
                 std::string(kUnnumbered) + "'" + kMend);
      }
      checked(1, [&] { require_number(value); });
      record_.number = value;
    }
    record_.title = checked(1, [&] { return require_title(line.substr(colon + 2)); });
    next_ = 1;
  }

  void read_head() {
    constexpr std::string_view kKeys[] = {"kind", "id", "state", "slug", "recorded"};
    std::map<std::string_view, std::pair<std::string_view, size_t>> values;
    for (; next_ < lines_.size() && !is_heading(lines_[next_]); ++next_) {
      const std::string_view line = lines_[next_];
      const size_t number = next_ + 1;
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      const size_t colon = line.find(": ");
      if (!line.starts_with("- ") || colon == std::string_view::npos) {
        fail("RECORD_HEAD", number,
             "between title and first heading stand only lines such as `- state: open`; move other "
             "text into a section");
      }
      const std::string_view key = line.substr(2, colon - 2);
      if (index_of(kKeys, key) == std::size(kKeys)) {
        fail("RECORD_HEAD", number,
             "'" + std::string(key) +
                 "' is unknown here; the lines are kind, id, state, slug and recorded");
      }
      std::string_view value = line.substr(colon + 2);
      while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
      if (!values.emplace(key, std::pair(value, number)).second) {
        fail("RECORD_HEAD", number,
             "'" + std::string(key) + "' is there twice; leave one of them out");
      }
    }
    for (const std::string_view key : kKeys) {
      if (!values.contains(key)) {
        fail("RECORD_HEAD", next_,
             "the line `- " + std::string(key) +
                 ": ...` is missing before "
                 "the first heading; add it");
      }
    }
    read_head_values(values);
  }

  void read_head_values(
      const std::map<std::string_view, std::pair<std::string_view, size_t>>& values) {
    const auto [kind, kind_line] = values.at("kind");
    if (kind == record_form(RecordKind::kBrief).word) {
      record_.kind = RecordKind::kBrief;
    } else if (kind != record_form(RecordKind::kExperiment).word) {
      fail("RECORD_HEAD", kind_line,
           "kind '" + std::string(kind) + "' is unknown; write experiment or design brief");
    }
    const auto [id, id_line] = values.at("id");
    if (!is_ulid(id)) {
      fail("RECORD_HEAD", id_line,
           "id '" + std::string(id) + "' is no ULID; leave the line as it was exported");
    }
    record_.id = id;
    const auto [state, state_line] = values.at("state");
    const auto known = record_state_of(state);
    if (!known) {
      fail("RECORD_HEAD", state_line,
           "state '" + std::string(state) + "' is unknown; write draft, open or decided");
    }
    record_.state = *known;
    const auto [slug, slug_line] = values.at("slug");
    checked(slug_line, [s = slug] { require_slug(s); });
    record_.slug = slug;
    const auto [recorded, recorded_line] = values.at("recorded");
    if (!utc_milliseconds(recorded)) {
      fail("RECORD_HEAD", recorded_line,
           "recorded '" + std::string(recorded) +
               "' is no UTC time such as 2026-01-31T12:00:00.000Z; leave the line as it was "
               "exported");
    }
    record_.recorded_utc = recorded;
  }

  void split_sections(const std::vector<std::string_view>& headings) {
    const auto is_optional = [](std::string_view h) { return h == kNoVerdict || h == kCorrection; };
    FenceTracker fence;
    size_t fence_line = 0;
    size_t expected = 0;
    Section* open = nullptr;
    for (size_t i = next_; i < lines_.size(); ++i) {
      const bool was_open = fence.is_open();
      const bool is_code = fence.feed(lines_[i]);
      if (!was_open && fence.is_open()) fence_line = i + 1;
      if (is_code || !is_heading(lines_[i])) continue;
      const std::string heading = line_text(i, 2, "the heading");
      const size_t at = static_cast<size_t>(std::find(headings.begin(), headings.end(), heading) -
                                            headings.begin());
      if (at == headings.size()) {
        fail("RECORD_HEADING", i + 1,
             "heading '" + heading +
                 "' is no part of a record; write it with ### or more, or put a backslash before "
                 "it");
      }
      if (at < expected) {
        fail("RECORD_HEADING", i + 1,
             "heading '" + heading + "' is " +
                 (sections_.contains(headings[at]) ? "there already" : "out of order") +
                 "; every heading stands once, in the order of the form");
      }
      while (expected < at && is_optional(headings[expected])) ++expected;
      if (expected < at) {
        fail("RECORD_HEADING", i + 1,
             "heading '" + std::string(headings[expected]) + "' is missing before '" + heading +
                 "'; add it, with nothing below it if nothing is to be said");
      }
      if (open != nullptr) open->end = i;
      open = &sections_[headings[at]];
      open->begin = i + 1;
      expected = at + 1;
    }
    if (fence.is_open()) {
      fail("RECORD_TEXT", fence_line, "the code fence opened here is never closed; close it");
    }
    if (expected < headings.size()) {
      fail("RECORD_HEADING", lines_.size(),
           "heading '" + std::string(headings[expected]) +
               "' is missing at the end; add it, with nothing below it if nothing is to be said");
    }
    open->end = lines_.size();
  }

  std::string free_text(std::string_view heading) const {
    const auto it = sections_.find(heading);
    return it == sections_.end() ? "" : free_text(it->second);
  }
  std::string free_text(const Section& section) const {
    std::string text;
    for (size_t i = section.begin; i < section.end; ++i) {
      text.append(lines_[i]);
      text += '\n';
    }
    return checked(section.begin, [&] {
      return record_text(unescape_headings(text), "the section that begins here");
    });
  }

  void read_prediction(const Section& section) {
    std::string text;
    for (size_t i = section.begin; i < section.end; ++i) {
      text.append(lines_[i]);
      text += '\n';
    }
    try {
      record_.prediction = parse_prediction(text, section.begin + 1);
    } catch (const stwo::UsageError& e) {
      throw stwo::FormatError(e.code(), "record " + name_ + ": " + e.what());
    }
  }

  void read_decision(Section section) {
    while (section.begin < section.end &&
           lines_[section.begin].find_first_not_of(" \t") == std::string_view::npos) {
      ++section.begin;
    }
    if (section.begin == section.end) return;
    const size_t line = section.begin + 1;
    record_.decision = line_text(section.begin, 0, "the decision");
    checked(line, [&] { require_decision(record_.decision); });
    ++section.begin;
    record_.decision_reason = free_text(section);
  }

  void read_links(const Section& section) {
    for (size_t i = section.begin; i < section.end; ++i) {
      const std::string line = line_text(i, 0, "the link");
      if (line.empty()) continue;
      const size_t colon = line.find(": ");
      const size_t kind_end = line.find(' ', colon == std::string::npos ? colon : colon + 2);
      if (!line.starts_with("- ") || kind_end == std::string::npos) {
        fail(
            "RECORD_LINK", i + 1,
            "it is no link; write one such as `- baseline: run ID` or `- abba: verdict ID (note)`");
      }
      RecordLink link;
      link.role = line.substr(2, colon - 2);
      link.target_kind = line.substr(colon + 2, kind_end - colon - 2);
      const size_t id_end = std::min(line.find(' ', kind_end + 1), line.size());
      link.target_id = line.substr(kind_end + 1, id_end - kind_end - 1);
      const std::string rest = line.substr(id_end);
      if (!rest.empty()) {
        if (!rest.starts_with(" (") || !rest.ends_with(')')) {
          fail("RECORD_LINK", i + 1,
               "only a note in parentheses may follow the id; write (note), or nothing");
        }
        link.note = rest.substr(2, rest.size() - 3);
        link.note = checked(i + 1, [&] { return record_line(link.note, "the note"); });
      }
      checked(i + 1, [&] { require_link(link); });
      for (const RecordLink& known : record_.links) {
        if (known.same_as(link)) {
          fail("RECORD_LINK", i + 1, "the same link is there already; leave one of them out");
        }
      }
      record_.links.push_back(std::move(link));
    }
    sort_links(record_.links);
  }

  std::string name_;
  std::vector<std::string_view> lines_;
  size_t next_ = 0;
  std::map<std::string_view, Section> sections_;
  Record record_;
};

}  // namespace

// --- Values

std::string_view record_state_word(RecordState state) {
  for (const auto& [known, word] : kStates) {
    if (known == state) return word;
  }
  throw stwo::ContractError("a state without a word");
}

std::optional<RecordState> record_state_of(std::string_view word) {
  for (const auto& [state, known] : kStates) {
    if (known == word) return state;
  }
  return std::nullopt;
}

void require_slug(std::string_view slug) {
  constexpr size_t kMaxSlug = 60;
  const bool right =
      !slug.empty() && slug.size() <= kMaxSlug && slug[0] >= 'a' && slug[0] <= 'z' &&
      slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (right) return;
  throw stwo::UsageError("RECORD_SLUG", "slug '" + std::string(slug) +
                                            "' is no short name; use lower-case letters, digits "
                                            "and hyphens, beginning with a letter, at most " +
                                            std::to_string(kMaxSlug));
}

std::string require_title(std::string_view title) {
  std::string out = record_line(title, "title");
  if (out.empty()) {
    throw stwo::UsageError("RECORD_TITLE", "the title is empty; say in one line what is tried");
  }
  return out;
}

void require_number(int64_t number) {
  if (number >= 1 && number <= kMaxRecordNumber) return;
  throw stwo::UsageError("RECORD_NUMBER", "number " + std::to_string(number) +
                                              " is out of range; use 1 to " +
                                              std::to_string(kMaxRecordNumber));
}

void require_decision(std::string_view decision) {
  require_word(kDecisions, decision, "RECORD_DECISION", "decision");
}

void require_link_role(std::string_view role) { require_word(kRoles, role, "LINK_ROLE", "role"); }

void require_link_kind(std::string_view target_kind) {
  require_word(kTargetKinds, target_kind, "LINK_KIND", "target");
}

void require_link(const RecordLink& link) {
  require_link_role(link.role);
  require_link_kind(link.target_kind);
  const bool is_record = link.target_kind == "experiment" || link.target_kind == "brief";
  constexpr size_t kDigestLength = 64;
  const bool is_digest = link.target_id.size() == kDigestLength &&
                         link.target_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_record ? is_ulid(link.target_id) : is_digest) return;
  throw stwo::UsageError(
      "LINK_TARGET",
      "'" + link.target_id + "' is no id of a " + link.target_kind + "; write " +
          (is_record ? "its ULID of 26 characters" : "all 64 hexadecimal digits of it"));
}

void sort_links(std::vector<RecordLink>& links) {
  const auto key = [](const RecordLink& l) {
    return std::tuple(index_of(kRoles, l.role), index_of(kTargetKinds, l.target_kind),
                      std::string_view(l.target_id));
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](const RecordLink& a, const RecordLink& b) { return key(a) < key(b); });
  links.erase(std::unique(links.begin(), links.end(),
                          [](const RecordLink& a, const RecordLink& b) { return a.same_as(b); }),
              links.end());
}

std::string record_number_text(const std::optional<int64_t>& number) {
  if (!number) return std::string(kUnnumbered);
  constexpr size_t kDigits = 4;
  const std::string digits = std::to_string(*number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

std::string record_folder(const Record& record) {
  STWO_CHECK(record.number.has_value(), "a record without a number has no folder");
  return record_number_text(record.number) + "-" + record.slug;
}

const std::string& Record::field(std::string_view column) const {
  static const std::string kNothing;
  const auto it = fields.find(column);
  return it == fields.end() ? kNothing : it->second;
}

bool Record::same_content(const Record& other) const {
  const auto content = [](const Record& r) {
    return std::tie(r.kind, r.id, r.number, r.slug, r.title, r.state, r.fields, r.prediction,
                    r.decision, r.decision_reason, r.no_verdict_reason, r.correction);
  };
  return content(*this) == content(other);
}

// --- The file

Record parse_record(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

std::string print_record(const Record& record) {
  const RecordForm& form = record_form(record.kind);
  std::string out = "# " + record_number_text(record.number) + ": " + record.title + "\n\n";
  const auto head = [&](const char* key, std::string_view value) {
    out += std::string("- ") + key + ": " + std::string(value) + "\n";
  };
  head("kind", form.word);
  head("id", record.id);
  head("state", record_state_word(record.state));
  head("slug", record.slug);
  head("recorded", record.recorded_utc);
  const auto section = [&](std::string_view heading, const std::string& body) {
    out += "\n## " + std::string(heading) + "\n";
    if (!body.empty()) out += "\n" + body + "\n";
  };
  for (const RecordField& f : form.fields) {
    if (!f.prediction) {
      section(f.heading, escape_headings(record.field(f.column)));
      continue;
    }
    std::string list;
    for (const PredictionItem& item : record.prediction) {
      list += (list.empty() ? "- " : "\n- ") + print_item(item);
    }
    section(f.heading, list);
  }
  STWO_CHECK(!record.decision.empty() || record.decision_reason.empty(),
             "a reason without a decision");
  std::string decision = record.decision;
  if (!record.decision_reason.empty()) {
    decision += "\n\n" + escape_headings(record.decision_reason);
  }
  section(kDecision, decision);
  if (!record.no_verdict_reason.empty()) {
    section(kNoVerdict, escape_headings(record.no_verdict_reason));
  }
  if (!record.correction.empty()) section(kCorrection, escape_headings(record.correction));
  std::string links;
  for (const RecordLink& l : record.links) {
    links += (links.empty() ? "- " : "\n- ") + l.role + ": " + l.target_kind + " " + l.target_id;
    if (!l.note.empty()) links += " (" + l.note + ")";
  }
  section(kLinks, links);
  return out;
}

}  // namespace ledger
