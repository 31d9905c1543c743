#include "ledger/store/chain.hpp"

#include <bit>
#include <nlohmann/json.hpp>

#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

void add_number(stwo::Sha256& hash, uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  }
  hash.update(std::span<const uint8_t>(bytes));
}

void add_text(stwo::Sha256& hash, std::string_view text) {
  add_number(hash, text.size());
  hash.update(text);
}

/// JSON holds UTF-8 only. Replacing what is not would give different texts one digest.
nlohmann::json json_text(const std::string& text) {
  nlohmann::json out = text;
  try {
    out.dump();
    return out;
  } catch (const nlohmann::json::type_error&) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    return nlohmann::json::object({{"hex", stwo::to_hex({bytes, text.size()})}});
  }
}

}  // namespace

Digest row_digest(std::string_view table, const Statement& row) {
  stwo::Sha256 hash;
  add_text(hash, table);
  for (int c = 0; c < row.column_count(); ++c) {
    const Value value = row.value(c);
    if (std::holds_alternative<std::monostate>(value)) continue;
    add_text(hash, row.column_name(c));
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      hash.update("I");
      add_number(hash, static_cast<uint64_t>(*integer));
    } else if (const auto* real = std::get_if<double>(&value)) {
      hash.update("R");
      add_number(hash, std::bit_cast<uint64_t>(*real));
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      hash.update("T");
      add_text(hash, *text);
    } else {
      const auto& blob = std::get<Blob>(value);
      hash.update("B");
      add_number(hash, blob.size());
      hash.update(std::span<const uint8_t>(blob));
    }
  }
  return hash.finalize();
}

std::string entry_digest(const ChainEntry& entry) {
  nlohmann::json j = {{"version", 1},
                      {"seq", entry.sequence},
                      {"previous", json_text(entry.previous)},
                      {"recorded_utc", json_text(entry.recorded_utc)},
                      {"tool_version", json_text(entry.tool_version)},
                      {"kind", json_text(entry.kind)},
                      {"subject", json_text(entry.subject)},
                      {"rows", nlohmann::json::array()}};
  for (const ChainedRows& r : entry.rows) {
    stwo::Sha256 digests;
    digests.update(std::span<const uint8_t>(r.digests));
    j["rows"].push_back({{"table", json_text(r.table)},
                         {"first", r.first},
                         {"count", r.count},
                         {"digests_sha256", stwo::to_hex(digests.finalize())}});
  }
  return stwo::sha256_hex(j.dump());
}

}  // namespace ledger
