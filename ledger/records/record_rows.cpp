#include "ledger/records/record_rows.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "ledger/records/record_time.hpp"

namespace ledger {
namespace {

constexpr size_t kShortestPrefix = 6;
constexpr size_t kDigestLength = 64;
constexpr size_t kCandidates = 5;

Value text_or_null(const std::string& text) {
  if (text.empty()) return std::monostate{};
  return text;
}

/// Columns of a revision, in the order that read_revision reads them.
std::string select_revisions(const RecordForm& form) {
  std::string sql = "SELECT e.row, e.revision_id, e." + std::string(form.id_column) +
                    ", e.state, e.slug, e.number, e.title, e.recorded_utc, e.decision, "
                    "e.decision_reason, e.no_verdict_reason, e.correction, e.verdict_link";
  for (const RecordField& f : form.fields) {
    sql += ", e." + std::string(f.prediction ? "prediction_json" : f.column);
  }
  return sql + " FROM " + std::string(form.table) + " AS e";
}

std::string is_tip(const RecordForm& form) {
  return "NOT EXISTS (SELECT 1 FROM " + std::string(form.table) +
         " AS n WHERE n.supersedes = e.row)";
}

Revision read_revision(const Statement& s, const RecordForm& form) {
  Revision out;
  int c = 0;
  out.row = s.integer(c++);
  Record& r = out.record;
  r.kind = form.kind;
  r.revision = s.string(c++);
  r.id = s.string(c++);
  const auto state = record_state_of(s.text(c++));
  STWO_CHECK(state.has_value(), "a revision in an unknown state");
  r.state = *state;
  r.slug = s.string(c++);
  r.number = s.optional_integer(c++);
  r.title = s.string(c++);
  r.recorded_utc = s.string(c++);
  r.decision = s.string(c++);
  r.decision_reason = s.string(c++);
  r.no_verdict_reason = s.string(c++);
  r.correction = s.string(c++);
  out.verdict_link = s.optional_integer(c++);
  for (const RecordField& f : form.fields) {
    const int column = c++;
    if (s.text(column).empty()) continue;
    if (f.prediction) {
      r.prediction = prediction_from_json_text(s.text(column));
    } else {
      r.fields[std::string(f.column)] = s.string(column);
    }
  }
  return out;
}

std::vector<Revision> read_all(Statement& select, const RecordForm& form) {
  std::vector<Revision> out;
  while (select.step()) out.push_back(read_revision(select, form));
  return out;
}

struct TargetTable {
  std::string_view kind;
  std::string_view column;
};
constexpr TargetTable kTargetTables[] = {
    {"run", "run_id"},
    {"capture", "capture_id"},
    {"verdict", "verdict_id"},
    {"calibration", "calibration_id"},
    {"plan", "plan_id"},
    {"artifact", "sha256"},
    {"experiment", "experiment_id"},
    {"brief", "brief_id"},
};

const TargetTable& target_table(std::string_view kind) {
  require_link_kind(kind);
  return *std::find_if(std::begin(kTargetTables), std::end(kTargetTables),
                       [&](const TargetTable& t) { return t.kind == kind; });
}

std::string in_case(std::string_view text, int (*change)(int)) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return out;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (size_t i = 0; i < std::min(items.size(), kCandidates); ++i) {
    out += (i == 0 ? "" : ", ") + items[i];
  }
  return items.size() > kCandidates ? out + ", ..." : out;
}

/// Ids in `column` of `table` that begin with `prefix`; one more than fit into a message.
std::vector<std::string> ids_with_prefix(Database& database, std::string_view table,
                                         std::string_view column, const std::string& prefix) {
  const std::string name(column);
  // Ids are ASCII: nothing that begins with the prefix lies beyond it and a tilde.
  Statement select =
      database.prepare("SELECT DISTINCT " + name + " FROM " + std::string(table) + " WHERE " +
                       name + " >= ?1 AND " + name + " < ?1 || '~' ORDER BY " + name + " LIMIT ?2");
  select.bind(1, std::string_view(prefix));
  select.bind(2, static_cast<int64_t>(kCandidates + 1));
  std::vector<std::string> out;
  while (select.step()) out.push_back(select.string(0));
  return out;
}

std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// Ids of the records whose newest revision fulfils `condition` on parameter 1.
std::vector<std::string> ids_where(Database& database, const RecordForm& form,
                                   const std::string& condition, const Value& parameter) {
  const std::string id_column(form.id_column);
  Statement select = database.prepare("SELECT e." + id_column + " FROM " + std::string(form.table) +
                                      " AS e WHERE " + condition + " AND " + is_tip(form) +
                                      " ORDER BY 1 LIMIT ?2");
  select.bind_value(1, parameter);
  select.bind(2, static_cast<int64_t>(kCandidates + 1));
  std::vector<std::string> out;
  while (select.step()) out.push_back(select.string(0));
  return out;
}

/// The forms of a reference, the more exact ones first; the first that finds anything counts.
std::vector<std::string> candidates_for(Database& database, const RecordForm& form,
                                        std::string_view reference) {
  const std::string upper = in_case(reference, std::toupper);
  if (is_ulid(upper)) return ids_with_prefix(database, form.table, form.id_column, upper);
  std::vector<std::string> found = ids_where(database, form, "e.slug = ?1", std::string(reference));
  if (!found.empty()) return found;
  if (const auto number = number_in(reference)) {
    found = ids_where(database, form, "e.number = ?1", *number);
    if (!found.empty()) return found;
  }
  const size_t hyphen = reference.find('-');
  if (hyphen != std::string_view::npos) {
    if (const auto number = number_in(reference.substr(0, hyphen))) {
      for (const std::string& id : ids_where(database, form, "e.number = ?1", *number)) {
        if (require_tip(database, form.kind, id).record.slug == reference.substr(hyphen + 1)) {
          found.push_back(id);
        }
      }
      if (!found.empty()) return found;
    }
  }
  if (reference.size() < kShortestPrefix) return {};
  return ids_with_prefix(database, form.table, form.id_column, upper);
}

[[noreturn]] void refuse(const char* code, const Record& record, const std::string& what) {
  throw stwo::UsageError(code, record_name(record) + ": " + what);
}

bool says_nothing(const Record& record, const RecordField& field) {
  return field.prediction ? record.prediction.empty() : record.field(field.column).empty();
}

void check_ready(const Record& record) {
  const RecordForm& form = record_form(record.kind);
  std::string missing;
  bool no_prediction = false;
  for (const RecordField& f : form.fields) {
    if (!f.needed_to_open || !says_nothing(record, f)) continue;
    no_prediction = no_prediction || f.prediction;
    if (!f.prediction) {
      missing += (missing.empty() ? "'" : ", '") + std::string(f.heading) + "'";
    }
  }
  if (no_prediction) {
    refuse("RECORD_NO_PREDICTION", record,
           "it can't be opened without a prediction that a measurement could refute; predict at "
           "least one movement");
  }
  if (!missing.empty()) {
    refuse("RECORD_INCOMPLETE", record,
           "it can't be opened before " + missing + " say" +
               (missing.find(',') == std::string::npos ? "s" : "") +
               " something; fill in what is missing");
  }
}

void check_frozen(const Record& old, const Record& next) {
  std::string changed;
  for (const RecordField& f : record_form(old.kind).fields) {
    if (!f.hypothesis) continue;
    const bool same = f.prediction ? old.prediction == next.prediction
                                   : old.field(f.column) == next.field(f.column);
    if (!same) changed += (changed.empty() ? "'" : ", '") + std::string(f.heading) + "'";
  }
  if (changed.empty()) return;
  refuse("RECORD_FROZEN", old,
         "it has been opened, so " + changed +
             " can't change any more; keep the text, or state another hypothesis in a record of "
             "its own");
}

/// Is setting a number that was not there all that `next` changes? A number is an address, no
/// statement.
bool only_sets_number(const Record& old, const Record& next) {
  if (old.number || !next.number) return false;
  Record numbered = old;
  numbered.number = next.number;
  return numbered.same_content(next);
}

void check_move(const Record& old, const Record& next) {
  const auto state = [](const Record& r) { return std::string(record_state_word(r.state)); };
  if (next.state < old.state) {
    refuse("RECORD_STATE", old,
           "it is " + state(old) + " and can't become " + state(next) + " again; " +
               (old.state == RecordState::kDecided ? "correct it" : "add another record") +
               " instead");
  }
  if (old.state == RecordState::kDraft && next.state == RecordState::kDecided) {
    refuse("RECORD_STATE", old, "it is a draft; open it before it is decided");
  }
}

void check_decision(const Record* old, const Record& next) {
  if (next.state != RecordState::kDecided) {
    if (!next.decision.empty() || !next.no_verdict_reason.empty() || !next.correction.empty()) {
      refuse("RECORD_STATE", next,
             "it is not decided, but has a decision, a reason for no verdict or a correction; "
             "decide it, or leave them out");
    }
    return;
  }
  if (next.decision.empty()) {
    refuse("RECORD_INCOMPLETE", next,
           "it is decided without a decision; decide keep, reject or investigate");
  }
  require_decision(next.decision);
  const bool was_decided = old != nullptr && old->state == RecordState::kDecided;
  if (!was_decided) {
    if (!next.correction.empty()) {
      refuse("RECORD_CORRECTION", next,
             "only what is decided can be corrected; leave the correction out");
    }
    return;
  }
  if (only_sets_number(*old, next)) return;
  if (next.correction.empty() || next.correction == old->correction) {
    refuse("RECORD_CORRECTION", next,
           "it is decided and changes only by a correction; say anew why it has to change");
  }
}

}  // namespace

// --- Reading

std::vector<Revision> revisions_of(Database& database, RecordKind kind, std::string_view id) {
  const RecordForm& form = record_form(kind);
  Statement select = database.prepare(select_revisions(form) + " WHERE e." +
                                      std::string(form.id_column) + " = ?1 ORDER BY e.row");
  select.bind(1, id);
  return read_all(select, form);
}

std::optional<Revision> find_tip(Database& database, RecordKind kind, std::string_view id) {
  const RecordForm& form = record_form(kind);
  Statement select =
      database.prepare(select_revisions(form) + " WHERE e." + std::string(form.id_column) +
                       " = ?1 AND " + is_tip(form) + " ORDER BY e.row");
  select.bind(1, id);
  std::vector<Revision> found = read_all(select, form);
  if (found.empty()) return std::nullopt;
  return std::move(found.back());
}

Revision require_tip(Database& database, RecordKind kind, std::string_view id) {
  std::optional<Revision> tip = find_tip(database, kind, id);
  STWO_CHECK(tip.has_value(), "record " + std::string(id) + " has disappeared");
  return std::move(*tip);
}

std::vector<Revision> all_tips(Database& database, RecordKind kind) {
  const RecordForm& form = record_form(kind);
  Statement select =
      database.prepare(select_revisions(form) + " WHERE " + is_tip(form) +
                       " ORDER BY e.number IS NULL, e.number, e." + std::string(form.id_column));
  return read_all(select, form);
}

std::vector<LinkRow> links_of(Database& database, RecordKind kind, std::string_view id) {
  Statement select = database.prepare(
      "SELECT l.row, l.link_id, l.role, l.target_kind, l.target_id, l.note, l.recorded_utc, EXISTS "
      "(SELECT 1 FROM record_link AS r WHERE r.retracts = l.row) FROM record_link AS l WHERE "
      "l.record_kind = ?1 AND l.record_id = ?2 AND l.retracts IS NULL ORDER BY l.row");
  select.bind_all(record_form(kind).table, id);
  std::vector<LinkRow> out;
  while (select.step()) {
    LinkRow l;
    l.row = select.integer(0);
    l.link.link_id = select.string(1);
    l.link.role = select.string(2);
    l.link.target_kind = select.string(3);
    l.link.target_id = select.string(4);
    l.link.note = select.string(5);
    l.link.recorded_utc = select.string(6);
    l.retracted = select.integer(7) != 0;
    out.push_back(std::move(l));
  }
  return out;
}

Record with_links(Database& database, Revision revision) {
  Record record = std::move(revision.record);
  for (LinkRow& l : links_of(database, record.kind, record.id)) {
    if (!l.retracted) record.links.push_back(std::move(l.link));
  }
  sort_links(record.links);
  return record;
}

std::string find_reference(Database& database, RecordKind kind, std::string_view reference) {
  const RecordForm& form = record_form(kind);
  const std::vector<std::string> found = candidates_for(database, form, reference);
  if (found.size() == 1) return found.front();
  const std::string what = std::string(form.word) + " '" + std::string(reference) + "'";
  if (found.empty()) {
    throw stwo::UsageError("RECORD_NOT_FOUND",
                           "this ledger has no " + what +
                               "; give its number, its slug, or at least six characters of its id");
  }
  throw stwo::UsageError("RECORD_AMBIGUOUS",
                         what + " could be " + list_of(found) + "; give more of its id");
}

std::string last_time(Database& database, RecordKind kind, std::string_view id) {
  const RecordForm& form = record_form(kind);
  Statement select = database.prepare(
      "SELECT max(t) FROM (SELECT max(recorded_utc) AS t FROM " + std::string(form.table) +
      " WHERE " + std::string(form.id_column) +
      " = ?2 UNION ALL SELECT max(recorded_utc) FROM record_link WHERE record_kind = ?1 AND "
      "record_id = ?2)");
  select.bind_all(form.table, id);
  return select.step() ? select.string(0) : "";
}

std::string record_name(const Record& record) {
  std::string name(record_form(record.kind).word);
  name += " " + (record.number ? record_folder(record) : record.slug);
  return name + " (" + record.id + ")";
}

// --- Rules

void check_revision(const Record* old, const Record& next) {
  if (old == nullptr) {
    if (next.state != RecordState::kDraft) {
      refuse("RECORD_STATE", next, "a record begins as a draft; add it as one, then open it");
    }
  } else {
    check_move(*old, next);
    if (old->state != RecordState::kDraft) check_frozen(*old, next);
  }
  if (next.state != RecordState::kDraft) check_ready(next);
  check_decision(old, next);
}

void require_free(Database& database, const Record& record) {
  const auto require = [&](const RecordForm& form, const std::string& condition,
                           const Value& parameter, const std::string& what) {
    for (const std::string& id : ids_where(database, form, condition, parameter)) {
      if (form.kind == record.kind && id == record.id) continue;
      throw stwo::UsageError("RECORD_TAKEN",
                             what + " belongs to " +
                                 record_name(require_tip(database, form.kind, id).record) +
                                 "; choose another");
    }
  };
  require(record_form(record.kind), "e.slug = ?1", record.slug, "slug '" + record.slug + "'");
  if (!record.number) return;
  // Experiments and briefs lie side by side in one folder.
  for (const RecordKind kind : {RecordKind::kExperiment, RecordKind::kBrief}) {
    require(record_form(kind), "e.number = ?1", *record.number,
            "number " + record_number_text(record.number));
  }
}

int64_t require_verdict_link(Database& database, const Record& record) {
  int64_t newest = 0;
  std::string missing;
  for (const LinkRow& l : links_of(database, record.kind, record.id)) {
    if (l.retracted || l.link.target_kind != "verdict") continue;
    if (has_target(database, "verdict", l.link.target_id)) {
      newest = l.row;
    } else {
      missing = l.link.target_id;
    }
  }
  if (newest != 0) return newest;
  if (!missing.empty()) {
    refuse("LINK_TARGET_MISSING", record,
           "its decision rests on verdict " + missing +
               ", which this ledger does not have; add the verdict's document first");
  }
  refuse(
      "RECORD_NO_VERDICT", record,
      "no verdict is linked that its decision could rest on; link one, or say why there is none");
}

// --- Targets

bool has_target(Database& database, std::string_view target_kind, std::string_view target_id) {
  const TargetTable& t = target_table(target_kind);
  Statement select = database.prepare("SELECT 1 FROM " + std::string(t.kind) + " WHERE " +
                                      std::string(t.column) + " = ?1");
  select.bind(1, target_id);
  return select.step();
}

std::string require_target(Database& database, std::string_view target_kind,
                           std::string_view target) {
  const TargetTable& t = target_table(target_kind);
  if (target_kind == record_form(RecordKind::kExperiment).table) {
    return find_reference(database, RecordKind::kExperiment, target);
  }
  if (target_kind == record_form(RecordKind::kBrief).table) {
    return find_reference(database, RecordKind::kBrief, target);
  }
  const std::string prefix = in_case(target, std::tolower);
  const std::string what = std::string(target_kind) + " '" + std::string(target) + "'";
  if (prefix.size() < kShortestPrefix || prefix.size() > kDigestLength ||
      prefix.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw stwo::UsageError("LINK_TARGET", what + " is no id; give at least " +
                                              std::to_string(kShortestPrefix) +
                                              " hexadecimal digits of it");
  }
  const std::vector<std::string> found = ids_with_prefix(database, t.kind, t.column, prefix);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw stwo::UsageError("LINK_TARGET_MISSING",
                           "this ledger has no " + what + "; add its file first");
  }
  throw stwo::UsageError("LINK_TARGET_AMBIGUOUS",
                         what + " could be " + list_of(found) + "; give more of its id");
}

// --- Writing

Revision insert_revision(Append& append, const Revision* old, Record next) {
  check_revision(old == nullptr ? nullptr : &old->record, next);
  // Merged ledgers may have two records of one name; both must be able to go on.
  if (old == nullptr || old->record.slug != next.slug || old->record.number != next.number) {
    require_free(append.database(), next);
  }
  Revision revision;
  if (next.state == RecordState::kDecided) {
    if (old != nullptr && only_sets_number(old->record, next)) {
      revision.verdict_link = old->verdict_link;
    } else if (next.no_verdict_reason.empty()) {
      revision.verdict_link = require_verdict_link(append.database(), next);
    }
  }
  const RecordForm& form = record_form(next.kind);
  std::vector<Column> columns = {
      {"revision_id", next.revision},
      {form.id_column, next.id},
      {"supersedes", old == nullptr ? Value{} : Value{old->row}},
      {"state", std::string(record_state_word(next.state))},
      {"slug", next.slug},
      {"number", value_or_null(next.number)},
      {"title", next.title},
      {"recorded_utc", next.recorded_utc},
      {"decision", text_or_null(next.decision)},
      {"decision_reason", text_or_null(next.decision_reason)},
      {"verdict_link", value_or_null(revision.verdict_link)},
      {"no_verdict_reason", text_or_null(next.no_verdict_reason)},
      {"correction", text_or_null(next.correction)},
  };
  for (const RecordField& f : form.fields) {
    if (!f.prediction) {
      columns.push_back({f.column, text_or_null(next.field(f.column))});
    } else if (!next.prediction.empty()) {
      columns.push_back({f.column, print_prediction(next.prediction)});
      columns.push_back({"prediction_json", prediction_to_json(next.prediction).dump()});
    }
  }
  revision.row = append.insert(std::string(form.table), columns);
  next.links.clear();
  revision.record = std::move(next);
  return revision;
}

void insert_link(Append& append, const Record& record, const RecordLink& link,
                 const std::string& recorded_utc) {
  const std::string_view kind = record_form(record.kind).table;
  int64_t times = 0;
  for (const LinkRow& l : links_of(append.database(), record.kind, record.id)) {
    if (l.link.same_as(link)) ++times;
  }
  std::string content = "link";
  for (const std::string_view part :
       {kind, std::string_view(record.id), std::string_view(link.role),
        std::string_view(link.target_kind), std::string_view(link.target_id)}) {
    content += "|" + std::string(part);
  }
  // One that was retracted may come back, as another link.
  content += "|" + std::to_string(times);
  append.insert("record_link", {{"link_id", derived_ulid(ulid_milliseconds(record.id), content)},
                                {"record_kind", std::string(kind)},
                                {"record_id", record.id},
                                {"role", link.role},
                                {"target_kind", link.target_kind},
                                {"target_id", link.target_id},
                                {"note", text_or_null(link.note)},
                                {"recorded_utc", recorded_utc}});
}

void insert_retraction(Append& append, const Record& record, const LinkRow& link,
                       std::string_view note, const std::string& recorded_utc) {
  append.insert(
      "record_link",
      {{"link_id", derived_ulid(ulid_milliseconds(record.id), "retract|" + link.link.link_id)},
       {"record_kind", std::string(record_form(record.kind).table)},
       {"record_id", record.id},
       {"role", link.link.role},
       {"target_kind", link.link.target_kind},
       {"target_id", link.link.target_id},
       {"retracts", link.row},
       {"note", text_or_null(std::string(note))},
       {"recorded_utc", recorded_utc}});
}

}  // namespace ledger
