#include "prof/nvml/library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "prover/cli/terminal.hpp"

namespace prof {

Library::Library(const char* variable, const std::string& name) : name_(name) {
  const char* chosen = std::getenv(variable);
  if (chosen != nullptr && *chosen != '\0') name_ = chosen;
  handle_ = ::dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* why = ::dlerror();
  error_ = stwo::one_line(why == nullptr ? "cannot be loaded" : why);
}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* Library::find(std::initializer_list<const char*> symbols) const {
  for (const char* symbol : symbols) {
    if (handle_ == nullptr) break;
    if (void* found = ::dlsym(handle_, symbol); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace prof
