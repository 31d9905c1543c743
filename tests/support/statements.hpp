// Statements of the wide-Fibonacci family, by their sizes.
#pragma once

#include "prover/air/statement.hpp"

namespace stwo::test {

inline Statement fibonacci(uint64_t log_n_rows, uint64_t sequence_len,
                           HashVariant channel = HashVariant::kBlake2s, bool mix_config = false) {
  Statement s;
  s.air = "wide_fibonacci";
  s.channel = channel;
  s.mix_config = mix_config;
  s.parameters = {{"log_n_rows", log_n_rows}, {"sequence_len", sequence_len}};
  return s;
}

inline Statement pair(uint64_t log_a, uint64_t len_a, uint64_t log_b, uint64_t len_b,
                      uint64_t enabled = 1) {
  Statement s;
  s.air = "wide_fibonacci_pair";
  s.parameters = {{"log_n_rows", log_a},
                  {"sequence_len", len_a},
                  {"second_log_n_rows", log_b},
                  {"second_sequence_len", len_b},
                  {"second_enabled", enabled}};
  return s;
}

inline Statement sequence(uint64_t log_n_rows, uint64_t sequence_len, uint64_t unused = 0) {
  Statement s;
  s.air = "wide_fibonacci_seq";
  s.parameters = {
      {"log_n_rows", log_n_rows}, {"sequence_len", sequence_len}, {"unused_log_n_rows", unused}};
  return s;
}

}  // namespace stwo::test
