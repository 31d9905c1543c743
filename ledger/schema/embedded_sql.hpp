// SQL files that are part of the program. ledger_embed_sql() in embed.cmake generates the tables.
#pragma once

#include <span>
#include <string_view>

namespace ledger {

struct EmbeddedSql {
  std::string_view name;  ///< file name, e.g. "0001_chain.sql"
  std::string_view text;  ///< the file, byte for byte
};

}  // namespace ledger
