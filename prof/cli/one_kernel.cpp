// The smallest CUDA program: one kernel on the first device, through the driver alone.

#include <dlfcn.h>

#include <cstdint>

#include "prof/cli/arguments.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

// The driver compiles it for whatever device there is.
constexpr const char* kKernel =
    ".version 7.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry one_kernel() { ret; }\n";

class Driver {
 public:
  Driver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      throw stwo::EnvironmentError("DRIVER_MISSING",
                                   "libcuda.so.1 can't be loaded; install the NVIDIA driver");
    }
  }
  template <class... Parameters, class... Arguments>
  void call(const char* name, Arguments... arguments) {
    using Function = int (*)(Parameters...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_, name));
    const int status = function == nullptr ? -1 : function(arguments...);
    if (status != 0) {
      throw stwo::EnvironmentError("DRIVER_CALL",
                                   std::string(name) + " failed with " + std::to_string(status) +
                                       "; see `stwo-prof cuda caps` for what this machine has");
    }
  }

 private:
  void* library_;
};

int launch() {
  Driver driver;
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  void* function = nullptr;
  driver.call<unsigned>("cuInit", 0U);
  driver.call<int*, int>("cuDeviceGet", &device, 0);
  driver.call<void**, int>("cuDevicePrimaryCtxRetain", &context, device);
  driver.call<void*>("cuCtxSetCurrent", context);
  driver.call<void**, const void*>("cuModuleLoadData", &module, kKernel);
  driver.call<void**, void*, const char*>("cuModuleGetFunction", &function, module, "one_kernel");
  driver.call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
              void**, void**>("cuLaunchKernel", function, 1U, 1U, 1U, 1U, 1U, 1U, 0U, nullptr,
                              nullptr, nullptr);
  driver.call<>("cuCtxSynchronize");
  return 0;
}

}  // namespace

void add_one_kernel_command(CLI::App& app, CommandRun* run) {
  CLI::App* command = app.add_subcommand("one-kernel", "Launch one kernel and end");
  command->group("");
  command->callback([=] { *run = launch; });
}

}  // namespace prof
