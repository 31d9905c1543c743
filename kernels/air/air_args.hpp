// Arguments of the kernels that stwo_add_air generates for every script: trace rows and constraint
// quotients.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// A script object, byte for byte. Scripts are trivially copyable and hold sizes and constants.
struct ScriptBytes {
  static constexpr uint32_t kCapacity = 240;
  alignas(16) unsigned char bytes[kCapacity];
};

/// Trees a script can read columns of: 0 preprocessed (by request), 1 main trace, 2.. interaction.
inline constexpr uint32_t kMaxScriptTrees = 4;

/// Main-trace columns of one component: rows [0, n_rows), storage order.
struct TraceArgs {
  ScriptBytes script;
  uint32_t* base;
  uint64_t stride;
  uint64_t n_rows;
};

/// Weighted constraints over the vanishing polynomial, for rows [0, n_rows) of the extended
/// columns.
struct ConstraintArgs {
  ScriptBytes script;
  const uint32_t* base[kMaxScriptTrees];  ///< the component's first column in each tree
  uint64_t stride[kMaxScriptTrees];
  const uint32_t* const* preprocessed;  ///< one extended column per preprocessed request
  const uint32_t* weights;              ///< one QM31 per constraint of the component
  uint32_t* out;                        ///< four coordinate columns
  uint64_t out_stride;
  uint64_t n_rows;  ///< multiple of 4; columns and `out` have as many
  /// 1 / vanishing value of each of the first two blocks of 2^trace_log_size rows.
  uint32_t inverse_vanishing[2];
  uint32_t trace_log_size;
  uint32_t domain_log_size;
};

inline constexpr uint32_t kAirThreads = 256;
/// Rows a thread works on.
inline constexpr uint32_t kAirRows = 4;

}  // namespace stwo::gpu
