// The description of the schema as text, JSON and Markdown.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ledger/query/saved_queries.hpp"
#include "ledger/query/schema_doc.hpp"
#include "ledger/schema/ledger_schema.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "prover/cli/terminal.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr EntryKindDoc kEntryKinds[] = {
    {"init", "ledger", "the ledger was made"},
    {"migrate", "schema version", "the schema was brought to a newer version"},
    {"product_report", "run_id", "a product report: a run"},
    {"plan", "digest of the document", "a plan document: a plan and its pass ledger"},
    {"timeline", "capture_id", "a timeline capture (.sptrace)"},
    {"counters", "capture_id", "kernel counters and diagnoses"},
    {"verdict", "verdict_id", "a document of the judge"},
    {"calibration", "calibration_id", "a calibration of the judge"},
    {"merge", "ledger_id@head", "the history of another ledger"},
    {"experiment.new, brief.new", "id", "a new draft"},
    {"experiment.edit, brief.edit", "id", "a changed draft"},
    {"experiment.open, brief.open", "id", "a draft that became a hypothesis"},
    {"experiment.update, brief.update", "id", "results added to an open record"},
    {"experiment.decide, brief.decide", "id", "a decision"},
    {"experiment.correct, brief.correct", "id", "a corrected decision"},
    {"experiment.link, brief.link", "id", "evidence linked"},
    {"experiment.unlink, brief.unlink", "id", "a link taken back"},
    {"experiment.number, brief.number", "id",
     "the number of its folder, given at the first export"},
    {"experiment.import, brief.import", "id", "a record read from record.md"},
};

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : "; ") + p;
  return out;
}

/// Everything SQLite holds a value to, in words.
std::string rules_of(const ColumnDoc& c) {
  std::vector<std::string> rules = c.constraints;
  if (c.references) rules.push_back("row of " + *c.references);
  if (c.may_be_null) rules.emplace_back("may be NULL");
  return joined(rules);
}

std::string overview(const std::vector<ObjectDoc>& objects, const std::string& prefix) {
  std::vector<std::vector<std::string>> rows;
  for (const bool views : {false, true}) {
    for (const ObjectDoc& o : objects) {
      if (o.is_view == views) rows.push_back({prefix + o.name, views ? "view" : "table", o.text});
    }
  }
  return stwo::format_table({"name", "kind", "what it holds"}, rows);
}

Json object_json(const ObjectDoc& object) {
  Json columns = Json::array();
  for (const ColumnDoc& c : object.columns) {
    Json column = {{"name", c.name}};
    if (!object.is_view) {
      column["type"] = c.type;
      column["may_be_null"] = c.may_be_null;
      column["constraints"] = c.constraints;
      column["references"] = c.references ? Json(*c.references) : Json(nullptr);
    }
    column["text"] = c.text;
    columns.push_back(std::move(column));
  }
  return {{"name", object.name},
          {"kind", object.is_view ? "view" : "table"},
          {"text", object.text},
          {"columns", std::move(columns)},
          {"constraints", object.constraints},
          {"indexes", object.indexes}};
}

/// A cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string object_markdown(const ObjectDoc& o) {
  std::string out = "### " + o.name + "\n\n" + o.text + "\n\n";
  const bool described = std::any_of(o.columns.begin(), o.columns.end(),
                                     [](const ColumnDoc& c) { return !c.text.empty(); });
  if (!described) {
    // Views that imitate another program's export: the names are explained there.
    std::vector<std::string> names;
    for (const ColumnDoc& c : o.columns) names.push_back("`" + c.name + "`");
    std::string list;
    for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
    return out + "Columns: " + list + ".\n\n";
  }
  if (o.is_view) {
    out += "| column | meaning |\n|---|---|\n";
    for (const ColumnDoc& c : o.columns) out += "| `" + c.name + "` | " + cell(c.text) + " |\n";
  } else {
    out += "| column | type | rules | meaning |\n|---|---|---|---|\n";
    for (const ColumnDoc& c : o.columns) {
      out += "| `" + c.name + "` | " + c.type + " | " + cell(rules_of(c)) + " | " + cell(c.text) +
             " |\n";
    }
  }
  for (const std::string& c : o.constraints) out += "\nRule: " + c + ".\n";
  if (!o.indexes.empty()) out += "\nIndexes: " + joined(o.indexes) + ".\n";
  return out + "\n";
}

std::string objects_markdown(const std::vector<ObjectDoc>& objects, bool views) {
  std::string out;
  for (const ObjectDoc& o : objects) {
    if (o.is_view == views) out += object_markdown(o);
  }
  return out;
}

std::string queries_markdown() {
  std::string out = "| name | answers | parameters |\n|---|---|---|\n";
  for (const SavedQuery& q : saved_queries()) {
    std::vector<std::string> parameters;
    for (const QueryParameter& p : q.parameters) {
      std::string text = "`" + p.name + "`: " + p.text;
      if (p.default_text && !p.default_text->empty()) text += " (" + *p.default_text + ")";
      parameters.push_back(std::move(text));
    }
    out +=
        "| `" + q.name + "` | " + cell(q.description) + " | " + cell(joined(parameters)) + " |\n";
  }
  return out;
}

constexpr std::string_view kIntroduction = R"(
Made by `ledger schema --markdown` from the SQL files under ledger/schema; a test holds the two
together. [ledger.md](ledger.md) says what the ledger is for.

Times are integer nanoseconds (`_ns`), sizes bytes (`_bytes`), dates UTC as `2026-01-31T12:00:00Z`, with
milliseconds where the ledger itself wrote them, digests lowercase SHA-256 in 64 hexadecimal digits.
Booleans are 0 and 1. NULL says that something does not apply or is not known; it is never 0, and only
columns with the rule "may be NULL" can have it. All tables are STRICT.

Ids (`run_id`, `verdict_id`, `experiment_id`, ...) mean the same in every ledger; row numbers
(`row`, and the columns that refer to one) only in this one. Every table counts its rows from 1
without gaps, in the order of appending. Triggers refuse UPDATE and DELETE on every table; a
correction is a new row that names in `supersedes` (or `retracts`) the one it takes the place of.
)";

constexpr std::string_view kChain =
    R"(An append writes its rows and one row of `entry`, in one transaction. The digests can be computed
without this program.

**Row.** SHA-256 over the table's name and then, for every column that is not NULL, in the order of
`SELECT *`: the column's name, one letter for the type, and the value.

| type | letter | value |
|---|---|---|
| integer | `I` | 8 bytes, two's complement, most significant byte first |
| real | `R` | 8 bytes, IEEE 754, most significant byte first |
| text | `T` | like a name |
| blob | `B` | length, bytes |

A name is its length in bytes and then its UTF-8 bytes; a length is 8 bytes, most significant byte
first.

**Entry.** `entry_sha256` is the SHA-256 of this JSON, with keys sorted and no white space:

    {"kind":..., "previous":..., "recorded_utc":...,
     "rows":[{"count":..., "digests_sha256":..., "first":..., "table":...}, ...],
     "seq":..., "subject":..., "tool_version":..., "version":1}

`previous` is `prev_sha256`; that of the first entry is 64 zeros. `rows` has an object for each row of
`entry_rows` with this `seq`, sorted by table: `count`, `first` and `table` are its `row_count`,
`first_row` and `table_name`, `digests_sha256` is the SHA-256 of its `digests`. These are the digests of
the rows `first_row` to `first_row + row_count - 1`, 32 bytes each.

Every row of every table is in exactly one entry, but for those of `entry` and `entry_rows`, which the
entry's digest covers. `ledger check` recomputes all of it. The digest of the last entry, the head, stands
for the whole ledger: note it elsewhere, and `ledger check --head DIGEST` finds out later whether anything
up to there has changed.

Artifacts lie beside the database, in `NAME.artifacts/` for `NAME.db`, each under `relpath`: the first two
digits of its digest, a slash, the others.
)";

constexpr std::string_view kTraceIntroduction =
    R"(A capture is a SQLite file of its own; `ledger query --trace FILE` or `--trace CAPTURE_ID` shows it as
schema `trace`, e.g. `trace.gpu_op`. Times are nanoseconds of CLOCK_REALTIME. Addresses, payloads and
thresholds are 64-bit patterns: above 2^63-1 they read as negative numbers. CUPTI's numbers of memory: 0
unknown, 1 pageable, 2 pinned, 3 device, 4 array, 5 managed, 6 device static, 7 managed static.

Views in capitals, and `StringIds`, have the names and columns of an export of Nsight Systems, so that
scripts for such exports run here.
)";

}  // namespace

std::span<const EntryKindDoc> entry_kinds() { return kEntryKinds; }

std::string schema_overview_text() {
  return overview(ledger_schema_doc(), "") + "\n" + overview(trace_schema_doc(), "trace.");
}

std::string schema_object_text(const ObjectDoc& object) {
  std::vector<std::vector<std::string>> rows;
  for (const ColumnDoc& c : object.columns) {
    if (object.is_view) {
      rows.push_back({c.name, c.text});
    } else {
      rows.push_back({c.name, c.type, c.text, rules_of(c)});
    }
  }
  std::string out =
      object.name + (object.is_view ? " (view): " : ": ") + object.text + "\n\n" +
      stwo::format_table(object.is_view
                             ? std::vector<std::string>{"column", "meaning"}
                             : std::vector<std::string>{"column", "type", "meaning", "rules"},
                         rows);
  for (const std::string& c : object.constraints) out += "rule: " + c + "\n";
  for (const std::string& i : object.indexes) out += "index: " + i + "\n";
  return out;
}

std::string schema_json(const ObjectDoc* object) {
  Json out = {{"schema", "stwo_ledger_schema_v1"},
              {"version", ledger_schema_files().size()},
              {"trace_version", kTraceVersion}};
  const auto list = [&](const std::vector<ObjectDoc>& objects) {
    Json array = Json::array();
    for (const ObjectDoc& o : objects) {
      if (object == nullptr || object == &o) array.push_back(object_json(o));
    }
    return array;
  };
  out["objects"] = list(ledger_schema_doc());
  out["trace_objects"] = list(trace_schema_doc());
  if (object == nullptr) {
    Json kinds = Json::array();
    for (const EntryKindDoc& k : kEntryKinds) {
      kinds.push_back({{"kind", k.kind}, {"subject", k.subject}, {"text", k.text}});
    }
    out["entry_kinds"] = std::move(kinds);
    Json queries = Json::array();
    for (const SavedQuery& q : saved_queries()) {
      Json parameters = Json::array();
      for (const QueryParameter& p : q.parameters) {
        parameters.push_back({{"name", p.name},
                              {"text", p.text},
                              {"default", p.default_text ? Json(*p.default_text) : Json(nullptr)}});
      }
      queries.push_back(
          {{"name", q.name}, {"description", q.description}, {"parameters", parameters}});
    }
    out["saved_queries"] = std::move(queries);
  }
  return out.dump() + "\n";
}

std::string schema_markdown() {
  std::string out = "# Schema of the ledger\n";
  out += kIntroduction;
  out += "\nLedger schema version " + std::to_string(ledger_schema_files().size()) +
         ", capture schema version " + std::to_string(kTraceVersion) + ".\n";
  out += "\n## Tables\n\n" + objects_markdown(ledger_schema_doc(), false);
  out += "## Views\n\n" + objects_markdown(ledger_schema_doc(), true);
  out +=
      "## Saved queries\n\n`ledger query --name NAME --param NAME=VALUE`; defaults in "
      "parentheses.\n\n" +
      queries_markdown();
  out +=
      "\n## Kinds of entries\n\n`entry.kind`, and what `entry.subject` is.\n\n"
      "| kind | subject | appended |\n|---|---|---|\n";
  for (const EntryKindDoc& k : kEntryKinds) {
    out += "| " + std::string(k.kind) + " | " + std::string(k.subject) + " | " +
           std::string(k.text) + " |\n";
  }
  out += "\n## The hash chain\n\n";
  out += kChain;
  out += "\n## Captures (.sptrace)\n\n";
  out += kTraceIntroduction;
  out += "\n" + objects_markdown(trace_schema_doc(), false) +
         objects_markdown(trace_schema_doc(), true);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace ledger
