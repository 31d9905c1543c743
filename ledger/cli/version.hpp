// Which program this is.
#pragma once

#include <string>

namespace ledger {

/// "ledger 0.1.0": what entries of the hash chain name.
std::string program_name();
/// Versions of program, SQLite and schema, as text or as one JSON object.
std::string version_text(bool json);

}  // namespace ledger
