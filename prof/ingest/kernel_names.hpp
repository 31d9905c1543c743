// Names of kernels as people read them.
#pragma once

#include <string>

namespace prof {

/// Demangled name with template arguments and parameters; the name itself if it is not mangled.
std::string demangled_name(const std::string& mangled);

/// Base name of a demangled one: "add" of "void ns::add<int>(int*)".
std::string short_kernel_name(const std::string& demangled);

}  // namespace prof
