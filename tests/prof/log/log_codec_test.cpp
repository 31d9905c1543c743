// Values survive the way through a payload, and only canonical bytes are values.
#include "prof/log/log_codec.hpp"

#include <limits>

#include "prof/log/log_fields.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof {
namespace {

using Bytes = std::vector<uint8_t>;

template <class Row>
Bytes encode(const Row& row) {
  Bytes out;
  Encoder encoder(out);
  fields(encoder, row);
  return out;
}

TEST(LogCodec, NumbersHaveTheirKnownBytes) {
  // LEB128 of 300 is AC 02; zigzag maps -1 to 1 and 150 to 300.
  Bytes out;
  Encoder encoder(out);
  encoder(uint64_t{300});
  encoder(int64_t{-1});
  encoder(int64_t{150});
  encoder(true);
  encoder(std::string("ab"));
  encoder(std::optional<int64_t>{});
  EXPECT_EQ(out, (Bytes{0xac, 0x02, 0x01, 0xac, 0x02, 0x01, 0x02, 'a', 'b', 0x00}));
}

TEST(LogCodec, ExtremesComeBack) {
  MarkerDataRow row;
  for (const int64_t v : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{63},
                          int64_t{64}, std::numeric_limits<int64_t>::max()}) {
    row.id = v;
    row.payload = std::numeric_limits<uint64_t>::max();
    const auto back = decode<MarkerDataRow>(encode(row));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->id, v);
    EXPECT_EQ(back->payload, std::numeric_limits<uint64_t>::max());
  }
}

TEST(LogCodec, ADeviceComesBackWithEveryField) {
  ledger::DeviceRow d;
  d.id = 1;
  d.uuid = "GPU-00";
  d.name = "X";
  d.sm_major = 9;
  d.memory_bytes = 5;
  d.memory_bytes_per_s = 4'800'000'000'000;
  d.max_warps_per_sm = 64;
  d.ecc = true;
  d.mig = false;
  const auto back = decode<ledger::DeviceRow>(encode(d));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, d);
}

TEST(LogCodec, APayloadThatIsShorterOrLongerIsNoRow) {
  const Bytes bytes = encode(test::sample_kernel(3, 10, 20, 4));
  ASSERT_TRUE(decode<KernelOp>(bytes));
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(decode<KernelOp>(std::span(bytes).first(n))) << n;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(decode<KernelOp>(longer));
}

TEST(LogCodec, FormsThatNoWriterMakesAreRefused) {
  struct Case {
    const char* what;
    Bytes bytes;
  };
  // A marker's data is an id, a category and an optional payload.
  const Case cases[] = {
      {"a longer form of 0", {0x80, 0x00, 0x00, 0x00}},
      {"eleven bytes of a number",
       {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x00}},
      {"a number above 64 bits",
       {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x00, 0x00}},
      {"a truth value of 2", {0x00, 0x00, 0x02, 0x00}},
  };
  for (const Case& c : cases) EXPECT_FALSE(decode<MarkerDataRow>(c.bytes)) << c.what;
  EXPECT_TRUE(decode<MarkerDataRow>(Bytes{0x00, 0x00, 0x00}));
  // A text longer than the payload; a length near 2^64.
  EXPECT_FALSE(decode<StringRow>(Bytes{0x02, 0x05, 'a'}));
  EXPECT_FALSE(decode<StringRow>(
      Bytes{0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'}));
}

TEST(LogCodec, EnumsStayInTheirRange) {
  ledger::PoolEventRow row;
  row.pid = 7;
  Bytes bytes = encode(row);
  // pid is one byte, the operation comes behind it.
  for (int op = 0; op < 256; ++op) {
    bytes[1] = static_cast<uint8_t>(op);
    EXPECT_EQ(decode<ledger::PoolEventRow>(bytes).has_value(), op >= 1 && op <= 3) << op;
  }
}

TEST(LogCodec, CountsAreSortedAndUnique) {
  LogTrailer trailer;
  trailer.counts = {{1, 1}, {20, 7}};
  const Bytes bytes = encode(trailer);
  EXPECT_EQ(bytes, (Bytes{0x02, 0x02, 0x02, 0x28, 0x0e, 0x00, 0x00}));
  EXPECT_EQ(decode<LogTrailer>(bytes), trailer);
  EXPECT_FALSE(decode<LogTrailer>(Bytes{0x02, 0x28, 0x0e, 0x02, 0x02, 0x00, 0x00}));
  EXPECT_FALSE(decode<LogTrailer>(Bytes{0x02, 0x02, 0x02, 0x02, 0x02, 0x00, 0x00}));
}

TEST(LogFormat, ChecksumIsTheCommonOne) {
  // The check value of CRC-32 is that of the nine digits.
  const std::string digits = "123456789";
  const auto bytes = [](const std::string& text) {
    return std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  EXPECT_EQ(crc32(0, bytes(digits)), 0xcbf43926U);
  EXPECT_EQ(crc32(crc32(0, bytes(digits.substr(0, 4))), bytes(digits.substr(4))), 0xcbf43926U);
  // 43 bytes: several steps of eight, then single ones. Value from the literature.
  EXPECT_EQ(crc32(0, bytes("The quick brown fox jumps over the lazy dog")), 0x414fa339U);
}

}  // namespace
}  // namespace prof
