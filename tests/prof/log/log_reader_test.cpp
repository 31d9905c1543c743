// The reader on every way in which a log can be short or damaged.
#include "prof/log/log_reader.hpp"

#include <random>

#include "prof/log/log_fields.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof {
namespace {

using ledger::test::code_of;
using test::read_file;
using test::read_log;
using test::sample_header;
using test::TemporaryFolder;
using test::write_file;

/// Where each frame begins, by their lengths, and the end.
std::vector<size_t> frame_starts(const std::string& bytes) {
  std::vector<size_t> out{kLogPrefixBytes};
  while (out.back() < bytes.size()) {
    uint32_t length = 0;
    for (size_t i = 0; i < 4; ++i) {
      length |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[out.back() + 4 + i])) << (8 * i);
    }
    out.push_back(out.back() + kFrameHeadBytes + length);
  }
  return out;
}

TEST(LogReader, TruncationAtEveryByte) {
  const TemporaryFolder folder;
  const std::string whole = read_file(test::write_sample(folder));
  const std::vector<size_t> starts = frame_starts(whole);
  ASSERT_EQ(starts.back(), whole.size());
  ASSERT_EQ(starts.size(), 14U);
  const std::string path = folder.file("cut.stwolog");
  for (size_t n = 0; n < whole.size(); ++n) {
    write_file(path, whole.substr(0, n));
    if (n < starts[1]) {
      EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_STARTED") << n;
      continue;
    }
    const auto log = read_log(path);
    size_t frames = 0;
    while (starts[frames + 1] <= n) ++frames;
    EXPECT_EQ(log.status.end, LogEnd::kTruncated) << n;
    // The header is read by the constructor.
    EXPECT_EQ(log.kinds.size(), frames - 1) << n;
    EXPECT_EQ(log.damage.size(), starts[frames] == n ? 0U : 1U) << n;
    EXPECT_EQ(log.status.damaged_bytes, n - starts[frames]) << n;
  }
}

TEST(LogReader, AFlippedBitAnywhereIsNoticed) {
  const TemporaryFolder folder;
  const std::string whole = read_file(test::write_sample(folder));
  const size_t first = frame_starts(whole)[1];
  const std::string path = folder.file("flipped.stwolog");
  for (size_t n = 0; n < whole.size(); ++n) {
    for (const int bit : {0, 7}) {
      std::string bytes = whole;
      bytes[n] = static_cast<char>(bytes[n] ^ (1 << bit));
      write_file(path, bytes);
      if (n < sizeof kLogMagic) {
        EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_FOREIGN") << n;
      } else if (n < kLogPrefixBytes) {
        EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_VERSION") << n;
      } else if (n < first) {
        EXPECT_NE(code_of([&] { LogReader reader(path); }), "") << n;
      } else {
        const auto log = read_log(path);
        EXPECT_NE(log.status.end, LogEnd::kComplete) << n;
        EXPECT_FALSE(log.damage.empty()) << n;
        // Everything but the one frame is still there.
        EXPECT_EQ(log.kinds.size(), 11U) << n;
      }
    }
  }
}

TEST(LogReader, DamageInsideIsCorruptAndNamesThePlace) {
  const TemporaryFolder folder;
  std::string bytes = read_file(test::write_sample(folder));
  const std::vector<size_t> starts = frame_starts(bytes);
  bytes[starts[5] + kFrameHeadBytes] ^= 1;
  const std::string path = folder.file("damaged.stwolog");
  write_file(path, bytes);
  LogReader reader(path);
  std::vector<LogItem> damage;
  while (const auto item = reader.next()) {
    if (!item->damage.empty()) {
      damage.push_back(*item);
      EXPECT_EQ(std::string(item->raw.begin(), item->raw.end()),
                bytes.substr(starts[5], starts[6] - starts[5]));
    }
  }
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_EQ(damage[0].offset, starts[5]);
  EXPECT_EQ(damage[0].size, starts[6] - starts[5]);
  EXPECT_EQ(damage[0].damage, "frame with a wrong checksum");
  EXPECT_EQ(reader.status().end, LogEnd::kCorrupt);
  EXPECT_EQ(reader.status().reason,
            "frame with a wrong checksum at byte " + std::to_string(starts[5]));
  // The frame was a call.
  EXPECT_EQ(reader.status().missing,
            (std::map<int64_t, int64_t>{{static_cast<int64_t>(FrameKind::kApi), 1}}));
}

TEST(LogReader, AFrameThatIsMissingOrTwiceContradictsTheTrailer) {
  const TemporaryFolder folder;
  const std::string bytes = read_file(test::write_sample(folder));
  const std::vector<size_t> starts = frame_starts(bytes);
  const std::string path = folder.file("changed.stwolog");
  write_file(path, bytes.substr(0, starts[6]) + bytes.substr(starts[7]));
  auto log = read_log(path);
  EXPECT_EQ(log.status.end, LogEnd::kCorrupt);
  EXPECT_EQ(log.status.missing,
            (std::map<int64_t, int64_t>{{static_cast<int64_t>(FrameKind::kKernel), 1}}));
  write_file(path, bytes.substr(0, starts[7]) + bytes.substr(starts[6]));
  log = read_log(path);
  EXPECT_EQ(log.status.end, LogEnd::kCorrupt);
  EXPECT_EQ(log.status.reason, "the trailer counts other frames than the log has");
  EXPECT_TRUE(log.status.missing.empty());
}

TEST(LogReader, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_OPEN");
  EXPECT_EQ(code_of([&] { LogReader reader(folder.file("")); }), "LOG_OPEN");
  write_file(path, "SQLite format 3, and more bytes");
  EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_FOREIGN");
  write_file(path, std::string("STWOPLOG\2\0\0\0", 12) + std::string(40, 'x'));
  EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_VERSION");
  write_file(path, std::string("STWOPLOG\1\0\0\0", 12) + std::string(40, 'x'));
  EXPECT_EQ(code_of([&] { LogReader reader(path); }), "LOG_HEADER");
}

/// A head with a chosen length and no valid checksum.
std::string head_with_length(uint32_t length) {
  std::string head("\xf5\x9e\x14\0", 4);
  for (int i = 0; i < 4; ++i) head += static_cast<char>(length >> (8 * i));
  return head + std::string(4, '\0');
}

TEST(LogReader, HostileLengthsCostNothing) {
  const TemporaryFolder folder;
  const std::string whole = read_file(test::write_sample(folder));
  const std::vector<size_t> starts = frame_starts(whole);
  const std::string path = folder.file("hostile.stwolog");
  for (const uint32_t length : {uint32_t{0}, uint32_t{1}, kMaxPayloadBytes, kMaxPayloadBytes + 1,
                                uint32_t{0x7fffffff}, uint32_t{0xffffffff}}) {
    write_file(path,
               whole.substr(0, starts[4]) + head_with_length(length) + whole.substr(starts[4]));
    const auto log = read_log(path);
    EXPECT_EQ(log.status.end, LogEnd::kCorrupt) << length;
    EXPECT_EQ(log.kinds.size(), 12U) << length;
    EXPECT_EQ(log.damage.size(), 1U) << length;
  }
}

TEST(LogReader, HeadsOfLongFramesEverywhereEndTheSearch) {
  const TemporaryFolder folder;
  const std::string whole = read_file(test::write_sample(folder));
  const std::string path = folder.file("hostile.stwolog");
  // Each head promises a megabyte: without a limit this would be 90 GB of checksums.
  std::string bytes = whole.substr(0, frame_starts(whole)[4]);
  const std::string head = head_with_length(kMaxPayloadBytes);
  for (int i = 0; i < 180'000; ++i) bytes += head;
  const size_t hostile = bytes.size() - frame_starts(whole)[4];
  bytes += whole.substr(frame_starts(whole)[4]);
  write_file(path, bytes);
  const auto log = read_log(path);
  EXPECT_EQ(log.status.end, LogEnd::kCorrupt);
  EXPECT_EQ(log.kinds.size(), 3U);
  EXPECT_GE(log.status.damaged_bytes, hostile);
}

TEST(LogReader, NoiseIsDamageOfBoundedSize) {
  const TemporaryFolder folder;
  const std::string whole = read_file(test::write_sample(folder));
  const size_t first = frame_starts(whole)[1];
  std::mt19937 random(1);
  std::string noise(3 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string path = folder.file("noise.stwolog");
  write_file(path, whole.substr(0, first) + noise + whole.substr(first));
  LogReader reader(path);
  uint64_t damaged = 0;
  size_t frames = 0;
  while (const auto item = reader.next()) {
    if (item->damage.empty()) {
      ++frames;
    } else {
      damaged += item->size;
      EXPECT_LE(item->raw.size(), LogReader::kKeptDamage);
    }
  }
  EXPECT_EQ(damaged, noise.size());
  EXPECT_EQ(frames, 12U);
  EXPECT_EQ(reader.status().end, LogEnd::kCorrupt);
}

TEST(LogReader, FramesThatCrossItsBufferAreWhole) {
  const TemporaryFolder folder;
  LogWriter w;
  ASSERT_TRUE(w.open(folder.file(""), sample_header()));
  // 60 names of up to 256 KiB are several times the reader's buffer.
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(w.intern(std::string(kMaxNameBytes - i, static_cast<char>('A' + i % 26))),
              static_cast<int64_t>(i) + 1);
  }
  w.finish(0);
  LogReader reader(w.path());
  for (size_t i = 0; i < 60; ++i) {
    const auto item = reader.next();
    ASSERT_TRUE(item);
    const auto row = decode<StringRow>(item->payload);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->text, std::string(kMaxNameBytes - i, static_cast<char>('A' + i % 26)));
  }
  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.status().end, LogEnd::kComplete);
}

}  // namespace
}  // namespace prof
