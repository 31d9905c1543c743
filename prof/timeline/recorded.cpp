#include "prof/timeline/recorded.hpp"

#include <iterator>
#include <sstream>
#include <utility>

#include "ledger/trace/trace_schema.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

/// An importer's list of kinds that its source can't hold (prof/nsys).
constexpr std::string_view kNotExported = "kinds_not_exported";

/// Everything that a question needs by name.
constexpr std::string_view kAllKinds[] = {
    "CONCURRENT_KERNEL",
    "MEMCPY",
    "MEMSET",
    "RUNTIME",
    "DRIVER",
    "SYNCHRONIZATION",
    "CUDA_EVENT",
    "MEMORY2",
    "CONTEXT",
    "MODULE",
    "JIT",
    "OVERHEAD",
    "MARKER",
    "MEMORY_POOL",
};

/// Recorders and importers name the same kind differently.
std::vector<std::string> canonical_kinds(std::string kind) {
  for (char& c : kind) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  constexpr std::string_view kPrefix = "CUPTI_ACTIVITY_KIND_";
  if (kind.starts_with(kPrefix)) kind.erase(0, kPrefix.size());
  if (kind == "KERNEL") return {"CONCURRENT_KERNEL"};
  if (kind == "MEMORY") return {"MEMORY2"};
  if (kind == "NVTX" || kind == "NVTX_EVENTS") return {"MARKER"};
  // Callbacks instead of records.
  if (kind == "MODULE_LOADED") return {"MODULE"};
  if (kind == "CONTEXT_CREATED") return {"CONTEXT"};
  if (kind == "RESOURCES") return {"CONTEXT", "MODULE"};
  // The library itself: it recorded nothing.
  if (kind == "CUPTI") return {std::begin(kAllKinds), std::end(kAllKinds)};
  return {kind};
}

}  // namespace

Recorded::Recorded(ledger::Database& trace) {
  ledger::Statement facts = trace.prepare("SELECT key, value FROM meta");
  while (facts.step()) meta_.emplace(facts.string(0), facts.string(1));
  truncated_ = fact(ledger::trace_meta::kTrailer) != "1";
  std::istringstream kinds(fact(ledger::trace_meta::kMissingKinds).value_or("") + " " +
                           fact(kNotExported).value_or(""));
  for (std::string kind; kinds >> kind;) {
    for (std::string& name : canonical_kinds(kind)) missing_.insert(std::move(name));
  }
  ledger::Statement losses = trace.prepare("SELECT kind, count FROM loss ORDER BY kind");
  while (losses.step()) losses_.push_back({losses.string(0), losses.integer(1)});
  quarantined_ = trace.query_integer("SELECT COUNT(*) FROM quarantine");
}

std::optional<std::string> Recorded::fact(std::string_view key) const {
  const auto it = meta_.find(std::string(key));
  if (it == meta_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::string> Recorded::why_not(std::initializer_list<std::string_view> kinds) const {
  std::string list;
  for (const std::string_view kind : kinds) {
    if (has(kind)) continue;
    list += (list.empty() ? "" : ", ") + std::string(kind);
  }
  if (list.empty()) return std::nullopt;
  return "the capture has no records of kind " + list;
}

std::optional<std::string> Recorded::why_no_calls() const {
  if (has_calls()) return std::nullopt;
  return why_not({"RUNTIME", "DRIVER"});
}

const std::string& Names::of(ledger::StrId id) {
  const auto it = known_.find(id);
  if (it != known_.end()) return it->second;
  select_.reset().bind(1, id);
  STWO_CHECK(select_.step(), "a name is in the table of names");
  return known_.emplace(id, select_.string(0)).first->second;
}

}  // namespace prof
