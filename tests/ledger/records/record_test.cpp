#include "ledger/records/record.hpp"

#include <algorithm>
#include <random>

#include "ledger/records/record_text.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

constexpr const char* kId = "01JDY2Q6N8E4C7K5V3M1R9T0XA";
const std::string kDigest(64, 'a');

Record sample() {
  Record r;
  r.id = kId;
  r.number = 4;
  r.slug = "leaf-fusion";
  r.title = "Hash leaves: inside the last pass";
  r.state = RecordState::kDecided;
  r.recorded_utc = "2026-11-30T12:00:00.000Z";
  r.fields["program_and_shape"] = "wide_fibonacci\n\n    indented";
  r.fields["code_change"] = "## own heading\n```\n## in code\n```\n\\## and a backslash";
  r.prediction = some_prediction();
  r.decision = "keep";
  r.decision_reason = "faster\n\n## really";
  r.no_verdict_reason = "no judge";
  r.correction = "a typing error\n## there";
  r.links = {{"baseline", "run", kDigest, "", "", ""},
             {"supports", "experiment", "01JDY2Q6N8E4C7K5V3M1R9T0XB", "a (note) of words", "", ""}};
  return r;
}

TEST(Record, PrintsTheReadableForm) {
  EXPECT_EQ(print_record(sample()), R"(# 0004: Hash leaves: inside the last pass

- kind: experiment
- id: 01JDY2Q6N8E4C7K5V3M1R9T0XA
- state: decided
- slug: leaf-fusion
- recorded: 2026-11-30T12:00:00.000Z

## program and shape

wide_fibonacci

    indented

## binary/module/toolchain/device identities

## verified-request and device-stage baseline

## dominant mechanism

## predicted launches/passes/bytes/counter movement

- bytes: trace_commit.input_bytes <= 0.75 ratio of baseline

## code change

\## own heading
```
## in code
```
\\## and a backslash

## exact parity gates

## instrumented diagnostic result

## uninstrumented ABBA result

## peak memory and fallback delta

## decision

keep

faster

\## really

## no verdict

no judge

## correction

a typing error
\## there

## links

- baseline: run )" + kDigest + R"(
- supports: experiment 01JDY2Q6N8E4C7K5V3M1R9T0XB (a (note) of words)
)");
}

void expect_round_trip(const Record& record) {
  const std::string text = print_record(record);
  const Record back = parse_record(text, "record.md");
  EXPECT_TRUE(back.same_content(record)) << text;
  EXPECT_EQ(back.recorded_utc, record.recorded_utc);
  ASSERT_EQ(back.links.size(), record.links.size()) << text;
  for (size_t i = 0; i < back.links.size(); ++i) {
    EXPECT_TRUE(back.links[i].same_as(record.links[i])) << text;
    EXPECT_EQ(back.links[i].note, record.links[i].note) << text;
  }
  EXPECT_EQ(print_record(back), text);
}

TEST(Record, ReadsWhatItPrints) {
  expect_round_trip(sample());
  Record draft;
  draft.kind = RecordKind::kBrief;
  draft.id = kId;
  draft.slug = "a";
  draft.title = "2024: a title that begins like a number";
  draft.recorded_utc = "2026-11-30T12:00:00.000Z";
  EXPECT_TRUE(print_record(draft).starts_with("# unnumbered: 2024: a title"));
  expect_round_trip(draft);
  draft.number = 123456;
  expect_round_trip(draft);
}

TEST(Record, RandomTextsRoundTrip) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr std::string_view kPieces[] = {
      "##",    "## ",  "## links", "##\t",    "# a",      "### b",      "\\", "\\##",   "```",
      "~~~",   "````", "~~~~ x",   "``` a`b", "    ",     " ",          "\t", "- x: y", "keep",
      "\n",    "\n\n", "\r\n",     "text",    "\xc3\xa4", "|a|",        ">",  "```\n",  "\n```",
      "## no", "---",  "\n~~~\n",  "\n## a",  "- id: ",   "# 0001: t\n"};
  const auto text = [&] {
    while (true) {
      std::string out;
      for (size_t n = pick(12); n > 0; --n) out += kPieces[pick(std::size(kPieces))];
      try {
        return record_text(out, "text");
      } catch (const stwo::UsageError&) {
        // An open fence: no text that a record keeps.
      }
    }
  };
  for (int round = 0; round < 3000; ++round) {
    Record r = sample();
    r.kind = pick(2) == 0 ? RecordKind::kExperiment : RecordKind::kBrief;
    if (r.kind == RecordKind::kBrief) r.prediction.clear();
    if (pick(2) == 0) r.number.reset();
    r.fields.clear();
    for (const RecordField& f : record_form(r.kind).fields) {
      if (f.prediction) continue;
      if (std::string t = text(); !t.empty()) r.fields[std::string(f.column)] = t;
    }
    r.decision_reason = text();
    if (pick(3) == 0) r.decision = r.decision_reason = "";
    r.no_verdict_reason = text();
    r.correction = text();
    r.links.resize(pick(3));
    expect_round_trip(r);
    if (HasFailure()) return;
  }
}

TEST(Record, TakesWhatPeopleEdit) {
  std::string text = print_record(sample());
  replace(text, "## dominant mechanism\n",
          "##  dominant mechanism \nread *twice*:\n\n| a | b |\n|---|---|\n\n### detail\n\n~~~\n## "
          "links\n~~~\n\n<!-- ## -->\n\n\n");
  replace(text, "- slug: leaf-fusion\n", "");
  replace(text, "- kind: experiment\n", "\n- slug: leaf-fusion  \n- kind: experiment\n");
  const Record r = parse_record(text, "record.md");
  EXPECT_EQ(r.field("dominant_mechanism"),
            "read *twice*:\n\n| a | b |\n|---|---|\n\n### detail\n\n~~~\n## links\n~~~\n\n<!-- ## "
            "-->");
  const std::string printed = print_record(r);
  EXPECT_EQ(print_record(parse_record(printed, "x")), printed);

  // Windows' line ends and a byte order mark.
  std::string windows = "\xef\xbb\xbf";
  for (const char c : print_record(sample())) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(print_record(parse_record(windows, "x")), print_record(sample()));
  // No newline at the end.
  std::string cut = print_record(sample());
  cut.pop_back();
  EXPECT_EQ(print_record(parse_record(cut, "x")), print_record(sample()));
}

TEST(Record, SortsLinks) {
  std::string text = print_record(sample());
  replace(text, "- baseline: run " + kDigest + "\n", "");
  text += "- baseline: run " + kDigest + "\n";
  EXPECT_EQ(print_record(parse_record(text, "x")), print_record(sample()));
}

class RecordRefuses : public ::testing::Test {
 protected:
  /// Replaces a part of a good file and expects the error, in the line of `at` in the new text.
  void refuse(const std::string& from, const std::string& to, const std::string& code,
              const std::string& at) {
    std::string text = print_record(sample());
    replace(text, from, to);
    std::string message;
    EXPECT_EQ(code_of([&] { parse_record(text, "a/record.md"); }, &message), code) << to;
    EXPECT_NE(message.find("record a/record.md"), std::string::npos) << message;
    const size_t found = text.find(at);
    ASSERT_NE(found, std::string::npos) << at;
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(found), '\n') + 1;
    EXPECT_NE(message.find("line " + std::to_string(line) + ":"), std::string::npos)
        << message << " (expected line " << line << ")";
  }
  void refuse(const std::string& from, const std::string& to, const std::string& code) {
    refuse(from, to, code, to);
  }
};

TEST_F(RecordRefuses, Titles) {
  const std::string title = "# 0004: Hash leaves: inside the last pass";
  for (const char* bad :
       {"0004: a", "# 0004 a", "# 004: a", "# 4: a", "# 00004: a", "# 0000: a", "# -001: a",
        "# four: a", "# 1234567: a", "#  0004: a", "## 0004: a", "# : a", "# 0004: "}) {
    refuse(title, bad,
           std::string(bad).find("0000:") != std::string::npos ||
                   std::string(bad).find("1234567") != std::string::npos
               ? "RECORD_NUMBER"
               : "RECORD_TITLE");
  }
  EXPECT_EQ(code_of([] { parse_record("", "x"); }), "RECORD_TITLE");
  EXPECT_EQ(code_of([] { parse_record("\n", "x"); }), "RECORD_TITLE");
  EXPECT_EQ(code_of([] { parse_record("# 0001: only a title", "x"); }), "RECORD_HEAD");
  refuse("inside", std::string(kMaxRecordLine, 'x'), "RECORD_TEXT", title.substr(0, 8));
}

TEST_F(RecordRefuses, Heads) {
  for (const char* key : {"kind", "id", "state", "slug", "recorded"}) {
    std::string text = print_record(sample());
    const size_t at = text.find("- " + std::string(key) + ": ");
    const size_t end = text.find('\n', at) + 1;
    std::string without = text;
    without.erase(at, end - at);
    std::string message;
    EXPECT_EQ(code_of([&] { parse_record(without, "x"); }, &message), "RECORD_HEAD") << key;
    EXPECT_NE(message.find(key), std::string::npos) << message;
    std::string twice = text;
    twice.insert(end, text.substr(at, end - at));
    EXPECT_EQ(code_of([&] { parse_record(twice, "x"); }, &message), "RECORD_HEAD") << key;
    EXPECT_NE(message.find("twice"), std::string::npos) << message;
  }
  refuse("- kind: experiment", "- kind: brief", "RECORD_HEAD");
  refuse("- state: decided", "- state: done", "RECORD_HEAD");
  refuse("- state: decided", "- State: decided", "RECORD_HEAD");
  refuse("- state: decided", "some words", "RECORD_HEAD");
  refuse("- state: decided", "- state", "RECORD_HEAD");
  refuse("- state: decided", "- state: decided\n- mood: good", "RECORD_HEAD", "- mood");
  refuse("- slug: leaf-fusion", "- slug: Leaf", "RECORD_SLUG");
  refuse("0XA\n", "0X\n", "RECORD_HEAD", "- id");
  refuse("0XA\n", "0xa\n", "RECORD_HEAD", "- id");
  refuse("12:00:00.000Z", "12:00:00Z", "RECORD_HEAD", "- recorded");
}

TEST_F(RecordRefuses, Headings) {
  refuse("## code change", "## Code change", "RECORD_HEADING");
  refuse("## code change", "## note", "RECORD_HEADING");
  refuse("## code change", "##", "RECORD_HEADING", "##\n");
  refuse("## code change\n", "", "RECORD_HEADING", "## exact parity gates");
  refuse("## exact parity gates", "## code change", "RECORD_HEADING",
         "## code change\n\n## instrumented");
  refuse("## exact parity gates", "## uninstrumented ABBA result", "RECORD_HEADING");
  refuse("## decision\n", "## links\n", "RECORD_HEADING");
  refuse("## no verdict\n", "## correction\n", "RECORD_HEADING", "## correction\n\na typing");
  refuse("## no verdict\n", "## decision\n", "RECORD_HEADING", "## decision\n\nno judge");
  refuse("\\## own heading", "## own heading", "RECORD_HEADING");
  std::string text = print_record(sample());
  text.erase(text.find("\n## links"));
  std::string message;
  EXPECT_EQ(code_of([&] { parse_record(text, "x"); }, &message), "RECORD_HEADING");
  EXPECT_NE(message.find("'links' is missing at the end"), std::string::npos) << message;
  // A brief's headings are not an experiment's.
  refuse("- kind: experiment", "- kind: design brief", "RECORD_HEADING", "## program and shape");
}

TEST_F(RecordRefuses, Sections) {
  refuse("<= 0.75", "about 0.75", "PREDICTION_RELATION");
  refuse("\nkeep\n", "\nmaybe\n", "RECORD_DECISION", "maybe");
  refuse("\nkeep\n", "\nkeep it\n", "RECORD_DECISION", "keep it");
  refuse("\n```\n\\\\##", "\n\\\\##", "RECORD_TEXT", "```");
  refuse("a typing error", "```\nopen", "RECORD_TEXT", "```\nopen");
  refuse("    indented", "    \xff", "RECORD_TEXT", "## program and shape");
  refuse("    indented", "    a\x01", "RECORD_TEXT", "## program and shape");
  EXPECT_EQ(code_of([] { parse_record(std::string(kMaxRecordFile + 1, 'a'), "x"); }),
            "RECORD_TEXT");
}

TEST_F(RecordRefuses, Links) {
  const std::string link = "- baseline: run " + kDigest;
  refuse(link, "words", "RECORD_LINK");
  refuse(link, "- baseline: run", "RECORD_LINK");
  refuse(link, "- baseline run " + kDigest, "RECORD_LINK");
  refuse(link, link + " note", "RECORD_LINK");
  refuse(link, link + " (note", "RECORD_LINK");
  refuse(link, link + "\n" + link, "RECORD_LINK", link + "\n- supports");
  refuse(link, "- proof: run " + kDigest, "LINK_ROLE");
  refuse(link, "- baseline: product " + kDigest, "LINK_KIND");
  refuse(link, "- baseline: run abcdef", "LINK_TARGET");
  refuse(link, "- baseline: run " + std::string(64, 'A'), "LINK_TARGET");
  refuse(link, "- baseline: run " + std::string(kId), "LINK_TARGET");
  refuse(link, "- baseline: brief " + kDigest, "LINK_TARGET");
}

TEST(Record, TruncatedAnywhereIsRefusedOrRead) {
  const std::string text = print_record(sample());
  size_t read = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    const std::string code = code_of([&] { parse_record(text.substr(0, n), "x"); });
    if (code.empty()) ++read;
  }
  // Only what follows the last heading can be missing without notice.
  EXPECT_LE(read, text.size() - text.find("\n## links"));
}

TEST(Record, Values) {
  for (const char* good : {"a", "a1-b", "leaf-fusion"}) {
    EXPECT_EQ(code_of([&] { require_slug(good); }), "");
  }
  for (const char* bad : {"", "1a", "-a", "A", "a_b", "a b", "\xc3\xa4", "a/b", "a."}) {
    EXPECT_EQ(code_of([&] { require_slug(bad); }), "RECORD_SLUG") << bad;
  }
  EXPECT_EQ(code_of([] { require_slug(std::string(61, 'a')); }), "RECORD_SLUG");
  EXPECT_EQ(require_title("  a b "), "a b");
  EXPECT_EQ(code_of([] { require_title(" "); }), "RECORD_TITLE");
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, kMaxRecordNumber + 1}) {
    EXPECT_EQ(code_of([&] { require_number(bad); }), "RECORD_NUMBER");
  }
  EXPECT_EQ(code_of([] { require_decision("no"); }), "RECORD_DECISION");
  EXPECT_EQ(record_folder(sample()), "0004-leaf-fusion");
  EXPECT_EQ(record_number_text(12345), "12345");
  Record unnumbered = sample();
  unnumbered.number.reset();
  EXPECT_EQ(code_of([&] { record_folder(unnumbered); }), "CONTRACT");
  for (const RecordState s : {RecordState::kDraft, RecordState::kOpen, RecordState::kDecided}) {
    EXPECT_EQ(record_state_of(record_state_word(s)), s);
  }
  EXPECT_FALSE(record_state_of("Open"));
}

}  // namespace
}  // namespace ledger
