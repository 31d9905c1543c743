// The numbered SQL files of the ledger's schema, in order.
#pragma once

#include <span>

#include "ledger/schema/embedded_sql.hpp"

namespace ledger {

/// Generated from ledger/schema/ledger/*.sql.
extern const std::span<const EmbeddedSql> kLedgerSchema;
inline std::span<const EmbeddedSql> ledger_schema_files() { return kLedgerSchema; }

}  // namespace ledger
