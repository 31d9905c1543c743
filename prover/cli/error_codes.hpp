// Every code an error line can start with; `stwo --list-codes` prints them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "prover/errors.hpp"

namespace stwo {

struct ErrorCode {
  std::string_view code;
  ExitCode exit_code;
  std::string_view meaning;
};

std::span<const ErrorCode> error_codes();
/// As a table, or as one JSON object.
std::string list_codes(bool json);

}  // namespace stwo
