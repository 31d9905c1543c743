// A program with the recorder in it, as the driver would load it:
//   inject_host RECORDER FAKE_CUPTI HOW
// HOW is exit, _exit, fork, late or calls.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/prof/cupti/fake_cupti.hpp"

namespace {

template <class Function>
Function* find(void* library, const char* name) {
  void* symbol = library == nullptr ? nullptr : ::dlsym(library, name);
  if (symbol == nullptr) {
    std::fprintf(stderr, "inject_host: %s\n", ::dlerror());
    std::_Exit(9);
  }
  return reinterpret_cast<Function*>(symbol);
}

CUpti_ActivityKernel10 kernel(uint32_t corr) {
  CUpti_ActivityKernel10 k{};
  k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  k.start = 1'700'000'000'000'000'100;
  k.end = 1'700'000'000'000'000'200;
  k.correlationId = corr;
  k.name = "_Z3addPi";
  return k;
}

decltype(&fake_deliver) deliver = nullptr;

void deliver_kernel(uint32_t corr) {
  const auto k = kernel(corr);
  deliver(&k, sizeof k);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 9;
  const std::string how = argv[3];
  void* recorder = ::dlopen(argv[1], RTLD_NOW);
  void* cupti = ::dlopen(argv[2], RTLD_NOW);
  deliver = find<void(const void*, size_t)>(cupti, "fake_deliver");
  const auto resource =
      find<void(CUpti_CallbackIdResource, const CUpti_ResourceData*)>(cupti, "fake_resource");
  const auto on_flush = find<void(const void*, size_t)>(cupti, "fake_on_flush");
  const auto calls = find<const char*()>(cupti, "fake_calls");
  // Registered before the recorder's own, so it runs after it: a static object of the program.
  if (how == "late") std::atexit([] { deliver_kernel(99); });

  const auto initialize = find<int()>(recorder, "InitializeInjection");
  if (initialize() != 1 || initialize() != 1) return 8;
  if (how == "calls") {
    std::puts(calls());
    return 0;
  }
  CUpti_ModuleResourceData module{7, 3, "abc"};
  CUpti_ResourceData data{};
  data.context = reinterpret_cast<CUcontext>(&data);
  resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  data.resourceDescriptor = &module;
  resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
  deliver_kernel(1);
  if (how == "fork") {
    const pid_t child = ::fork();
    if (child == 0) {
      deliver_kernel(50);
      std::exit(0);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) return 7;
  }
  const auto last = kernel(2);
  on_flush(&last, sizeof last);
  if (how == "_exit") ::_exit(0);
  return 0;
}
