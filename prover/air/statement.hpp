// What is being proven: the AIR by name, its parameters, and how the transcript starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prover/hash/blake2s.hpp"

namespace stwo {

struct Statement {
  std::string air;
  HashVariant channel = HashVariant::kBlake2s;
  /// Absorb the PCS config before tree 0. Off in the crate's wide-Fibonacci example (and then the
  /// verifier must fix the config itself); on for anything that is not a compatibility vector.
  bool mix_config = false;
  /// In the AIR's declared order, every parameter present.
  std::vector<std::pair<std::string, uint64_t>> parameters;
  friend bool operator==(const Statement&, const Statement&) = default;

  /// Value of a parameter the AIR declares. A missing one is our bug: statements are completed and
  /// checked when they are made (Air::complete).
  uint64_t parameter(std::string_view name) const;
};

/// "blake2s" / "blake2s_m31".
std::string_view channel_name(HashVariant variant);
/// Throws UsageError for any other name.
HashVariant parse_channel(std::string_view name);

}  // namespace stwo
