#include "kernels/emulator/emulated_runtime.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "kernels/emulator/emulator.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo::gpu {
namespace {

/// A folder of this process, removed when it ends.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "stwo_emulator_XXXXXX").string();
    STWO_CHECK(mkdtemp(pattern.data()) != nullptr, "cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

CubinManifest write_emulator_manifest(const std::filesystem::path& directory, int sm) {
  // Begins as a cubin does, so that its load is not counted as a compilation.
  const std::string image =
      "\x7f"
      "ELF of the emulator, sm_" +
      std::to_string(sm);
  CubinEntry entry;
  entry.module = "emulator";
  entry.sm = sm;
  entry.bytes = image.size();
  entry.sha256 = sha256_hex(image);
  entry.file_name = "emulator.sm_" + std::to_string(sm) + ".cubin";
  for (const emulator::KernelInfo& kernel : emulator::kernels())
    entry.kernels.push_back(kernel.name);
  std::ofstream(directory / entry.file_name, std::ios::binary) << image;
  return {{entry}, "emulator", std::to_string(sm)};
}

EmulatedRuntime make_emulated_runtime(EmulatedDeviceConfig config, RuntimeOptions options,
                                      std::shared_ptr<FaultPlan> faults) {
  static const TemporaryDirectory directory;
  const int sm = config.sm_major * 10 + config.sm_minor;
  EmulatedRuntime out;
  out.device = std::make_shared<EmulatedDevice>(std::move(config));
  out.faults = faults ? std::move(faults) : std::make_shared<FaultPlan>();
  options.cubin_directory = directory.path();
  out.runtime = std::make_unique<CudaRuntime>(
      std::make_unique<FaultDriver>(make_emulated_driver(out.device), out.faults),
      write_emulator_manifest(directory.path(), sm), std::move(options));
  return out;
}

}  // namespace stwo::gpu
