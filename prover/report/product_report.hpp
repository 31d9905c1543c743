// The product report: one JSON object that says what was proven by which build, how long every part
// took and what it cost. Written by `stwo prove --report-out`, read by the profiler and the judge.
// One schema for all backends: blocks that only a device has are null in a CPU report, each with
// its reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prover/backend.hpp"
#include "prover/report/device_report.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// The crate whose bytes the protocol reproduces.
inline constexpr std::string_view kProtocolCrate = "stwo 2.3.0";

enum class RequestRole : uint8_t { kFirst, kWarmup, kSteady };
std::string_view request_role_name(RequestRole role);

/// One verified request: prove, encode, decode the encoding, verify the decoded proof.
struct RequestRecord {
  RequestRole role = RequestRole::kFirst;
  // Wall clock, only to align a capture of another tool; durations are measured apart from it.
  uint64_t begin_ns = 0;
  uint64_t resident_begin_ns = 0;
  uint64_t resident_end_ns = 0;
  uint64_t end_ns = 0;
  // Monotonic clock.
  uint64_t resident_prove = 0;
  uint64_t encode = 0;
  uint64_t terminal_decode = 0;
  uint64_t independent_verification = 0;
  uint64_t verified_request = 0;
  /// Host time: with a device, the time to submit.
  StageTimes stages;
  /// Set exactly when the backend has a device.
  std::optional<RequestTelemetry> device;
  std::string canonical_sha256;
};

/// Where the program came from. Unset: built outside a checkout.
struct BuildIdentity {
  std::string product_version;
  std::optional<std::string> source_commit;
  std::optional<std::string> source_tree;
  std::optional<bool> dirty;
  /// Set exactly when dirty.
  std::optional<std::string> dirty_sha256;
  std::string build_type;
  std::string host_compiler;
};

/// What another verifier said about the same proof.
struct OracleReceipt {
  std::string name;
  bool accepted = false;
  std::string receipt_sha256;
};

struct HostDescription {
  std::string model_name;
  std::string instruction_set;
  uint32_t threads = 0;
  uint32_t logical_cpus = 0;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> peak_rss_bytes;
};

struct LifecycleTimes {
  /// Resolution: one clock tick of the kernel, commonly 10 ms.
  std::optional<uint64_t> process_start_to_main;
  uint64_t runtime_init = 0;
  uint64_t shape_prepare = 0;
  uint64_t first_request = 0;
  uint64_t runtime_teardown = 0;
  uint64_t total_before_publication = 0;
};

struct ProductReport {
  /// Backend::name() of what made the proof.
  std::string backend = "cpu";
  std::shared_ptr<const ProofShape> shape;
  BuildIdentity build;
  std::string binary_sha256;
  std::string created_utc;
  HostDescription host;
  std::string proof_path;
  uint64_t proof_bytes = 0;
  bool verified = false;
  std::optional<OracleReceipt> oracle;
  LifecycleTimes lifecycle;
  std::vector<RequestRecord> requests;
  /// Of a backend without a device.
  MemoryPlan memory;
  /// Set exactly when the backend has a device.
  std::optional<DeviceReport> device;
};

/// The report's text: indented JSON, one newline at the end. Same input, same bytes.
/// Throws ContractError if the device parts are set for some requests only, or for a CPU run.
std::string write_product_report(const ProductReport& report);

/// Name of a statement as a workload, e.g. wide_fibonacci_log16x100: parameters at their default
/// are left out.
std::string workload_id(const ProofShape& shape);
/// SHA-256 over the text that fixes the protocol: crate version, channel, config and whether the
/// config is absorbed.
std::string protocol_manifest_sha256(const Statement& statement, const PcsConfig& config);

}  // namespace stwo
