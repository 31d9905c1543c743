// What a capture holds, as one JSON object.
#pragma once

#include <string>

#include "ledger/db/database.hpp"
#include "ledger/documents/document.hpp"

namespace prof {

/// Schema "stwo_prof_summary_v1": facts, evidence with reasons, counts of rows, devices, requests,
/// and time by stage and by kernel. Shares are parts of busy_ns, the time in which at least one
/// device works; they can sum to more than 1 where operations overlap. A value that is not known is
/// null.
ledger::Json summary_json(ledger::Database& trace, const std::string& name);

}  // namespace prof
