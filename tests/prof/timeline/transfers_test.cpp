// Copies by direction, by hand.
#include "prof/timeline/transfers.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

Transfers of(const std::function<void(TraceWriter&)>& fill) {
  Capture capture(fill);
  return *capture.analyze().transfers;
}

TEST(Transfers, OfTheExample) {
  const Transfers v = of(write_example);
  ASSERT_EQ(v.directions.size(), 2U);
  EXPECT_EQ(v.directions[0].direction, Direction::kH2D);
  EXPECT_EQ(v.directions[0].operations, 1);
  EXPECT_EQ(v.directions[0].bytes, 1000);
  EXPECT_EQ(v.directions[0].union_ns, 1000);
  EXPECT_DOUBLE_EQ(*v.directions[0].bytes_per_s, 1e9);
  EXPECT_EQ(v.directions[0].pageable_operations, 0);
  EXPECT_DOUBLE_EQ(*v.directions[1].bytes_per_s, 4.096e9);
  EXPECT_TRUE(*v.one_terminal_d2h);
  EXPECT_EQ(v.terminal_d2h_operations, 1);
  EXPECT_EQ(v.terminal_d2h_bytes, 4096);
  EXPECT_EQ(v.intermediate_d2h_operations, 0);
}

TEST(Transfers, ACopyToTheHostBeforeTheLastKernelIsIntermediate) {
  const auto with = [](int64_t early_copy_start) {
    return of([&](TraceWriter& w) {
      one_window(w, 1000, 9000);
      kernel(w, "k", {1}, span(1000, 2000));
      kernel(w, "k", {2}, span(3000, 4000));
      copy(w, 2, 8, {3, 14}, span(early_copy_start, early_copy_start + 10));
      copy(w, 2, 64, {4}, span(5000, 5100));
    });
  };
  for (const int64_t start : {1500, 2500, 3500}) {
    const Transfers v = with(start);
    EXPECT_FALSE(*v.one_terminal_d2h);
    EXPECT_EQ(v.intermediate_d2h_operations, 1);
    EXPECT_EQ(v.terminal_d2h_operations, 1);
    EXPECT_EQ(v.terminal_d2h_bytes, 64);
  }
  const Transfers two = with(4500);  // both after the last kernel
  EXPECT_FALSE(*two.one_terminal_d2h);
  EXPECT_EQ(two.intermediate_d2h_operations, 0);
  EXPECT_EQ(two.terminal_d2h_operations, 2);
}

TEST(Transfers, NoCopyToTheHostIsNoTerminalOne) {
  const Transfers v = of([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    kernel(w, "k", {1}, span(1000, 2000));
  });
  EXPECT_FALSE(*v.one_terminal_d2h);
  EXPECT_TRUE(v.directions.empty());
}

TEST(Transfers, DirectionsAndPageableMemory) {
  const Transfers v = of([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    copy(w, 1, 100, {1}, span(1000, 1100), 1);
    copy(w, 3, 50, {2, 14}, span(1050, 1200), 2);  // to an array
    copy(w, 8, 30, {3}, span(1300, 1310));
    copy(w, 10, 40, {4}, span(1400, 1400));  // between devices, in no time
    copy(w, 12, 7, {5}, span(1500, 1510));   // managed memory
    copy(w, 0, 9, {6}, span(1600, 1610));
    fill(w, 256, {7}, span(1700, 1710));
    copy(w, 1, 1000, {8}, span(900, 1010));  // begins before the window: time, but no operation
  });
  const DirectionTransfers h2d = v.of(Direction::kH2D);
  EXPECT_EQ(h2d.operations, 2);
  EXPECT_EQ(h2d.bytes, 150);
  EXPECT_EQ(h2d.pageable_operations, 1);
  EXPECT_EQ(h2d.pageable_bytes, 100);
  EXPECT_EQ(h2d.union_ns, 200);
  EXPECT_EQ(v.of(Direction::kD2D).bytes, 30);
  EXPECT_EQ(v.of(Direction::kPeer).bytes, 40);
  EXPECT_FALSE(v.of(Direction::kPeer).bytes_per_s);
  EXPECT_EQ(v.of(Direction::kManaged).bytes, 7);
  EXPECT_EQ(v.of(Direction::kUnknown).bytes, 9);
  EXPECT_EQ(v.of(Direction::kD2H).operations, 0);
  EXPECT_EQ(v.fills, 1);
  EXPECT_EQ(v.fill_bytes, 256);
  EXPECT_EQ(v.directions.size(), 5U);
}

TEST(Transfers, OneRecordCanStandForManyCopies) {
  const Transfers v = of([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    ledger::CopyRow row;
    row.copy_kind = 1;
    row.src_kind = 2;
    row.dst_kind = 3;
    row.async = true;
    row.bytes = 300;
    row.copy_count = 3;
    w.copy(op_row({1}, span(1000, 1100)), row);
  });
  EXPECT_EQ(v.of(Direction::kH2D).operations, 3);
}

TEST(Transfers, CopiesWithoutTimesCountButHaveNoOrder) {
  const Transfers v = of([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    kernel(w, "k", {1}, span(1000, 2000));
    call(w, "cuMemcpyDtoHAsync_v2", 2, 2100, 2200);
    copy(w, 2, 64, {2}, {});
  });
  EXPECT_EQ(v.of(Direction::kD2H).operations, 1);
  EXPECT_EQ(v.of(Direction::kD2H).bytes, 64);
  EXPECT_FALSE(v.one_terminal_d2h);
  EXPECT_EQ(v.one_terminal_d2h.reason, "1 copies to the host have no times");
}

}  // namespace
}  // namespace prof::test
