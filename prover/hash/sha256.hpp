// SHA-256 (FIPS 180-4): names files, proofs, programs and binaries in reports. The protocol itself
// never uses it; its hash is Blake2s.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stwo {

/// Incremental hasher. update() in any split gives the same digest.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const uint8_t> bytes);
  void update(std::string_view text);
  /// Ends the message. The object must not be used afterwards.
  std::array<uint8_t, 32> finalize();

 private:
  void compress(const uint8_t* block);
  std::array<uint32_t, 8> h_;
  std::array<uint8_t, 64> block_{};
  size_t fill_ = 0;
  uint64_t length_ = 0;
};

/// Lowercase hex digest of a text.
std::string sha256_hex(std::string_view text);

}  // namespace stwo
