// From what people type to rows: unique prefixes of ids, `last`, names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/query/result_table.hpp"

namespace ledger {

/// Fewest characters of an id that name something.
inline constexpr size_t kShortestPrefix = 6;

/// What an id can name.
enum class IdKind : uint8_t {
  kRun,
  kPlan,
  kProduct,
  kEnvironment,
  kCapture,
  kVerdict,
  kCalibration,
  kArtifact,
  kEntry,
  kExperiment,
  kBrief,
};

struct FoundId {
  int64_t row = 0;  ///< of experiments and briefs, the first revision's; of entries, seq
  std::string id;
};

/// Ids of `kind` that begin with `prefix`, at most `limit`, in order. An empty list if `prefix` is
/// too short or can't begin an id of this kind: digests are hexadecimal, ids of experiments and
/// briefs ULIDs, both in any case.
std::vector<FoundId> find_ids(Reader& reader, IdKind kind, const std::string& prefix, size_t limit);

/// The one row of `kind` whose id begins with `text`. Runs also answer to `last`, the newest one.
/// Throws UsageError ID_FORMAT (too short, or not hexadecimal), RUN_NOT_FOUND, RUN_AMBIGUOUS (with
/// the candidates), and the like for the other kinds.
FoundId require_id(Reader& reader, IdKind kind, const std::string& text);

/// Throws UsageError ID_FORMAT if `text` can't begin an id of any kind.
void require_id_form(const std::string& text);

/// Rows of table workload with this name and, unless it is empty, this configuration. Throws
/// UsageError WORKLOAD_NOT_FOUND, which names those there are.
std::vector<int64_t> require_workloads(Reader& reader, const std::string& workload_id,
                                       const std::string& config);

}  // namespace ledger
