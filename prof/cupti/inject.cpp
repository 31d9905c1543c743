// Entry point of libstwoprof_inject.so: the CUDA driver calls it when a process whose environment
// has CUDA_INJECTION64_PATH initialises it.

#include "prof/cupti/recorder.hpp"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  prof::start_recorder();
  return 1;
}
