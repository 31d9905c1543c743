// What the writer stores, from many threads and under failures.
#include "prof/log/log_writer.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "prof/log/log_fields.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof {
namespace {

using test::at;
using test::read_log;
using test::sample_header;
using test::TemporaryFolder;

TEST(LogWriter, WritesWhatTheReaderReads) {
  const TemporaryFolder folder;
  const std::string path = test::write_sample(folder);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"7.stwolog"});
  const auto log = read_log(path);
  EXPECT_EQ(log.header, sample_header());
  using K = FrameKind;
  EXPECT_EQ(log.kinds, (std::vector<K>{K::kClock, K::kFact, K::kString, K::kString, K::kApi,
                                       K::kKernel, K::kFill, K::kMarker, K::kMarkerData,
                                       K::kResEvent, K::kLoss, K::kTrailer}));
  EXPECT_EQ(log.status.end, LogEnd::kComplete) << log.status.reason;
}

TEST(LogWriter, ANameIsWrittenOnceAndCutWhenItIsTooLong) {
  const TemporaryFolder folder;
  LogWriter w;
  ASSERT_TRUE(w.open(folder.file(""), sample_header()));
  EXPECT_EQ(w.intern("a"), 1);
  EXPECT_EQ(w.intern("b"), 2);
  EXPECT_EQ(w.intern("a"), 1);
  EXPECT_EQ(w.intern(std::string(kMaxNameBytes + 1, 'x')), 3);
  EXPECT_EQ(w.intern(std::string(kMaxNameBytes, 'x')), 3);
  w.finish(0);
  LogReader reader(w.path());
  std::vector<size_t> sizes;
  std::vector<ledger::LossRow> losses;
  while (const auto item = reader.next()) {
    if (item->kind == FrameKind::kString) {
      sizes.push_back(decode<StringRow>(item->payload)->text.size());
    }
    if (item->kind == FrameKind::kLoss) {
      losses.push_back(*decode<ledger::LossRow>(item->payload));
    }
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{1, 1, kMaxNameBytes}));
  EXPECT_EQ(losses, (std::vector<ledger::LossRow>{{"names_cut", 1}}));
}

TEST(LogWriter, AProcessIdThatComesAgainGetsALogOfItsOwn) {
  const TemporaryFolder folder;
  LogWriter first;
  LogWriter second;
  ASSERT_TRUE(first.open(folder.file(""), sample_header()));
  ASSERT_TRUE(second.open(folder.file(""), sample_header()));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"7.1.stwolog", "7.stwolog"}));
}

TEST(LogWriter, ManyThreadsLoseNothing) {
  const TemporaryFolder folder;
  LogWriter w;
  ASSERT_TRUE(w.open(folder.file(""), sample_header()));
  constexpr int kThreads = 4;
  constexpr int kRows = 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&w, t] {
      for (int i = 0; i < kRows; ++i) {
        const auto name = w.intern("kernel " + std::to_string(i % 10));
        w.write(test::sample_kernel(name, 10, 20, int64_t{t} * kRows + i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  w.finish(0);
  const auto log = read_log(w.path());
  EXPECT_EQ(log.status.end, LogEnd::kComplete) << log.status.reason;
  EXPECT_EQ(log.status.counts.at(static_cast<int64_t>(FrameKind::kKernel)), kThreads * kRows);
  EXPECT_EQ(log.status.counts.at(static_cast<int64_t>(FrameKind::kString)), 10);
}

TEST(LogWriter, WithoutTrailerTheLogIsTruncated) {
  const TemporaryFolder folder;
  std::string path;
  {
    LogWriter w;
    ASSERT_TRUE(w.open(folder.file(""), sample_header()));
    w.write(ledger::ClockPairRow{at(1), 1});
    path = w.path();
  }
  const auto log = read_log(path);
  EXPECT_EQ(log.kinds, std::vector<FrameKind>{FrameKind::kClock});
  EXPECT_EQ(log.status.end, LogEnd::kTruncated);
}

TEST(LogWriter, RowsAfterATrailerNeedAnother) {
  const TemporaryFolder folder;
  LogWriter w;
  ASSERT_TRUE(w.open(folder.file(""), sample_header()));
  w.finish(0);
  w.write(ledger::ClockPairRow{at(1), 1});
  w.flush();
  EXPECT_EQ(read_log(w.path()).status.end, LogEnd::kTruncated);
  w.finish(3);
  const auto log = read_log(w.path());
  EXPECT_EQ(log.status.end, LogEnd::kComplete);
  ASSERT_TRUE(log.status.trailer);
  EXPECT_EQ(log.status.trailer->dropped, 3);
}

TEST(LogWriter, AFolderThatIsNotThereIsAnError) {
  LogWriter w;
  EXPECT_FALSE(w.open("/nowhere/at/all", sample_header()));
  EXPECT_NE(w.error().find("open: No such file"), std::string::npos) << w.error();
  EXPECT_EQ(w.intern("a"), 0);
  w.write(ledger::ClockPairRow{at(1), 1});
  w.finish(0);
  EXPECT_EQ(w.lost(), 1);
}

TEST(LogWriter, AFullDiskEndsTheLogWithoutTrailer) {
  const TemporaryFolder folder;
  // The limit of a file's size stands for a full disk. In a child, because it lasts.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    LogWriter w;
    if (!w.open(folder.file(""), sample_header())) ::_exit(1);
    for (int i = 0; i < 100'000; ++i) w.write(test::sample_kernel(1, 10, 20, i));
    w.finish(0);
    ::_exit(w.lost() > 0 && w.error().rfind("write: ", 0) == 0 && !w.is_open() ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_log(folder.file("7.stwolog")).status.end, LogEnd::kTruncated);
}

TEST(LogWriter, AForkedChildLeavesTheLogToItsParent) {
  const TemporaryFolder folder;
  LogWriter w;
  ASSERT_TRUE(w.open(folder.file(""), sample_header()));
  w.write(ledger::ClockPairRow{at(1), 1});
  w.lock();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    w.drop_in_child();
    w.unlock();
    w.write(ledger::ClockPairRow{at(2), 2});
    w.finish(0);
    ::_exit(w.is_open() ? 1 : 0);
  }
  w.unlock();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  w.finish(0);
  const auto log = read_log(w.path());
  EXPECT_EQ(log.status.end, LogEnd::kComplete) << log.status.reason;
  EXPECT_EQ(log.kinds, (std::vector<FrameKind>{FrameKind::kClock, FrameKind::kTrailer}));
}

}  // namespace
}  // namespace prof
