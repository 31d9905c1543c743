// Parameters of the polynomial commitment scheme and what they are worth in bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "prover/channel/channel.hpp"

namespace stwo {

/// Ranges are those of the crate (FriConfig::new asserts them) plus the two it only hangs on:
/// n_queries >= 1 (its draw loop never ends at 0) and pow_bits <= 32 (its SIMD prover asserts it).
struct FriConfig {
  uint32_t log_blowup_factor = 1;            ///< b, 1..16
  uint32_t log_last_layer_degree_bound = 0;  ///< e, 0..10
  uint32_t n_queries = 3;                    ///< q, 1..4096
  uint32_t fold_step = 1;                    ///< s, 1..16
  friend bool operator==(const FriConfig&, const FriConfig&) = default;
};

struct PcsConfig {
  uint32_t pow_bits = 10;  ///< 0..32
  FriConfig fri;
  /// Height of every tree but the preprocessed one; unset: the composition tree's own height.
  std::optional<uint32_t> lifting_log_size;
  friend bool operator==(const PcsConfig&, const PcsConfig&) = default;

  /// The crate's own measure, pow_bits + b * q: assumes about b bits a query (list decoding up to
  /// capacity, a conjecture).
  uint32_t heuristic_security_bits() const {
    return pow_bits + fri.log_blowup_factor * fri.n_queries;
  }
  /// What is proven under unique-decoding type bounds: about b/2 bits a query.
  uint32_t proven_security_bits() const {
    return pow_bits + fri.log_blowup_factor * fri.n_queries / 2;
  }

  /// Two felts in one mix_felts: (pow, b, q, e), (s, lifting or 0, 0, 0). Not part of prove/verify
  /// in the crate: the application decides, see Statement::mix_config.
  void mix_into(Channel& channel) const;
};

/// The crate's default: 10/1/3, fold 1. A timing protocol: 13 bits protect nothing.
PcsConfig fast_config();
/// Production parameters of stwo-cairo: pow 26, blowup 1, 70 queries, fold 1 (96 bits heuristic).
PcsConfig secure_config();

/// Throws UsageError naming the first parameter outside its range.
void check_config(const PcsConfig& config);

/// "fast", "secure" or "pow=,blowup=,queries=,last=,fold=,lift=" (any subset, others as in `fast`;
/// lift takes a number or "none"). Throws UsageError.
PcsConfig parse_config(std::string_view text);
/// The key=value form, complete.
std::string config_to_string(const PcsConfig& config);
/// "fast", "secure" or "custom".
std::string_view config_name(const PcsConfig& config);

}  // namespace stwo
