#include "ledger/cli/version.hpp"

#include <nlohmann/json.hpp>

#include "ledger/db/database.hpp"
#include "ledger/store/schema.hpp"
#include "ledger/trace/trace_schema.hpp"

namespace ledger {

std::string program_name() { return std::string("ledger ") + STWO_VERSION; }

std::string version_text(bool json) {
  if (json) {
    return nlohmann::ordered_json{{"schema", "stwo_ledger_version_v1"},
                                  {"version", STWO_VERSION},
                                  {"sqlite", sqlite_version()},
                                  {"ledger_schema", newest_schema_version()},
                                  {"trace_schema", kTraceVersion}}
               .dump() +
           "\n";
  }
  return program_name() + ", SQLite " + sqlite_version() + "\nschema of ledgers " +
         std::to_string(newest_schema_version()) + ", of captures " +
         std::to_string(kTraceVersion) + "\n";
}

}  // namespace ledger
