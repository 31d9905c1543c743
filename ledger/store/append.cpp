#include <algorithm>

#include "ledger/store/chain.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {

Append::Append(Ledger& ledger, std::string kind, std::string subject)
    : ledger_(ledger),
      kind_(std::move(kind)),
      subject_(std::move(subject)),
      transaction_(ledger.database_, Transaction::Kind::kWrite) {}

Database& Append::database() { return ledger_.database_; }

int64_t Append::insert(const std::string& table, std::initializer_list<Column> columns) {
  return insert(table, std::span<const Column>(columns.begin(), columns.size()));
}

int64_t Append::insert(const std::string& table, std::span<const Column> columns) {
  std::string sql = "INSERT INTO " + table + " (";
  std::string places;
  for (const Column& c : columns) {
    sql += std::string(places.empty() ? "" : ", ") + std::string(c.name);
    places += places.empty() ? "?" : ", ?";
  }
  sql += ") VALUES (" + places + ")";
  auto it = statements_.find(sql);
  if (it == statements_.end()) it = statements_.emplace(sql, database().prepare(sql)).first;
  Statement& statement = it->second;
  int index = 0;
  for (const Column& c : columns) statement.bind_value(++index, c.value);
  try {
    statement.run();
  } catch (...) {
    statement.reset();
    throw;
  }
  const int64_t row = database().last_insert_row();
  Inserted& inserted = inserted_[table];
  if (inserted.count == 0) inserted.first = row;
  STWO_CHECK(row == inserted.first + inserted.count, "rows of " + table + " are not consecutive");
  ++inserted.count;
  return row;
}

int64_t Append::add_artifact(std::string_view kind, std::string_view file_name,
                             std::string_view content) {
  return add_artifact(kind, file_name, ledger_.store_.receive(content));
}

int64_t Append::add_artifact_file(std::string_view kind, std::string_view file_name,
                                  const std::string& source_path) {
  return add_artifact(kind, file_name, ledger_.store_.receive_file(source_path));
}

int64_t Append::add_artifact(std::string_view kind, std::string_view file_name,
                             ArtifactStore::Incoming incoming) {
  const std::string sha256 = incoming.sha256();
  if (const int64_t row = ledger_.find_artifact(sha256); row != 0) return row;
  const auto bytes = static_cast<int64_t>(incoming.bytes());
  incoming_.push_back(std::move(incoming));
  incoming_.back().publish();
  return insert("artifact", {{"sha256", sha256},
                             {"kind", std::string(kind)},
                             {"bytes", bytes},
                             {"relpath", artifact_relpath(sha256)},
                             {"file_name", std::string(file_name)},
                             {"added_utc", utc_now()}});
}

std::string Append::commit() {
  if (inserted_.empty()) {
    transaction_.commit();
    return "";
  }
  ChainEntry entry;
  entry.sequence = 1;
  entry.previous = std::string(kNoDigest);
  {
    Statement last =
        database().prepare("SELECT seq, entry_sha256 FROM entry ORDER BY seq DESC LIMIT 1");
    if (last.step()) {
      entry.sequence = last.integer(0) + 1;
      entry.previous = last.string(1);
    }
  }
  entry.recorded_utc = utc_now();
  entry.tool_version = tool_version();
  entry.kind = kind_;
  entry.subject = subject_;
  for (const auto& [table, inserted] : inserted_) {
    // Read back: what is chained is what SQLite has stored.
    Statement select =
        database().prepare("SELECT * FROM " + table + " WHERE row >= ?1 AND row < ?2 ORDER BY row");
    select.bind_all(inserted.first, inserted.first + inserted.count);
    ChainedRows rows{table, inserted.first, inserted.count, {}};
    rows.digests.reserve(static_cast<size_t>(inserted.count) * sizeof(Digest));
    while (select.step()) {
      const Digest digest = row_digest(table, select);
      rows.digests.insert(rows.digests.end(), digest.begin(), digest.end());
    }
    STWO_CHECK(rows.digests.size() == static_cast<size_t>(inserted.count) * sizeof(Digest),
               "rows of " + table + " have disappeared");
    entry.rows.push_back(std::move(rows));
  }
  std::string digest = entry_digest(entry);
  database()
      .prepare(
          "INSERT INTO entry (seq, prev_sha256, entry_sha256, recorded_utc, tool_version, "
          "kind, subject) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
      .bind_all(entry.sequence, std::string_view(entry.previous), std::string_view(digest),
                std::string_view(entry.recorded_utc), std::string_view(entry.tool_version),
                std::string_view(entry.kind), std::string_view(entry.subject))
      .run();
  Statement insert_rows = database().prepare(
      "INSERT INTO entry_rows (seq, table_name, first_row, row_count, digests) "
      "VALUES (?1, ?2, ?3, ?4, ?5)");
  for (const ChainedRows& r : entry.rows) {
    insert_rows.bind_all(entry.sequence, std::string_view(r.table), r.first, r.count, r.digests);
    insert_rows.run();
  }
  statements_.clear();
  transaction_.commit();
  for (ArtifactStore::Incoming& file : incoming_) file.keep();
  incoming_.clear();
  return digest;
}

}  // namespace ledger
