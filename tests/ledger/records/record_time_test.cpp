#include "ledger/records/record_time.hpp"

#include <gtest/gtest.h>

#include "ledger/store/ledger.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

TEST(RecordTime, BothWays) {
  EXPECT_EQ(utc_milliseconds("1970-01-01T00:00:00.000Z"), 0);
  EXPECT_EQ(utc_milliseconds("2026-11-30T21:39:39.123Z"), 1796074779123);
  for (const int64_t ms :
       {int64_t{0}, int64_t{951782399999}, int64_t{1796074779123}, int64_t{253402300799999}}) {
    EXPECT_EQ(utc_milliseconds(utc_text(ms)), ms);
  }
  const std::string now = utc_now();
  EXPECT_EQ(utc_text(*utc_milliseconds(now)), now);
}

TEST(RecordTime, RefusesOtherForms) {
  for (const char* bad :
       {"", "2026-11-30", "2026-11-30T21:39:39Z", "2026-11-30 21:39:39.123Z",
        "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00.000Z",
        "2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2026-01-01T00:00:60.000Z",
        "2026-01-01T00:00:00.000+", "1969-12-31T23:59:59.999Z", "2026-01-01T00:00:-1.000Z",
        "2026-01-01T00:00:00.0000Z"}) {
    EXPECT_FALSE(utc_milliseconds(bad)) << bad;
  }
}

TEST(RecordTime, TimesOfOneRecordGrow) {
  EXPECT_GT(time_after("2026-01-01T00:00:00.000Z"), "2026-01-01T00:00:00.000Z");
  // The clock was set back.
  EXPECT_EQ(time_after("9000-12-31T23:59:59.999Z"), "9001-01-01T00:00:00.000Z");
}

TEST(RecordTime, DerivedIdsAreUlids) {
  const std::string id = derived_ulid(1796074779123, "content");
  EXPECT_TRUE(is_ulid(id)) << id;
  EXPECT_EQ(id, derived_ulid(1796074779123, "content"));
  EXPECT_NE(id, derived_ulid(1796074779123, "content2"));
  EXPECT_EQ(ulid_milliseconds(id), 1796074779123);
  EXPECT_LT(id, derived_ulid(1796074779124, "content"));
  const std::string fresh = new_ulid();
  EXPECT_EQ(derived_ulid(ulid_milliseconds(fresh), "x").substr(0, 10), fresh.substr(0, 10));
}

}  // namespace
}  // namespace ledger
