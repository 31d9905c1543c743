#include "ledger/records/record_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ledger/records/record_rows.hpp"
#include "ledger/records/record_text.hpp"
#include "ledger/records/record_time.hpp"
#include "prover/cli/output_file.hpp"

namespace ledger {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "record.md";

std::string read_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw stwo::UsageError(
        "RECORD_SOURCE",
        "record " + path + " is no file; name a record.md or the folder it lies in");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw stwo::UsageError("RECORD_SOURCE", "record " + path + " can't be read: " +
                                                std::strerror(errno) + "; check its permissions");
  }
  return std::move(text).str();
}

/// Number of a folder called NNNN-slug; nothing: it is called otherwise.
std::optional<int64_t> folder_number(const std::string& name) {
  const size_t hyphen = name.find('-');
  constexpr size_t kDigits = 4;
  if (hyphen == std::string::npos || hyphen < kDigits) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + hyphen, number);
  if (error != std::errc{} || end != name.data() + hyphen || number < 1) return std::nullopt;
  return number;
}

/// A folder that is numbered like one of ours must be the record's own.
void check_folder(const std::string& path, const Record& record) {
  const std::string folder =
      fs::absolute(path).lexically_normal().parent_path().filename().string();
  if (!folder_number(folder)) return;
  const std::string expected = record.number ? record_folder(record) : "unnumbered-" + record.slug;
  if (folder == expected) return;
  throw stwo::FormatError("RECORD_FOLDER", "record " + path + " is " + expected +
                                               ", but its folder is called " + folder +
                                               "; rename the folder, or mend title and slug");
}

// --- Import

class Importer {
 public:
  Importer(Ledger& ledger, Record file, ImportResult& result)
      : append_(ledger, std::string(record_form(file.kind).table) + ".import", file.id),
        database_(append_.database()),
        file_(std::move(file)),
        text_(print_record(file_)),
        result_(result) {}

  void run() {
    require_kind();
    std::optional<Revision> tip = find_tip(database_, file_.kind, file_.id);
    const bool is_new = !tip;
    // A file without a number takes none away.
    if (tip && !file_.number) file_.number = tip->record.number;
    const std::optional<std::string> recorded =
        tip ? time_of_next(*tip) : std::optional<std::string>(file_.recorded_utc);
    import_links(recorded ? *recorded : time_after(last_time(database_, file_.kind, file_.id)));
    if (recorded) import_revisions(std::move(tip), *recorded);
    append_.commit();
    if (is_new) {
      result_.outcome = ImportResult::Outcome::kAdded;
    } else if (result_.revisions + result_.links > 0) {
      result_.outcome = ImportResult::Outcome::kRevised;
    }
  }

 private:
  void require_kind() {
    const RecordKind other =
        file_.kind == RecordKind::kExperiment ? RecordKind::kBrief : RecordKind::kExperiment;
    if (const auto tip = find_tip(database_, other, file_.id)) {
      throw stwo::FormatError("RECORD_KIND", "record " + result_.path + " has the id of " +
                                                 record_name(tip->record) + "; give it the kind " +
                                                 std::string(record_form(other).word) +
                                                 ", or an id of its own");
    }
  }

  /// When the file's content becomes a revision; nothing: it is no news.
  std::optional<std::string> time_of_next(const Revision& tip) {
    if (tip.record.same_content(file_)) return std::nullopt;
    if (file_.recorded_utc == tip.record.recorded_utc) {
      return time_after(last_time(database_, file_.kind, file_.id));
    }
    bool was_edited_here = false;
    for (const Revision& r : revisions_of(database_, file_.kind, file_.id)) {
      if (r.record.same_content(file_)) {
        result_.notes.push_back("the ledger has gone on since this revision; export to see it");
        return std::nullopt;
      }
      was_edited_here = was_edited_here || r.record.recorded_utc == file_.recorded_utc;
    }
    // A newer file from another ledger; what has happened here meanwhile stays in the history.
    if (!was_edited_here && file_.recorded_utc > tip.record.recorded_utc) {
      return file_.recorded_utc;
    }
    throw stwo::RefusedError(
        "RECORD_STALE", "record " + result_.path + " was edited from the revision of " +
                            file_.recorded_utc + ", but " + record_name(tip.record) +
                            " has been revised since, at " + tip.record.recorded_utc +
                            "; export it to another folder, carry the edits over, import that");
  }

  void import_links(const std::string& recorded) {
    const std::vector<LinkRow> known = links_of(database_, file_.kind, file_.id);
    for (const RecordLink& link : file_.links) {
      const auto same = [&](const LinkRow& l) { return l.link.same_as(link); };
      const std::string name = link.role + " " + link.target_kind + " " + link.target_id;
      if (link.target_id == file_.id) {
        throw stwo::UsageError("LINK_TARGET", "record " + result_.path +
                                                  " can't be evidence for itself; take the link "
                                                  "out");
      }
      if (std::none_of(known.begin(), known.end(), same)) {
        insert_link(append_, file_, link, recorded);
        ++result_.links;
        if (!has_target(database_, link.target_kind, link.target_id)) {
          result_.notes.push_back("link " + name +
                                  " leads to something that this ledger does not have");
        }
      } else if (std::none_of(known.begin(), known.end(),
                              [&](const LinkRow& l) { return same(l) && !l.retracted; })) {
        result_.notes.push_back("link " + name + " was retracted and stays so");
      }
    }
  }

  void import_revisions(std::optional<Revision> tip, const std::string& recorded) {
    const RecordState state = file_.state;
    if (!tip) tip = append_as(nullptr, RecordState::kDraft, false, recorded);
    while (tip->record.state < state) {
      const RecordState next =
          tip->record.state == RecordState::kDraft ? RecordState::kOpen : RecordState::kDecided;
      tip = append_as(&*tip, next, false, recorded);
    }
    // What is left is an edit within the state, a correction, or a state the rules refuse.
    if (!tip->record.same_content(file_)) append_as(&*tip, state, true, recorded);
  }

  /// The file's content as far as a record in `state` can have it.
  Revision append_as(const Revision* old, RecordState state, bool with_correction,
                     const std::string& recorded) {
    Record next = file_;
    next.state = state;
    if (state != RecordState::kDecided && state != file_.state) {
      next.decision.clear();
      next.decision_reason.clear();
      next.no_verdict_reason.clear();
    }
    // A correction follows what it corrects.
    if (!with_correction) next.correction.clear();
    next.recorded_utc = recorded;
    next.revision = old == nullptr ? file_.id
                                   : derived_ulid(*utc_milliseconds(file_.recorded_utc),
                                                  "import|" + old->record.revision + "|" +
                                                      std::string(record_state_word(state)) +
                                                      (with_correction ? "|last|" : "|") + text_);
    ++result_.revisions;
    return insert_revision(append_, old, std::move(next));
  }

  Append append_;
  Database& database_;
  Record file_;
  std::string text_;  ///< canonical: ids are made from it
  ImportResult& result_;
};

// --- Export

/// Folders of the directory that are called NNNN-slug, by number.
std::multimap<int64_t, std::string> numbered_folders(const std::string& dir) {
  std::multimap<int64_t, std::string> out;
  std::error_code error;
  fs::directory_iterator entry(dir, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->is_directory(error)) continue;
    const std::string name = entry->path().filename().string();
    if (const auto number = folder_number(name)) out.emplace(*number, name);
  }
  if (error) {
    throw stwo::UsageError("OUTPUT_DIRECTORY", "folder " + dir + " can't be listed: " +
                                                   error.message() + "; choose another");
  }
  return out;
}

int64_t next_number(Database& database, const std::multimap<int64_t, std::string>& folders) {
  int64_t last = folders.empty() ? 0 : folders.rbegin()->first;
  for (const RecordKind kind : {RecordKind::kExperiment, RecordKind::kBrief}) {
    for (const Revision& r : all_tips(database, kind)) {
      last = std::max(last, r.record.number.value_or(0));
    }
  }
  return last + 1;
}

void require_own_number(const std::string& dir, const Record& record,
                        const std::multimap<int64_t, std::string>& folders) {
  const auto [begin, end] = folders.equal_range(*record.number);
  for (auto it = begin; it != end; ++it) {
    const std::string& folder = it->second;
    if (folder == record_folder(record)) continue;
    throw stwo::RefusedError("EXPORT_NUMBER_TAKEN",
                             record_name(record) + " can't go to " + dir + "/" +
                                 record_folder(record) + ": folder " + folder +
                                 " has the number already; rename that folder if it is the "
                                 "record's own, or give the record another number");
  }
}

/// Does the ledger know all that the file says?
bool is_known(Database& database, const Record& file) {
  const std::vector<Revision> revisions = revisions_of(database, file.kind, file.id);
  const bool known_content =
      std::any_of(revisions.begin(), revisions.end(),
                  [&](const Revision& r) { return r.record.same_content(file); });
  const std::vector<LinkRow> links = links_of(database, file.kind, file.id);
  return known_content &&
         std::all_of(file.links.begin(), file.links.end(), [&](const RecordLink& link) {
           return std::any_of(links.begin(), links.end(),
                              [&](const LinkRow& l) { return l.link.same_as(link); });
         });
}

void require_replaceable(Database& database, const Record& record, const std::string& path,
                         const std::string& text) {
  Record file;
  try {
    file = parse_record(text, path);
  } catch (const stwo::FormatError& e) {
    throw stwo::RefusedError("EXPORT_UNIMPORTED",
                             std::string(e.what()) + "; or replace the file with --force");
  }
  if (file.id != record.id || file.kind != record.kind) {
    throw stwo::RefusedError("EXPORT_OTHER_RECORD", "file " + path + " is the record of " +
                                                        record_name(file) + ", not of " +
                                                        record_name(record) +
                                                        "; move it, or replace it with --force");
  }
  if (!is_known(database, file)) {
    throw stwo::RefusedError("EXPORT_UNIMPORTED",
                             "file " + path +
                                 " has changes that the ledger does not know; import it first, or "
                                 "replace it with --force");
  }
}

}  // namespace

ImportResult import_record(Ledger& ledger, const std::string& path) {
  ImportResult result;
  std::error_code error;
  result.path = fs::is_directory(path, error) ? (fs::path(path) / kFileName).string() : path;
  Record file = parse_record(read_file(result.path), result.path);
  check_folder(result.path, file);
  result.kind = file.kind;
  result.id = file.id;
  Importer(ledger, std::move(file), result).run();
  return result;
}

ExportResult export_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                           const std::string& experiments_dir, bool force) {
  stwo::check_output_directory(experiments_dir);
  Database& database = ledger.database();
  const std::multimap<int64_t, std::string> folders = numbered_folders(experiments_dir);
  Record record = load_record(ledger, kind, reference);
  if (!record.number) {
    Append append(ledger, std::string(record_form(kind).table) + ".number", record.id);
    const Revision tip = require_tip(database, kind, record.id);
    Record next = tip.record;
    if (!next.number) {
      next.number = next_number(database, folders);
      next.revision = new_ulid();
      next.recorded_utc = time_after(last_time(database, kind, record.id));
      insert_revision(append, &tip, std::move(next));
      append.commit();
    }
  }
  const Transaction transaction(database, Transaction::Kind::kRead);
  record = with_links(database, require_tip(database, kind, record.id));
  require_own_number(experiments_dir, record, folders);
  const fs::path folder = fs::path(experiments_dir) / record_folder(record);
  ExportResult result;
  result.id = record.id;
  result.path = (folder / kFileName).string();
  const std::string text = print_record(record);
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(result.path, error));
  if (exists) {
    const std::string found = read_file(result.path);
    if (found == text) return result;
    if (!force) require_replaceable(database, record, result.path, found);
  }
  fs::create_directory(folder, error);
  if (error) {
    throw stwo::UsageError("OUTPUT_DIRECTORY", "folder " + folder.string() + ": " +
                                                   error.message() +
                                                   "; choose a directory you may write to");
  }
  stwo::write_output(result.path, text, exists);
  result.written = true;
  return result;
}

}  // namespace ledger
