// Bytes as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stwo {

/// Lowercase hex of bytes.
std::string to_hex(std::span<const uint8_t> bytes);

}  // namespace stwo
