// Every code an error line can start with; `ledger --list-codes` prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prover/errors.hpp"

namespace ledger {

struct ErrorCode {
  std::string_view code;
  stwo::ExitCode exit_code;
  std::string_view meaning;
  /// Also for what stands in a file: a usage error on the command line, invalid evidence in
  /// record.md.
  bool in_files = false;
};

/// Sorted by code.
const std::vector<ErrorCode>& error_codes();
/// As a table, or as one JSON object.
std::string list_codes(bool json);
std::string list_codes(const std::vector<ErrorCode>& codes, bool json);

}  // namespace ledger
