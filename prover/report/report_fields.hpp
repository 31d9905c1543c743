// What the report's writer and its checker share, so that they cannot disagree. Internal.
#pragma once

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "prover/report/device_report.hpp"

namespace stwo {

using Json = nlohmann::ordered_json;

/// A number of a per-request block: its key, and where it lies in the struct.
template <class T>
struct Field {
  const char* key;
  uint64_t T::*member;
};
inline constexpr Field<RequestCounters> kCounterFields[] = {
    {"kernel_launches", &RequestCounters::kernel_launches},
    {"graph_launches", &RequestCounters::graph_launches},
    {"graph_instantiations", &RequestCounters::graph_instantiations},
    {"graph_updates", &RequestCounters::graph_updates},
    {"graph_cache_hits", &RequestCounters::graph_cache_hits},
    {"graph_cache_misses", &RequestCounters::graph_cache_misses},
    {"graph_fallbacks", &RequestCounters::graph_fallbacks},
    {"sync_calls", &RequestCounters::sync_calls},
    {"device_synchronizes", &RequestCounters::device_synchronizes},
    {"module_loads", &RequestCounters::module_loads},
    {"jit_compiles", &RequestCounters::jit_compiles},
    {"allocations", &RequestCounters::allocations},
    {"frees", &RequestCounters::frees},
    {"cpu_fallback_attempts", &RequestCounters::cpu_fallback_attempts},
    {"cpu_fallbacks_completed", &RequestCounters::cpu_fallbacks_completed},
};
static_assert(sizeof(RequestCounters) == std::size(kCounterFields) * sizeof(uint64_t));
inline constexpr Field<RequestTransfers> kTransferFields[] = {
    {"h2d_operations", &RequestTransfers::h2d_operations},
    {"h2d_bytes", &RequestTransfers::h2d_bytes},
    {"d2h_operations", &RequestTransfers::d2h_operations},
    {"d2h_bytes", &RequestTransfers::d2h_bytes},
    {"d2d_operations", &RequestTransfers::d2d_operations},
    {"d2d_bytes", &RequestTransfers::d2d_bytes},
    {"terminal_d2h_operations", &RequestTransfers::terminal_d2h_operations},
    {"terminal_d2h_bytes", &RequestTransfers::terminal_d2h_bytes},
    {"intermediate_d2h_operations", &RequestTransfers::intermediate_d2h_operations},
};
static_assert(sizeof(RequestTransfers) == std::size(kTransferFields) * sizeof(uint64_t));
/// What must not differ between requests that do the same work.
inline constexpr const char* kTopologyKeys[] = {
    "/counters/kernel_launches", "/counters/graph_launches",  "/counters/graph_instantiations",
    "/counters/graph_updates",   "/transfers/h2d_operations", "/transfers/d2h_operations",
    "/transfers/d2d_operations"};
/// Parts of accounted_peak. pool_reserved and pool_used are another view of the same bytes.
inline constexpr const char* kMemoryParts[] = {
    "persistent_runtime", "modules", "tables",  "cached_shapes", "graphs",
    "arena_high_water",   "scratch", "staging", "terminal_host"};

/// SHA-256 of the canonical JSON (sorted keys, compact) of everything but the digest itself.
std::string identity_digest(const Json& identity);

/// Why a report says nothing about the CUDA backend's speed; unset: it does. Works on the finished
/// values, so that writer and checker can't disagree.
std::optional<std::string> ineligibility(const Json& report);

/// Lower median, so that the value is one that was measured.
uint64_t median(std::vector<uint64_t> values);

}  // namespace stwo
