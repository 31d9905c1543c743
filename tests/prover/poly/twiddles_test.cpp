#include "prover/poly/twiddles.hpp"

#include <gtest/gtest.h>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

TEST(TwiddleTree, LayoutOfCanonicLogFour) {
  const uint32_t domains[] = {4};
  const TwiddleTree tree(4, domains);
  // Values of the crate's tree for this domain.
  const uint32_t expected[] = {1179735656, 1241207368, 1415090252, 2112881577,
                               590768354,  978592373,  32768,      1};
  ASSERT_EQ(tree.tree().size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(tree.tree()[i], 2 * expected[i]) << i;
}

TEST(TwiddleTree, LayersAreTheDocumentedCoordinates) {
  constexpr uint32_t kMax = 9;
  std::vector<uint32_t> domains;
  for (uint32_t n = 1; n <= kMax; ++n) domains.push_back(n);
  const TwiddleTree tree(kMax, domains);
  for (uint32_t n = 1; n <= kMax; ++n) {
    const FftLayers forward = tree.forward(n);
    const FftLayers inverse = tree.inverse(n);
    for (uint32_t k = 0; k < n; ++k) {
      Coset coset = CanonicCoset{n}.half_coset();
      for (uint32_t i = 1; i < k; ++i) coset = coset.doubled();
      for (uint32_t h = 0; h < (1u << (n - 1 - k)); ++h) {
        const M31 expected =
            k == 0 ? CanonicCoset{n}.at_storage(2 * h).y : coset.at(bit_reverse(h, n - 1 - k)).x;
        ASSERT_EQ(forward.layer[k][h], 2 * expected.v) << n << " " << k << " " << h;
        ASSERT_EQ(M31(inverse.layer[k][h] / 2) * expected, M31(1));
      }
    }
  }
  for (uint32_t m = 1; m < kMax; ++m) {
    for (uint32_t k = 0; k < (1u << (m - 1)); ++k) {
      ASSERT_EQ(M31(tree.line_inverse_x(m)[k] / 2) * LineDomain{m}.x_at_storage(2 * k), M31(1));
    }
  }
}

TEST(TwiddleTree, UnpreparedDomainIsAContractError) {
  const uint32_t domains[] = {4};
  const TwiddleTree tree(6, domains);
  EXPECT_THROW(tree.forward(5), ContractError);
  EXPECT_THROW(tree.line_inverse_x(6), ContractError);
  const uint32_t too_large[] = {7};
  EXPECT_THROW(TwiddleTree(6, too_large), ContractError);
}

}  // namespace
}  // namespace stwo
