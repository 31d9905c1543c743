// Statements, configs and security levels in words.
#pragma once

#include <string>

#include "prover/air/statement.hpp"
#include "prover/pcs/config.hpp"

namespace stwo {

/// "wide_fibonacci, log_n_rows=4 sequence_len=100, channel blake2s".
std::string describe_statement(const Statement& statement);
/// "secure (pow=26,...)".
std::string describe_config(const PcsConfig& config);
/// "96 bits heuristic, 61 bits proven", with a warning below a useful level.
std::string describe_security(const PcsConfig& config);

}  // namespace stwo
