// Allocations, live bytes and pools, by hand and against a simple model.
#include "prof/timeline/allocation.hpp"

#include <random>

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

using ledger::MemOp;
using ledger::WindowRole;

Allocation of(const std::function<void(TraceWriter&)>& fill) {
  Capture capture(fill);
  return *capture.analyze().allocation;
}

TEST(Allocation, OfTheExample) {
  const Allocation v = of(write_example);
  EXPECT_TRUE(*v.nothing_allocated);
  EXPECT_EQ(v.allocations + v.releases, 0);
  EXPECT_EQ(v.device.at_begin, 65536);
  EXPECT_EQ(v.device.peak, 65536);
  EXPECT_EQ(v.device.at_end, 65536);
  EXPECT_EQ(v.host.peak, 4096);
  EXPECT_TRUE(v.pools->empty());
}

TEST(Allocation, LiveBytesAndCalls) {
  const Allocation v = of([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    memory(w, MemOp::kAllocation, 0x100, 10, 500);
    memory(w, MemOp::kAllocation, 0x200, 20, 600);
    memory(w, MemOp::kRelease, 0x100, 10, 700);
    call(w, "cudaMallocAsync_v11020", 1, 1090, 1110);
    memory(w, MemOp::kAllocation, 0x300, 100, 1100, 1);
    memory(w, MemOp::kAllocation, 0x400, 7, 1150, 2, 2);
    call(w, "cudaFreeAsync_v11020", 3, 1190, 1210);
    memory(w, MemOp::kRelease, 0x200, 20, 1200, 3);
    memory(w, MemOp::kRelease, 0x300, 100, 1300, 4);
    memory(w, MemOp::kAllocation, 0x500, 5000, 2500);
  });
  EXPECT_FALSE(*v.nothing_allocated);
  EXPECT_EQ(v.allocations, 2);
  EXPECT_EQ(v.allocated_bytes, 107);
  EXPECT_EQ(v.releases, 2);
  EXPECT_EQ(v.released_bytes, 120);
  EXPECT_EQ(v.device.at_begin, 20);
  EXPECT_EQ(v.device.peak, 120);
  EXPECT_EQ(v.device.at_end, 0);
  EXPECT_EQ(v.host.at_begin, 0);
  EXPECT_EQ(v.host.at_end, 7);
  EXPECT_EQ(v.unmatched_releases, 0);
  ASSERT_EQ(v.calls.size(), 4U);
  EXPECT_FALSE(v.calls[0].call);
  EXPECT_EQ(v.calls[0].memory, "pinned");
  EXPECT_EQ(v.calls[1].call, "cudaMallocAsync");
  EXPECT_EQ(v.calls[1].bytes, 100);
  EXPECT_FALSE(v.calls[2].call);
  EXPECT_TRUE(v.calls[2].release);
  EXPECT_EQ(v.calls[3].call, "cudaFreeAsync");
}

TEST(Allocation, WhatDoesNotMatchChangesNothing) {
  const Allocation v = of([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    memory(w, MemOp::kRelease, 0x100, 10, 1100);
    memory(w, MemOp::kAllocation, 0x200, 20, 1200);
    memory(w, MemOp::kAllocation, 0x200, 50, 1300);  // the first release was lost
    memory(w, MemOp::kAllocation, 0x300, 1, std::nullopt);
  });
  EXPECT_EQ(v.unmatched_releases, 1);
  EXPECT_EQ(v.replaced, 1);
  EXPECT_EQ(v.untimed, 1);
  EXPECT_EQ(v.device.at_begin, 0);
  EXPECT_EQ(v.device.peak, 50);
  EXPECT_EQ(v.device.at_end, 50);
  EXPECT_FALSE(v.nothing_allocated);
}

TEST(Allocation, TheSameAddressOnTwoDevices) {
  const Allocation v = of([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    for (const int64_t device : {0, 1}) {
      ledger::MemEventRow row;
      row.pid = 7;
      row.mem_kind = 3;
      row.device_id = device;
      row.address = 0xffff'ffff'ffff'0000;
      row.bytes = 8;
      row.ts_ns = at(1100 + device);
      w.mem_event(row);
    }
  });
  EXPECT_EQ(v.device.peak, 16);
  EXPECT_EQ(v.replaced, 0);
}

TEST(Allocation, AFirstRequestMayAllocate) {
  const Allocation v = of([](TraceWriter& w) {
    window(w, 0, WindowRole::kFirst, 1000, 1000, 2000, 2000);
    memory(w, MemOp::kAllocation, 0x100, 10, 1100);
  });
  EXPECT_FALSE(v.nothing_allocated);
  EXPECT_EQ(v.allocations, 1);
}

TEST(Allocation, Pools) {
  const auto pool_event = [](TraceWriter& w, ledger::PoolOp op, int64_t ts,
                             std::optional<int64_t> size, std::optional<int64_t> used) {
    ledger::PoolEventRow row;
    row.pid = 7;
    row.op = op;
    row.pool_type = 1;
    row.address = 0xabc0;
    row.size_bytes = size;
    row.used_bytes = used;
    row.ts_ns = at(ts);
    if (op == ledger::PoolOp::kCreated) {
      row.release_threshold_bytes = std::numeric_limits<uint64_t>::max();
    }
    w.pool_event(row);
  };
  const Allocation v = of([&](TraceWriter& w) {
    one_window(w, 1000, 2000);
    pool_event(w, ledger::PoolOp::kCreated, 100, 0, 0);
    pool_event(w, ledger::PoolOp::kTrimmed, 1500, 300, std::nullopt);
    ledger::MemEventRow row;
    row.pid = 7;
    row.mem_kind = 3;
    row.address = 0x100;
    row.bytes = 64;
    row.async = true;
    row.pool_type = 1;
    row.pool_address = 0xabc0;
    row.ts_ns = at(500);
    row.pool_bytes = 9000;  // before the window, but not its last state
    row.pool_used_bytes = 8000;
    w.mem_event(row);
    row.ts_ns = at(600);
    row.address = 0x200;
    row.pool_bytes = 512;
    row.pool_used_bytes = 128;
    w.mem_event(row);
    row.ts_ns = at(1100);
    row.address = 0x300;
    row.pool_bytes = 400;
    row.pool_used_bytes = 256;
    w.mem_event(row);
  });
  ASSERT_EQ(v.pools->size(), 1U);
  const PoolUse& pool = (*v.pools)[0];
  EXPECT_EQ(pool.address, 0xabc0U);
  EXPECT_EQ(pool.bytes, 512);
  EXPECT_EQ(pool.used_bytes, 256);
  EXPECT_EQ(pool.release_threshold_bytes, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(pool.trims, 1);
  EXPECT_EQ(v.pools_created, 0);
}

TEST(Allocation, MissingKinds) {
  Capture memory_missing([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "MEMORY2");
  });
  EXPECT_FALSE(memory_missing.analyze().allocation);
  Capture pools_missing([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "MEMORY_POOL");
  });
  const Timeline t = pools_missing.analyze();
  ASSERT_TRUE(t.allocation);
  EXPECT_FALSE(t.allocation->pools);
}

TEST(Allocation, LiveBytesNeverGoBelowZero) {
  std::mt19937_64 rng(29);
  for (int round = 0; round < 20; ++round) {
    struct Event {
      bool release;
      uint64_t address;
      int64_t bytes;
    };
    std::vector<Event> events(40);
    for (Event& e : events) {
      e = {rng() % 2 == 0, rng() % 6, static_cast<int64_t>(rng() % 100)};
    }
    std::map<uint64_t, int64_t> alive;
    int64_t peak = 0;
    int64_t sum = 0;
    for (const Event& e : events) {
      alive.erase(e.address);
      if (!e.release) alive[e.address] = e.bytes;
      sum = 0;
      for (const auto& [address, bytes] : alive) sum += bytes;
      peak = std::max(peak, sum);
    }
    const Allocation v = of([&](TraceWriter& w) {
      one_window(w, 1000, 2000);
      int64_t ts = 1001;
      for (const Event& e : events) {
        memory(w, e.release ? MemOp::kRelease : MemOp::kAllocation, e.address, e.bytes, ts++);
      }
    });
    EXPECT_EQ(v.device.peak, peak);
    EXPECT_EQ(v.device.at_end, sum);
  }
}

}  // namespace
}  // namespace prof::test
