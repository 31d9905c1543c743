// NVIDIA's run-time compiler, loaded when it is asked for: builds and machines without it lose
// research compilation only. It needs no GPU and no driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stwo::gpu {

/// What ptxas says about the kernel of a text with one kernel.
struct KernelResources {
  bool known = false;
  uint32_t registers = 0;
  uint32_t spill_store_bytes = 0;
  uint32_t spill_load_bytes = 0;
};
/// Reads them from a compiler log.
KernelResources parse_resources(const std::string& log);

struct CompiledText {
  std::vector<uint8_t> cubin;
  std::string log;
  KernelResources resources;
};

class Nvrtc {
 public:
  /// Loads libnvrtc.so.13: the given file, or with an empty path the first that loads of: the
  /// loader's own search (LD_LIBRARY_PATH), $CUDA_HOME and $CUDA_PATH, /usr/local/cuda.
  /// Throws EnvironmentError NVRTC.
  static Nvrtc load(const std::string& path);

  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;
  ~Nvrtc();

  /// "13.0"
  const std::string& version() const;
  /// SMs it compiles for, ascending.
  const std::vector<uint32_t>& supported_sms() const;

  /// Compiles text to a cubin for sm_XX. `name` names the text in messages.
  /// Throws UsageError NUMBER for an SM it does not know, EnvironmentError NVRTC with the log's
  /// first error for text that does not compile.
  CompiledText compile(const std::string& text, const std::string& name, uint32_t sm) const;

 private:
  struct Library;
  explicit Nvrtc(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace stwo::gpu
