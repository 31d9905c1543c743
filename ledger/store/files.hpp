// Names of files that stay: made durable, and never put over one that is there. Internal to the
// store.
#pragma once

#include <string>

namespace ledger {

/// Directory of the file at `path`.
std::string directory_of(const std::string& path);

/// Makes the names in a directory durable. Throws EnvironmentError.
void sync_directory(const std::string& path);

/// Gives a complete file or folder its name, and makes the name durable. Throws RefusedError
/// OUTPUT_EXISTS, EnvironmentError LEDGER_IO; `temporary` stays then.
void publish(const std::string& temporary, const std::string& path);

}  // namespace ledger
