#include "prover/hash/sha256.hpp"
#include "prover/hash/hex.hpp"

#include <gtest/gtest.h>

#include <string>

#include "prover/hash/blake2s.hpp"

namespace stwo {
namespace {

struct Vector {
  std::string message;
  const char* digest;
};

// FIPS 180-4 examples and the CAVP short messages.
TEST(Sha256, PublishedVectors) {
  const Vector vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "o"
       "pqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
      {std::string("\xd3", 1), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
  };
  for (const Vector& v : vectors) {
    EXPECT_EQ(sha256_hex(v.message), v.digest) << "message of " << v.message.size() << " bytes";
  }
}

// Every length around the padding's two cases, fed in every possible split in two.
TEST(Sha256, SplitDoesNotMatter) {
  std::string message;
  for (int length = 0; length <= 130; ++length) {
    const std::string whole = sha256_hex(message);
    for (size_t cut = 0; cut <= message.size(); ++cut) {
      Sha256 hasher;
      hasher.update(std::string_view(message).substr(0, cut));
      hasher.update(std::string_view(message).substr(cut));
      ASSERT_EQ(to_hex(hasher.finalize()), whole) << "length " << length << ", cut at " << cut;
    }
    message += static_cast<char>('a' + length % 26);
  }
}

TEST(Sha256, LengthsAroundABlockDiffer) {
  // Digests of 55, 56 and 64 letters 'a', from coreutils sha256sum.
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace stwo
