// Compiled kernels: which cubins belong to this binary, and loading them.
//
// Cubins are files beside the binary. The manifest, compiled into the binary at build time, holds
// the size and SHA-256 of each; a file that differs is not loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "kernels/runtime/driver_api.hpp"
#include "prover/report/device_report.hpp"

namespace stwo::gpu {

/// One built file.
struct CubinEntry {
  std::string module;  ///< name of its .cu file without the ending
  int sm = 0;          ///< 90: SM 9.0; of PTX, the oldest SM it can be compiled for
  ModuleKind kind = ModuleKind::kCubin;  ///< kCubin or kPtx: nothing else is built
  uint64_t bytes = 0;
  std::string sha256;     ///< 64 lowercase hex digits
  std::string file_name;  ///< inside the cubin directory
  std::vector<std::string> kernels;
};

struct CubinManifest {
  std::vector<CubinEntry> entries;
  std::string nvcc_version;  ///< "13.0.88"
  std::string arch_list;     ///< "80;90"

  /// SHA-256 over all entries: names the whole set of kernels in reports.
  std::string identity_sha256() const;
};

/// The manifest of this build's kernels (generated). Empty in a build without nvcc.
const CubinManifest& built_in_cubin_manifest();

/// The folder "cubins" beside the running program.
std::filesystem::path default_cubin_directory();

/// A loaded module, for reports.
struct ModuleInfo {
  std::string name;
  std::string sha256;
  uint64_t bytes = 0;
  ModuleKind kind = ModuleKind::kCubin;
  int sm = 0;
  uint32_t load_ordinal = 0;  ///< 0 is the first load of this runtime
  std::string loaded_in;      ///< stage of the lookup that loaded it: "init", "prepare", or a bug
};

/// How often lookups found their module loaded.
struct AotStatus {
  uint64_t entries = 0;     ///< of the manifest
  uint64_t loads = 0;       ///< modules loaded
  uint64_t cache_hits = 0;  ///< kernel lookups that loaded nothing
  uint64_t misses = 0;      ///< kernel lookups that found no kernel, no entry or no valid file
  bool strict = true;       ///< PTX is not allowed
};

/// A kernel that can be launched: a handle, valid as long as the runtime that gave it.
struct Kernel {
  CUfunction function = nullptr;
  std::string_view name;
  std::string_view module;
  uint32_t max_threads = 0;               ///< per block
  uint32_t max_dynamic_shared_bytes = 0;  ///< a launch may ask for
};

/// The modules of one context. Not thread-safe. The context is current in every call and still
/// alive in the destructor's.
class Modules {
 public:
  /// `driver` outlives it.
  Modules(DriverApi& driver, CubinManifest manifest, const DeviceIdentity& device,
          std::filesystem::path directory, bool allow_ptx);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// Loads a module, unless it is loaded. `stage` says when, for reports.
  /// Throws EnvironmentError: SM_UNSUPPORTED (no cubin for this device and PTX is not allowed or
  /// there is none), CUBIN_MISSING (no such file), CUBIN_ALTERED (size or digest differs);
  /// ContractError for a module that the manifest does not have; CudaError when the driver refuses
  /// it.
  const ModuleInfo& load(std::string_view module, std::string_view stage);

  /// Finds a kernel, loading its module first if need be, and lets its launches have up to
  /// dynamic_shared_bytes. Throws what load() throws; ContractError for a kernel that no module
  /// has; EnvironmentError DEVICE_UNSUPPORTED when the device has less shared memory.
  Kernel kernel(std::string_view name, uint32_t dynamic_shared_bytes, std::string_view stage);

  /// In order of loading.
  std::vector<ModuleInfo> loaded() const;
  const AotStatus& status() const { return status_; }
  const CubinManifest& manifest() const { return manifest_; }

 private:
  struct Loaded {
    CUmodule handle = nullptr;
    ModuleInfo info;
  };
  const CubinEntry& choose(std::string_view module) const;
  Loaded& load_module(std::string_view module, std::string_view stage);
  Kernel& find(std::string_view name, std::string_view stage);
  void check(CUresult result, std::string_view call, std::string_view stage,
             std::string_view kernel) const;

  DriverApi& driver_;
  CubinManifest manifest_;
  DeviceIdentity device_;
  std::filesystem::path directory_;
  AotStatus status_;
  std::map<std::string, std::string, std::less<>> module_of_kernel_;
  std::map<std::string, Loaded, std::less<>> loaded_;
  std::map<std::string, Kernel, std::less<>> kernels_;
};

}  // namespace stwo::gpu
