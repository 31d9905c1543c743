#include "ledger/records/record_store.hpp"

#include <algorithm>
#include <cctype>

#include "ledger/records/record_rows.hpp"
#include "ledger/records/record_text.hpp"
#include "ledger/records/record_time.hpp"

namespace ledger {
namespace {

void set_field(Record& record, std::string_view name, std::string_view text) {
  const RecordField& field = require_field(record.kind, name);
  std::string kept = record_text(text, "field '" + std::string(field.heading) + "'");
  if (kept.empty()) {
    record.fields.erase(std::string(field.column));
  } else {
    record.fields[std::string(field.column)] = std::move(kept);
  }
}

void set_prediction(Record& record, const Prediction& prediction) {
  if (record.kind != RecordKind::kExperiment && !prediction.empty()) {
    throw stwo::UsageError("RECORD_FIELD",
                           "a design brief has no list of predictions; write what you expect under "
                           "'predicted structural-class effects'");
  }
  record.prediction = prediction;
}

void apply(const RecordChanges& changes, Record& record) {
  if (changes.title) record.title = require_title(*changes.title);
  if (changes.slug) {
    require_slug(*changes.slug);
    record.slug = *changes.slug;
  }
  if (changes.number) {
    require_number(*changes.number);
    record.number = changes.number;
  }
  for (const auto& [name, text] : changes.fields) set_field(record, name, text);
  if (changes.prediction) set_prediction(record, *changes.prediction);
}

void require_state(const Record& record, RecordState state, const std::string& mend) {
  if (record.state == state) return;
  throw stwo::UsageError(
      "RECORD_STATE", record_name(record) + " is " + std::string(record_state_word(record.state)) +
                          ", not " + std::string(record_state_word(state)) + "; " + mend);
}

/// How to go on with a record that is not in the state that was expected.
std::string way_on(RecordState state) {
  switch (state) {
    case RecordState::kDraft: return "edit it as a draft, or open it";
    case RecordState::kOpen: return "add results to it, or decide it";
    case RecordState::kDecided: return "correct it";
  }
  throw stwo::ContractError("a state without a way on");
}

/// One revision after the newest: `change` gets it as it is and makes it what it becomes.
template <class Change>
Record append_revision(Ledger& ledger, RecordKind kind, std::string_view reference,
                       const char* verb, Change change) {
  const std::string id = find_record(ledger, kind, reference);
  Append append(ledger, std::string(record_form(kind).table) + "." + verb, id);
  Database& database = append.database();
  const Revision tip = require_tip(database, kind, id);
  Record next = tip.record;
  change(next);
  if (next.same_content(tip.record)) return with_links(database, tip);
  next.revision = new_ulid();
  next.recorded_utc = time_after(last_time(database, kind, id));
  Record result = with_links(database, insert_revision(append, &tip, std::move(next)));
  append.commit();
  return result;
}

bool begins(std::string_view text, std::string_view prefix, int (*change)(int)) {
  if (prefix.size() > text.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char p, char t) {
    return static_cast<char>(change(static_cast<unsigned char>(p))) == t;
  });
}

}  // namespace

// --- Reading

std::string find_record(Ledger& ledger, RecordKind kind, std::string_view reference) {
  Transaction transaction(ledger.database(), Transaction::Kind::kRead);
  return find_reference(ledger.database(), kind, reference);
}

Record load_record(Ledger& ledger, RecordKind kind, std::string_view reference) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  const std::string id = find_reference(database, kind, reference);
  return with_links(database, require_tip(database, kind, id));
}

std::vector<Record> load_revisions(Ledger& ledger, RecordKind kind, std::string_view reference) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  std::vector<Record> out;
  for (Revision& r : revisions_of(database, kind, find_reference(database, kind, reference))) {
    out.push_back(std::move(r.record));
  }
  return out;
}

std::vector<Record> list_records(Ledger& ledger, RecordKind kind,
                                 std::optional<RecordState> state) {
  Database& database = ledger.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  std::vector<Record> out;
  for (Revision& r : all_tips(database, kind)) {
    if (!state || r.record.state == *state) out.push_back(with_links(database, std::move(r)));
  }
  return out;
}

// --- Writing

Record create_record(Ledger& ledger, const NewRecord& record) {
  Record first;
  first.kind = record.kind;
  first.id = new_ulid();
  first.revision = first.id;
  first.recorded_utc = utc_now();
  RecordChanges content{record.title, record.slug, record.number, record.fields, record.prediction};
  apply(content, first);
  Append append(ledger, std::string(record_form(record.kind).table) + ".new", first.id);
  Record result = insert_revision(append, nullptr, std::move(first)).record;
  append.commit();
  return result;
}

Record edit_draft(Ledger& ledger, RecordKind kind, std::string_view reference,
                  const RecordChanges& changes) {
  return append_revision(ledger, kind, reference, "edit", [&](Record& r) {
    require_state(r, RecordState::kDraft, way_on(r.state));
    apply(changes, r);
  });
}

Record open_record(Ledger& ledger, RecordKind kind, std::string_view reference) {
  return append_revision(ledger, kind, reference, "open", [](Record& r) {
    require_state(r, RecordState::kDraft, way_on(r.state));
    r.state = RecordState::kOpen;
  });
}

Record update_open(Ledger& ledger, RecordKind kind, std::string_view reference,
                   const RecordChanges& changes) {
  return append_revision(ledger, kind, reference, "update", [&](Record& r) {
    require_state(r, RecordState::kOpen, way_on(r.state));
    apply(changes, r);
  });
}

Record decide_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                     const Decision& decision) {
  return append_revision(ledger, kind, reference, "decide", [&](Record& r) {
    require_state(r, RecordState::kOpen, way_on(r.state));
    require_decision(decision.decision);
    r.state = RecordState::kDecided;
    r.decision = decision.decision;
    r.decision_reason = record_text(decision.reason, "the decision's reason");
    r.no_verdict_reason = record_text(decision.no_verdict_reason, "the reason for no verdict");
  });
}

Record correct_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                      const Correction& correction) {
  return append_revision(ledger, kind, reference, "correct", [&](Record& r) {
    require_state(r, RecordState::kDecided, way_on(r.state));
    if (correction.decision) {
      require_decision(*correction.decision);
      r.decision = *correction.decision;
    }
    if (correction.reason) {
      r.decision_reason = record_text(*correction.reason, "the decision's reason");
    }
    if (correction.no_verdict_reason) {
      r.no_verdict_reason = record_text(*correction.no_verdict_reason, "the reason for no verdict");
    }
    apply(correction.changes, r);
    const std::string before = std::move(r.correction);
    r.correction = record_text(correction.why, "the correction");
    if (r.correction.empty() || r.correction == before) {
      throw stwo::UsageError(
          "RECORD_CORRECTION",
          record_name(r) +
              ": it is decided and changes only by a correction; say anew why it "
              "has to change");
    }
  });
}

Record link_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                   const LinkRequest& request) {
  require_link_role(request.role);
  const std::string id = find_record(ledger, kind, reference);
  Append append(ledger, std::string(record_form(kind).table) + ".link", id);
  Database& database = append.database();
  const Revision tip = require_tip(database, kind, id);
  RecordLink link;
  link.role = request.role;
  link.target_kind = request.target_kind;
  link.target_id = require_target(database, request.target_kind, request.target);
  link.note = record_line(request.note, "the link's note");
  if (link.target_id == id) {
    throw stwo::UsageError("LINK_TARGET", record_name(tip.record) +
                                              " can't be evidence for itself; link another record");
  }
  const std::vector<LinkRow> links = links_of(database, kind, id);
  const bool is_there = std::any_of(links.begin(), links.end(), [&](const LinkRow& l) {
    return !l.retracted && l.link.same_as(link);
  });
  if (is_there) return with_links(database, tip);
  insert_link(append, tip.record, link, time_after(last_time(database, kind, id)));
  Record result = with_links(database, tip);
  append.commit();
  return result;
}

Record retract_link(Ledger& ledger, RecordKind kind, std::string_view reference,
                    std::string_view link, std::string_view note) {
  constexpr size_t kShortestPrefix = 6;
  const std::string id = find_record(ledger, kind, reference);
  Append append(ledger, std::string(record_form(kind).table) + ".unlink", id);
  Database& database = append.database();
  const Revision tip = require_tip(database, kind, id);
  std::vector<LinkRow> found;
  std::string names;
  for (LinkRow& l : links_of(database, kind, id)) {
    if (l.retracted || link.size() < kShortestPrefix) continue;
    if (!begins(l.link.link_id, link, std::toupper) &&
        !begins(l.link.target_id, link, std::tolower) &&
        !begins(l.link.target_id, link, std::toupper)) {
      continue;
    }
    names +=
        (names.empty() ? "" : ", ") + l.link.role + " " + l.link.target_kind + " " + l.link.link_id;
    found.push_back(std::move(l));
  }
  const std::string what = record_name(tip.record) + ": link '" + std::string(link) + "'";
  if (found.empty()) {
    throw stwo::UsageError("LINK_NOT_FOUND", what +
                                                 " is none of its links; give at least six "
                                                 "characters of the link's or the target's id");
  }
  if (found.size() > 1) {
    throw stwo::UsageError("LINK_AMBIGUOUS",
                           what + " could be " + names + "; give more of the link's id");
  }
  if (tip.record.state == RecordState::kDecided && tip.verdict_link == found.front().row) {
    throw stwo::UsageError("LINK_IN_USE",
                           what +
                               " is what the decision rests on; correct the decision "
                               "first");
  }
  insert_retraction(append, tip.record, found.front(), record_line(note, "the retraction's note"),
                    time_after(last_time(database, kind, id)));
  Record result = with_links(database, tip);
  append.commit();
  return result;
}

}  // namespace ledger
