// What a capture says about itself: which kinds of records it has, and what was lost.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_rows.hpp"

namespace prof {

/// Kinds have the names of CUPTI's activities: CONCURRENT_KERNEL, MEMCPY, RUNTIME, MARKER, ... A
/// kind is missing if meta missing_kinds or kinds_not_exported names it, in any of its spellings.
class Recorded {
 public:
  explicit Recorded(ledger::Database& trace);

  const std::map<std::string, std::string>& meta() const { return meta_; }
  std::optional<std::string> fact(std::string_view key) const;
  bool truncated() const { return truncated_; }
  /// By kind.
  const std::vector<ledger::LossRow>& losses() const { return losses_; }
  int64_t quarantined() const { return quarantined_; }
  bool lost_anything() const { return truncated_ || !losses_.empty() || quarantined_ > 0; }
  /// Kinds that are missing, sorted.
  const std::set<std::string>& missing() const { return missing_; }
  bool has(std::string_view kind) const { return !missing_.contains(std::string(kind)); }
  /// Calls are known if those of the runtime or those of the driver are.
  bool has_calls() const { return has("RUNTIME") || has("DRIVER"); }
  /// Why something that needs all of these kinds is unknown; unset if none of them is missing.
  std::optional<std::string> why_not(std::initializer_list<std::string_view> kinds) const;
  std::optional<std::string> why_no_calls() const;

 private:
  std::map<std::string, std::string> meta_;
  std::set<std::string> missing_;
  std::vector<ledger::LossRow> losses_;
  int64_t quarantined_ = 0;
  bool truncated_ = false;
};

/// Names by their id.
class Names {
 public:
  explicit Names(ledger::Database& trace)
      : select_(trace.prepare("SELECT value FROM str WHERE id = ?1")) {}
  /// Throws ContractError for an id that is not in the capture. Valid as long as this object.
  const std::string& of(ledger::StrId id);

 private:
  ledger::Statement select_;
  std::unordered_map<ledger::StrId, std::string> known_;
};

}  // namespace prof
