#include "kernels/runtime/modules.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "kernels/runtime/errors.hpp"
#include "prover/hash/blake2s.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo::gpu {
namespace {

/// What a launch may have without asking for more.
constexpr uint32_t kDefaultDynamicShared = 48 * 1024;

std::string sm_text(int sm) { return "sm_" + std::to_string(sm); }

/// The bytes of a manifest's file, exactly those that the build made.
std::vector<uint8_t> read_checked(const CubinEntry& entry, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw EnvironmentError("CUBIN_MISSING", "cannot read the compiled kernels " + path.string() +
                                                ": build the target stwo_cuda_cubins, or keep the "
                                                "folder cubins beside the program");
  const auto altered = [&](const std::string& how) {
    return EnvironmentError("CUBIN_ALTERED", "the compiled kernels " + path.string() + " " + how +
                                                 " than those this program was built with: build "
                                                 "both again");
  };
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  // The size first: no unbounded read of a file that is not ours.
  if (error || size != entry.bytes) throw altered("have another size");
  std::vector<uint8_t> bytes(entry.bytes);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<uint64_t>(file.gcount()) != entry.bytes) throw altered("have another size");
  Sha256 hasher;
  hasher.update(bytes);
  if (to_hex(hasher.finalize()) != entry.sha256) throw altered("have another SHA-256");
  return bytes;
}

}  // namespace

std::string CubinManifest::identity_sha256() const {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (const CubinEntry& e : entries)
    lines.push_back(e.module + ' ' + std::to_string(e.sm) + ' ' +
                    std::string(module_kind_name(e.kind)) + ' ' + std::to_string(e.bytes) + ' ' +
                    e.sha256 + '\n');
  std::sort(lines.begin(), lines.end());
  std::string text = "stwo_cubins_v1\n";
  for (const std::string& line : lines) text += line;
  return sha256_hex(text);
}

std::filesystem::path default_cubin_directory() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("cubins") : program.parent_path() / "cubins";
}

Modules::Modules(DriverApi& driver, CubinManifest manifest, const DeviceIdentity& device,
                 std::filesystem::path directory, bool allow_ptx)
    : driver_(driver),
      manifest_(std::move(manifest)),
      device_(device),
      directory_(std::move(directory)) {
  status_.entries = manifest_.entries.size();
  status_.strict = !allow_ptx;
  for (const CubinEntry& entry : manifest_.entries)
    for (const std::string& kernel : entry.kernels) {
      const auto [found, added] = module_of_kernel_.try_emplace(kernel, entry.module);
      STWO_CHECK(added || found->second == entry.module,
                 "kernel " + kernel + " is in two modules: " + found->second + ", " + entry.module);
    }
}

Modules::~Modules() {
  for (auto& [name, module] : loaded_) driver_.module_unload(module.handle);
}

void Modules::check(CUresult result, std::string_view call, std::string_view stage,
                    std::string_view kernel) const {
  if (result != CUDA_SUCCESS)
    throw CudaError(result, driver_.error_name(result), driver_.error_text(result),
                    {call, stage, kernel});
}

const CubinEntry& Modules::choose(std::string_view module) const {
  const CubinEntry* ptx = nullptr;
  bool known = false;
  std::string built_for;
  for (const CubinEntry& entry : manifest_.entries) {
    if (entry.module != module) continue;
    known = true;
    if (entry.kind == ModuleKind::kPtx) {
      if (entry.sm <= device_.sm()) ptx = &entry;
      continue;
    }
    if (entry.sm == device_.sm()) return entry;
    built_for += (built_for.empty() ? "" : ", ") + sm_text(entry.sm);
  }
  STWO_CHECK(known, "no module " + std::string(module) + " in the manifest");
  if (ptx != nullptr && !status_.strict) return *ptx;
  std::string message = "no compiled kernels " + std::string(module) + " for " +
                        sm_text(device_.sm()) + " (" + device_.name + "); built for " + built_for +
                        ": build with STWO_CUDA_ARCHS=" + std::to_string(device_.sm());
  if (ptx != nullptr) message += ", or allow PTX for a slower start";
  throw EnvironmentError("SM_UNSUPPORTED", message);
}

Modules::Loaded& Modules::load_module(std::string_view module, std::string_view stage) {
  if (const auto found = loaded_.find(module); found != loaded_.end()) return found->second;
  const CubinEntry& entry = choose(module);
  std::vector<uint8_t> bytes = read_checked(entry, directory_ / entry.file_name);
  // The driver takes PTX as a C string.
  if (entry.kind == ModuleKind::kPtx) bytes.push_back(0);
  Loaded loaded;
  loaded.info = {entry.module,      entry.sha256, entry.bytes,
                 entry.kind,        entry.sm,     static_cast<uint32_t>(status_.loads),
                 std::string(stage)};
  // The node exists before the driver's module does: nothing can fail once it is loaded.
  Loaded& slot = loaded_.try_emplace(entry.module, std::move(loaded)).first->second;
  const CUresult result = driver_.module_load_data(&slot.handle, bytes);
  if (result != CUDA_SUCCESS) {
    loaded_.erase(loaded_.find(module));
    check(result, "cuModuleLoadData", stage, module);
  }
  ++status_.loads;
  return slot;
}

const ModuleInfo& Modules::load(std::string_view module, std::string_view stage) {
  return load_module(module, stage).info;
}

Kernel& Modules::find(std::string_view name, std::string_view stage) {
  if (const auto found = kernels_.find(name); found != kernels_.end()) {
    ++status_.cache_hits;
    return found->second;
  }
  const auto module = module_of_kernel_.find(name);
  STWO_CHECK(module != module_of_kernel_.end(), "no module has a kernel " + std::string(name));
  const bool was_loaded = loaded_.contains(module->second);
  const Loaded& loaded = load_module(module->second, stage);
  if (was_loaded) ++status_.cache_hits;
  Kernel kernel;
  check(driver_.module_get_function(&kernel.function, loaded.handle, module->first.c_str()),
        "cuModuleGetFunction", stage, name);
  int max_threads = 0;
  check(driver_.function_get_attribute(&max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                       kernel.function),
        "cuFuncGetAttribute", stage, name);
  kernel.name = module->first;
  kernel.module = module->second;
  kernel.max_threads = static_cast<uint32_t>(max_threads);
  kernel.max_dynamic_shared_bytes = kDefaultDynamicShared;
  return kernels_.try_emplace(module->first, kernel).first->second;
}

Kernel Modules::kernel(std::string_view name, uint32_t dynamic_shared_bytes,
                       std::string_view stage) {
  try {
    Kernel& kernel = find(name, stage);
    if (dynamic_shared_bytes > kernel.max_dynamic_shared_bytes) {
      if (dynamic_shared_bytes > device_.max_shared_per_block_bytes)
        throw EnvironmentError(
            "DEVICE_UNSUPPORTED",
            "kernel " + std::string(name) + " needs " + std::to_string(dynamic_shared_bytes) +
                " bytes of shared memory per block; " + device_.name + " has " +
                std::to_string(device_.max_shared_per_block_bytes) + ": use another device");
      check(driver_.function_set_attribute(kernel.function,
                                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(dynamic_shared_bytes)),
            "cuFuncSetAttribute", stage, name);
      kernel.max_dynamic_shared_bytes = dynamic_shared_bytes;
    }
    return kernel;
  } catch (...) {
    ++status_.misses;
    throw;
  }
}

std::vector<ModuleInfo> Modules::loaded() const {
  std::vector<ModuleInfo> out;
  for (const auto& [name, module] : loaded_) out.push_back(module.info);
  std::sort(out.begin(), out.end(), [](const ModuleInfo& a, const ModuleInfo& b) {
    return a.load_ordinal < b.load_ordinal;
  });
  return out;
}

}  // namespace stwo::gpu
