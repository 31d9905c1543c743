// CudaPlan: a proof program compiled for one device. Every launch of a request is written down with
// its geometry and arguments, every buffer has its place, and the traffic of every pass is
// predicted before anything runs. Plain data: made and tested without a device.
//
// Arguments hold buffer references (relocations) until a prepared shape binds them to addresses, so
// that a plan says which launch reads and writes what.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prover/program/proof_program.hpp"
#include "prover/report/device_report.hpp"

namespace stwo::gpu {

/// Changes when a schedule changes for the same program.
inline constexpr uint32_t kScheduleVersion = 1;

/// What a plan is compiled for. Every field is part of the cache key.
struct PlanTarget {
  uint32_t sm = 90;  ///< 90 for 9.0
  std::string device_uuid;
  uint32_t multiprocessors = 132;
  uint64_t memory_bytes = 0;  ///< of the device
  int driver_version = 0;     ///< newest CUDA of the driver; 13000 is 13.0
  std::string toolkit;        ///< nvcc version
  std::string host_toolchain;
  std::string module_digest;  ///< identity of the set of cubins
};

/// Differences in schedule that tests compare with each other.
struct PlanOptions {
  /// Takes the full-domain composition also where degree 2 allows the half-domain one.
  bool full_domain_composition = false;
};

enum class Region : uint8_t {
  kTables,     ///< twiddle tables: resident per process
  kShape,      ///< written when the shape is prepared, read by every request
  kConstants,  ///< descriptors: uploaded when the shape is prepared
  kArena,      ///< request-local, aliased
  kTerminal,   ///< copied to the host at the end of a request
};
std::string_view region_name(Region region);
/// What holds for every buffer of a region: lifetime, owner, unwinding, eviction, mutability,
/// aliasing; the buffer's own fields are empty.
ResourceRecord region_rules(Region region);

struct PlanBuffer {
  std::string name;
  Region region = Region::kArena;
  uint64_t bytes = 0;
  uint64_t alignment = 256;
  uint64_t offset = 0;  ///< inside its region
  /// First and last launch of the request that uses it; kShape and kConstants: all of them.
  uint32_t first_launch = 0;
  uint32_t last_launch = 0;
  std::string producer;       ///< kernel that first writes it
  std::string last_consumer;  ///< kernel that last uses it
  bool written_in_request = false;
};

/// A place in a buffer.
struct BufferRef {
  uint32_t buffer = 0;
  uint64_t offset = 0;  ///< bytes
};

/// The eight bytes at `at` of an argument block are the address of `target`.
struct Relocation {
  uint32_t at = 0;
  BufferRef target;
};

/// How a launch uses a buffer, in bytes of device-memory traffic.
struct BufferUse {
  uint32_t buffer = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
};

struct PlanLaunch {
  std::string kernel;
  std::string pass;  ///< what it is for: "lde high layers of main.wide_fibonacci"
  Stage stage = Stage::kIngress;
  uint32_t grid_x = 1;
  uint32_t grid_y = 1;
  uint32_t threads = 0;
  uint32_t shared_bytes = 0;
  std::vector<uint8_t> args;
  std::vector<Relocation> relocations;
  std::vector<BufferUse> uses;  ///< one entry per buffer
  std::vector<uint32_t> nodes;  ///< program nodes it carries out, or part of one
  /// Transcript operations at its end.
  uint32_t transcript_ops = 0;
};

/// A block of descriptors with addresses in it.
struct PlanConstant {
  uint32_t buffer = 0;
  std::vector<uint8_t> bytes;
  std::vector<Relocation> relocations;
};

/// Where everything lies in the terminal buffer; offsets in 32-bit words.
struct TerminalLayout {
  struct Opening {
    uint64_t n_witness = 0;  ///< word that counts the siblings
    uint64_t witness = 0;
    uint64_t witness_capacity = 0;  ///< digests
    uint64_t n_fri_witness = 0;
    uint64_t fri_witness = 0;
    uint64_t fri_witness_capacity = 0;  ///< QM31
  };
  uint64_t status = 0;
  uint64_t n_positions = 0;
  uint64_t nonce = 0;
  uint64_t log = 0;         ///< eight words per entry
  uint64_t roots = 0;       ///< eight words per tree
  uint64_t fri_roots = 0;   ///< eight words per layer
  uint64_t challenges = 0;  ///< four words each, as in the program
  uint64_t point = 0;       ///< Z: x, y
  uint64_t sampled_values = 0;
  uint64_t last_layer = 0;
  uint64_t positions = 0;
  std::vector<uint64_t> queried_values;  ///< per tree: column-major, `position_capacity` apart
  std::vector<Opening> trees;
  std::vector<Opening> fri_layers;
  uint64_t position_capacity = 0;
  uint64_t words = 0;
  /// Transcript log entries in order, named like the CPU prover's steps.
  std::vector<std::string> log_steps;
};

/// The layout for a program; log_steps is filled as the plan is compiled. Throws UsageError SHAPE
/// when the largest possible proof exceeds what is read back at once (1 GiB).
TerminalLayout make_terminal_layout(const ProofProgram& program);

/// A preprocessed column written by the host when the shape is prepared.
struct PlanUpload {
  uint32_t column = 0;
  BufferRef target;
};

struct CudaPlan {
  std::shared_ptr<const ProofProgram> program;
  PlanTarget target;
  PlanOptions options;
  bool half_domain = false;
  uint32_t table_log = 0;  ///< the twiddle tables hold all domains up to this log

  std::vector<PlanBuffer> buffers;
  std::vector<PlanConstant> constants;
  std::vector<PlanUpload> uploads;
  std::vector<PlanLaunch> prepare_launches;
  std::vector<PlanLaunch> launches;
  TerminalLayout terminal;

  uint64_t tables_bytes = 0;
  uint64_t shape_bytes = 0;
  uint64_t constants_bytes = 0;
  uint64_t arena_bytes = 0;
  uint64_t arena_live_peak = 0;
  uint64_t terminal_bytes = 0;
  /// Device memory of one prepared shape with its tables.
  uint64_t device_bytes() const {
    return tables_bytes + shape_bytes + constants_bytes + arena_bytes + terminal_bytes;
  }

  std::string cache_key;  ///< SHA-256, hex

  /// Which of the tables (order of kernels/tables/tables_args.hpp) a kTables buffer is.
  uint32_t table_index(uint32_t buffer) const;
  /// One row per launch. Input: first reads of what an earlier launch (or preparation) wrote;
  /// reread: further reads; temporary: output that no later stage reads; barrier: ends with
  /// transcript operations that later launches wait for.
  std::vector<PassRecord> pass_ledger() const;
  /// One record per buffer.
  std::vector<ResourceRecord> resources() const;
  uint64_t transcript_barriers() const;
};

/// Compiles a program. Throws EnvironmentError OUT_OF_DEVICE_MEMORY when the device is too small
/// (target.memory_bytes, unless 0), UsageError SHAPE for what this backend does not do, with the
/// reason.
CudaPlan compile_plan(std::shared_ptr<const ProofProgram> program, const PlanTarget& target,
                      const PlanOptions& options = {});

/// Digest of everything that makes a prepared plan reusable.
std::string plan_cache_key(const ProofProgram& program, const PlanTarget& target,
                           const PlanOptions& options);

/// For people: launches, ledger and resource table.
std::string plan_to_text(const CudaPlan& plan);
/// The same as one JSON object (schema stwo_plan_v1).
std::string plan_to_json(const CudaPlan& plan);

}  // namespace stwo::gpu
