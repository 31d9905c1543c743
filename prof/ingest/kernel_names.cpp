#include "prof/ingest/kernel_names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace prof {

std::string demangled_name(const std::string& mangled) {
  if (mangled.rfind("_Z", 0) != 0) return mangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : mangled;
}

std::string short_kernel_name(const std::string& demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  // The part of the name that is open now: it begins behind the last "::" or space outside of all
  // brackets, and ends before its template arguments or parameters.
  std::string name;
  int depth = 0;
  bool ended = false;
  for (size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (depth == 0 && demangled.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (c == '(' && depth == 0) break;
    if (c == '<' || c == '(' || c == '[') {
      ++depth;
      ended = true;
    } else if (c == '>' || c == ')' || c == ']') {
      --depth;
    } else if (depth == 0 && (c == ':' || c == ' ')) {
      name.clear();
      ended = false;
    } else if (depth == 0 && !ended) {
      name += c;
    }
    if (depth < 0) return demangled;
  }
  return name.empty() ? demangled : name;
}

}  // namespace prof
