#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <regex>
#include <set>
#include <thread>

#include "ledger/store/ledger.hpp"
#include "tests/ledger/support/child.hpp"

namespace ledger::test {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Milliseconds since 1970 that a ULID names.
uint64_t time_of(const std::string& ulid) {
  uint64_t ms = 0;
  for (size_t i = 0; i < 10; ++i) ms = ms * 32 + kDigits.find(ulid[i]);
  return ms;
}

uint64_t now_ms() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

TEST(Ulid, NamesItsTime) {
  const uint64_t before = now_ms();
  const std::string ulid = new_ulid();
  const uint64_t after = now_ms();
  EXPECT_EQ(ulid.size(), 26u);
  EXPECT_EQ(ulid.find_first_not_of(kDigits), std::string::npos) << ulid;
  EXPECT_GE(time_of(ulid), before);
  EXPECT_LE(time_of(ulid), after);
  EXPECT_TRUE(is_ulid(ulid));
}

TEST(Ulid, TwoOfAProcessAreInOrder) {
  std::vector<std::string> made;
  for (int i = 0; i < 10'000; ++i) made.push_back(new_ulid());
  for (size_t i = 1; i < made.size(); ++i) ASSERT_LT(made[i - 1], made[i]);
}

TEST(Ulid, ThreadsGetDifferentOnes) {
  constexpr size_t kThreads = 4;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&made, t] {
      for (int i = 0; i < 2500; ++i) made[t].push_back(new_ulid());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& of_thread : made) {
    EXPECT_TRUE(std::is_sorted(of_thread.begin(), of_thread.end()));
    all.insert(of_thread.begin(), of_thread.end());
  }
  EXPECT_EQ(all.size(), kThreads * 2500);
}

TEST(Ulid, AForkedChildDoesNotRepeatItsParents) {
  for (int i = 0; i < 20; ++i) {
    // Makes the state that the child inherits.
    new_ulid();
    Child child([](int output) { write_all(output, new_ulid()); });
    const std::string mine = new_ulid();
    const std::string of_child = child.read_all();
    EXPECT_TRUE(is_ulid(of_child));
    EXPECT_NE(mine, of_child);
  }
}

TEST(Ulid, RandomBitsDiffer) {
  std::set<std::string> tails;
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    tails.insert(new_ulid().substr(10));
  }
  EXPECT_EQ(tails.size(), 20u);
}

TEST(Ulid, IsRecognised) {
  EXPECT_TRUE(is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  EXPECT_TRUE(is_ulid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  EXPECT_TRUE(is_ulid(std::string(26, '0')));
  for (const std::string& text :
       {std::string(), std::string("01ARZ3NDEKTSV4RRFFQ69G5FA"),
        std::string("01ARZ3NDEKTSV4RRFFQ69G5FAV0"), std::string("81ARZ3NDEKTSV4RRFFQ69G5FAV"),
        std::string("01arz3ndektsv4rrffq69g5fav"), std::string("01ARZ3NDEKTSV4RRFFQ69G5FAI"),
        std::string("01ARZ3NDEKTSV4RRFFQ69G5FAL"), std::string("01ARZ3NDEKTSV4RRFFQ69G5FAO"),
        std::string("01ARZ3NDEKTSV4RRFFQ69G5FAU"), std::string("01ARZ3NDEKTSV4RRFFQ69G5FA "),
        std::string("01ARZ3NDEKTSV4RRFFQ69G5F-V"), std::string(26, '\0')}) {
    EXPECT_FALSE(is_ulid(text)) << text;
  }
}

TEST(UtcNow, IsUtcWithMilliseconds) {
  const std::string result = in_child([] {
    // The zone of the machine must not matter.
    ::setenv("TZ", "Asia/Kathmandu", 1);
    ::tzset();
    const auto before = static_cast<time_t>(now_ms() / 1000);
    const std::string text = utc_now();
    const auto after = static_cast<time_t>(now_ms() / 1000);
    if (!std::regex_match(text,
                          std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z"))) {
      return "format of " + text;
    }
    tm parts{};
    ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    const time_t said = ::timegm(&parts);
    return said >= before && said <= after ? std::string("right") : "time of " + text;
  });
  EXPECT_EQ(result, "right");
}

TEST(ToolVersion, IsSetOnce) {
  const std::string result = in_child([] {
    set_tool_version("ledger 9.9.9");
    return tool_version();
  });
  EXPECT_EQ(result, "ledger 9.9.9");
}

}  // namespace
}  // namespace ledger::test
