// Twiddle tables against the CPU prover's twiddle tree.
#include "kernels/tables/tables_args.hpp"

#include "prover/circle/domain.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

STWO_KERNEL_TESTS(TablesKernel);

TEST_P(TablesKernel, EqualTheTwiddleTree) {
  // Below, at and above a block of 256 entries; 0 is the unused entry alone.
  for (const uint32_t log : {0u, 1u, 2u, 5u, 7u, 8u, 9u, 12u}) {
    SCOPED_TRACE(log);
    const Tables expected(log);
    const size_t n = size_t{1} << log;
    const DeviceWords x = DeviceWords::output(n), x_inverse = DeviceWords::output(n);
    const DeviceWords y = DeviceWords::output(n), y_inverse = DeviceWords::output(n);
    MakeTablesArgs args{};
    args.x = x.at();
    args.x_inverse = x_inverse.at();
    args.y = y.at();
    args.y_inverse = y_inverse.at();
    args.log_entries = log;
    launch("make_tables", {blocks_for(n, 256), 1, 256, 0}, args);
    x.expect(expected.x, "x");
    x_inverse.expect(expected.x_inverse, "x inverse");
    y.expect(expected.y, "y");
    y_inverse.expect(expected.y_inverse, "y inverse");
  }
}

TEST_P(TablesKernel, SpareThreadsWriteNothing) {
  const DeviceWords table = DeviceWords::output(4 * 8);
  MakeTablesArgs args{};
  args.x = table.at();
  args.x_inverse = table.at(8);
  args.y = table.at(16);
  args.y_inverse = table.at(24);
  args.log_entries = 3;
  launch("make_tables", {3, 1, 256, 0}, args);
  const Tables expected(3);
  Words all;
  for (const Words* t : {&expected.x, &expected.x_inverse, &expected.y, &expected.y_inverse}) {
    all.insert(all.end(), t->begin(), t->end());
  }
  table.expect(all);
  // The layout's promise, read off the domains directly.
  for (uint32_t k = 0; k < 3; ++k) {
    for (uint32_t h = 0; h < 1u << k; ++h) {
      EXPECT_EQ(all[(1u << k) + h] / 2, LineDomain{k + 1}.x_at_storage(2 * h).v);
      EXPECT_EQ(all[16 + (1u << k) + h] / 2, CanonicCoset{k + 1}.at_storage(2 * h).y.v);
    }
  }
}

}  // namespace
}  // namespace stwo::gpu
