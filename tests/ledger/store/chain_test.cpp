#include "ledger/store/chain.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger::test {
namespace {

class RowDigestTest : public ::testing::Test {
 protected:
  RowDigestTest() : database_(":memory:", OpenMode::kCreate) {}
  /// Digest of the row that a SELECT gives.
  std::string digest(const std::string& select, const std::string& table = "t") {
    Statement statement = database_.prepare(select);
    EXPECT_TRUE(statement.step());
    return stwo::to_hex(row_digest(table, statement));
  }
  Database database_;
};

TEST_F(RowDigestTest, IsWhatTheDocumentationSays) {
  // Lengths and integers are 8 bytes, big-endian; text has its length before it.
  const auto number = [](uint64_t n) {
    std::string out;
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 0xff);
    return out;
  };
  const auto text = [&](const std::string& t) { return number(t.size()) + t; };
  EXPECT_EQ(digest("SELECT 258 AS row, 'é' AS name, 1.5 AS size, x'00ff' AS raw, NULL AS none"),
            stwo::sha256_hex(text("t") + text("row") + "I" + number(258) + text("name") + "T" +
                             text("é") + text("size") + "R" + number(0x3ff8000000000000) +
                             text("raw") + "B" + number(2) + std::string("\0\xff", 2)));
  EXPECT_EQ(digest("SELECT -1 AS row"),
            stwo::sha256_hex(text("t") + text("row") + "I" + number(~uint64_t{0})));
}

TEST_F(RowDigestTest, TellsApartWhatIsDifferent) {
  const std::vector<std::string> rows = {
      "SELECT 1 AS a",
      "SELECT 1 AS b",
      "SELECT 2 AS a",
      "SELECT 1.0 AS a",
      "SELECT '1' AS a",
      "SELECT x'31' AS a",
      "SELECT '' AS a",
      "SELECT x'' AS a",
      "SELECT 0.0 AS a",
      "SELECT 0 AS a",
      "SELECT NULL AS a",
      "SELECT 'x' AS a, 'y' AS b",
      "SELECT 'xy' AS a, '' AS b",
      "SELECT '' AS a, 'xy' AS b",
      "SELECT 'y' AS a, 'x' AS b",
      "SELECT char(0) AS a",
      "SELECT 'x' || char(0) AS a",
      "SELECT 'x' AS a",
  };
  std::set<std::string> digests;
  for (const std::string& row : rows) digests.insert(digest(row));
  EXPECT_EQ(digests.size(), rows.size());
  EXPECT_NE(digest("SELECT 1 AS a", "t"), digest("SELECT 1 AS a", "u"));
}

TEST_F(RowDigestTest, AColumnAddedLaterChangesNoOldRow) {
  database_.execute("CREATE TABLE t (row INTEGER PRIMARY KEY, a TEXT) STRICT");
  database_.execute("INSERT INTO t VALUES (1, 'x')");
  const std::string before = digest("SELECT * FROM t");
  database_.execute("ALTER TABLE t ADD COLUMN b REAL");
  EXPECT_EQ(digest("SELECT * FROM t"), before);
}

ChainEntry some_entry() {
  return {2,
          std::string(64, 'a'),
          "2026-01-31T12:00:00.123Z",
          "ledger 0.1.0",
          "product_report",
          "subject",
          {{"run", 3, 1, Blob(32, 1)}, {"workload", 5, 2, Blob(64, 2)}}};
}

TEST(EntryDigest, IsTheDigestOfItsCanonicalJson) {
  const auto hash = [](const Blob& bytes) {
    stwo::Sha256 sha;
    sha.update(std::span<const uint8_t>(bytes));
    return stwo::to_hex(sha.finalize());
  };
  const std::string json =
      "{\"kind\":\"product_report\",\"previous\":\"" + std::string(64, 'a') +
      "\",\"recorded_utc\":\"2026-01-31T12:00:00.123Z\",\"rows\":[{\"count\":1,"
      "\"digests_sha256\":\"" +
      hash(Blob(32, 1)) + "\",\"first\":3,\"table\":\"run\"},{\"count\":2,\"digests_sha256\":\"" +
      hash(Blob(64, 2)) +
      "\",\"first\":5,\"table\":\"workload\"}],\"seq\":2,\"subject\":\"subject\","
      "\"tool_version\":\"ledger 0.1.0\",\"version\":1}";
  EXPECT_EQ(entry_digest(some_entry()), stwo::sha256_hex(json));
}

TEST(EntryDigest, CoversEverything) {
  const std::vector<std::function<void(ChainEntry&)>> changes = {
      [](ChainEntry&) {},
      [](ChainEntry& e) { e.sequence = 3; },
      [](ChainEntry& e) { e.previous[0] = 'b'; },
      [](ChainEntry& e) { e.recorded_utc.back() = 'z'; },
      [](ChainEntry& e) { e.tool_version += " "; },
      [](ChainEntry& e) { e.kind = "subject"; },
      [](ChainEntry& e) { e.subject = ""; },
      [](ChainEntry& e) { e.rows.pop_back(); },
      [](ChainEntry& e) { std::swap(e.rows[0], e.rows[1]); },
      [](ChainEntry& e) { e.rows[0].table = "run2"; },
      [](ChainEntry& e) { e.rows[0].first = 4; },
      [](ChainEntry& e) { e.rows[0].count = 2; },
      [](ChainEntry& e) { e.rows[0].digests[31] = 2; },
      // What is no UTF-8 must not be lost in the JSON.
      [](ChainEntry& e) { e.subject = "\xff"; },
      [](ChainEntry& e) { e.subject = "\xfe"; },
      [](ChainEntry& e) { e.subject = "\xef\xbf\xbd"; },
      [](ChainEntry& e) { e.subject = "{\"hex\":\"ff\"}"; },
  };
  std::set<std::string> digests;
  for (const auto& change : changes) {
    ChainEntry entry = some_entry();
    change(entry);
    digests.insert(entry_digest(entry));
  }
  EXPECT_EQ(digests.size(), changes.size());
}

}  // namespace
}  // namespace ledger::test
