// Every code an error line of stwo-prof can start with; `stwo-prof --list-codes` prints them.
#pragma once

#include <string>
#include <vector>

#include "ledger/cli/error_codes.hpp"

namespace prof {

/// Sorted by code: our own, and those of the ledger's files, documents and captures.
const std::vector<ledger::ErrorCode>& error_codes();
/// As a table, or as one JSON object.
std::string list_codes(bool json);

}  // namespace prof
