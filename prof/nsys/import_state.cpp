#include "prof/nsys/import_state.hpp"

namespace prof::nsys {
namespace {

/// Bits of a global id.
constexpr uint64_t kIdMask = 0xffffff;
constexpr int kPidShift = 24;

}  // namespace

GlobalId decode_global_id(int64_t id) {
  const auto bits = static_cast<uint64_t>(id);
  return {static_cast<int64_t>(bits >> kPidShift & kIdMask), static_cast<int64_t>(bits & kIdMask)};
}

int64_t cupti_mem_kind(int64_t nsys_kind) {
  if (nsys_kind < 0 || nsys_kind > 7) {
    throw RowProblem("memory kind " + std::to_string(nsys_kind) + " is unknown (expected 0 to 7)");
  }
  return (nsys_kind + 1) % 8;
}

ImportState::ImportState(NsysFile& source, ledger::TraceWriter& target,
                         const NsysImportOptions& import_options)
    : file(source), writer(target), options(import_options) {
  const std::optional<std::string> start = file.table("TARGET_INFO_SESSION_START_TIME");
  if (!start) file.fail("TARGET_INFO_SESSION_START_TIME is missing: times have no begin");
  static constexpr Column kColumns[] = {{"utcEpochNs"}};
  Rows rows(file, *start, kColumns);
  if (!rows.step()) file.fail("table " + *start + " is empty: times have no begin");
  try {
    session_start_ns_ = rows.integer(0);
  } catch (const RowProblem& problem) {
    file.fail("table " + *start + ": " + problem.what());
  }
  if (session_start_ns_ <= 0) file.fail("table " + *start + ": utcEpochNs is not above 0");
  if (const std::optional<std::string> strings = file.table("StringIds")) {
    string_.emplace(file.prepare("SELECT value FROM \"" + *strings + "\" WHERE id = ?1"));
  }
}

int64_t ImportState::time(int64_t since_start_ns) const {
  int64_t out = 0;
  if (__builtin_add_overflow(session_start_ns_, since_start_ns, &out)) {
    throw RowProblem("time " + std::to_string(since_start_ns) + " is out of range");
  }
  return out;
}

ledger::StrId ImportState::name(int64_t string_id) {
  const auto it = names_.find(string_id);
  if (it != names_.end()) return it->second;
  const std::optional<std::string> text = file.guarded([&]() -> std::optional<std::string> {
    if (!string_) return std::nullopt;
    string_->reset().bind(1, string_id);
    if (!string_->step()) return std::nullopt;
    return string_->optional_string(0);
  });
  if (!text) throw RowProblem("name " + std::to_string(string_id) + " is not in StringIds");
  return names_.emplace(string_id, writer.intern(*text)).first->second;
}

void ImportState::reject(const Rows& rows, const std::string& reason) {
  const std::string where = rows.table() + " row " + std::to_string(rows.row());
  if (++rejected_[rows.table()] > kMaxQuarantined) {
    lose("rows of " + rows.table() + " that were not understood");
    return;
  }
  // The place stands for the bytes: the export stays where it is.
  writer.quarantine({where + ": " + reason, {where.begin(), where.end()}});
  ++result.quarantined;
}

void ImportState::write_losses() {
  for (const auto& [kind, count] : losses_) {
    writer.loss({kind, count});
    result.lost += count;
  }
}

}  // namespace prof::nsys
