#include "prof/cupti/find_cupti.hpp"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "prover/errors.hpp"

namespace prof {
namespace {

struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

Library load(const std::string& name) {
  return Library(::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL));
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

/// File that a library was loaded from.
std::string path_of(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr)
    return {};
  return real_path(map->l_name);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

void add_toolkit(const std::string& root, std::vector<std::string>& folders) {
  if (root.empty()) return;
  for (const char* part : {"/lib64", "/extras/CUPTI/lib64", "/targets/x86_64-linux/lib"}) {
    folders.push_back(root + part);
  }
}

/// Loads one candidate; says why not in `tried`.
std::optional<CuptiLibrary> probe(const std::string& name, std::vector<std::string>& tried) {
  const Library library = load(name);
  if (!library) {
    const char* why = ::dlerror();
    tried.push_back(name + ": " + (why == nullptr ? "cannot be loaded" : why));
    return std::nullopt;
  }
  const auto get_version =
      reinterpret_cast<int (*)(uint32_t*)>(::dlsym(library.get(), "cuptiGetVersion"));
  uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0) {
    tried.push_back(name + ": not CUPTI (it has no version)");
    return std::nullopt;
  }
  CuptiLibrary out{path_of(library.get()), version, std::nullopt};
  if (const auto built = built_cupti_version()) out.fit = cupti_fit(version, *built);
  return out;
}

}  // namespace

std::optional<uint32_t> built_cupti_version() {
#ifdef STWO_PROF_CUPTI_HEADER_VERSION
  return STWO_PROF_CUPTI_HEADER_VERSION;
#else
  return std::nullopt;
#endif
}

CuptiPlaces cupti_places() {
  CuptiPlaces places;
  places.file = variable("STWO_PROF_CUPTI");
  for (const char* root : {"CUDA_HOME", "CUDA_PATH"}) add_toolkit(variable(root), places.folders);
  // The plain name is the installation's choice; of the others the newest comes first.
  add_toolkit("/usr/local/cuda", places.folders);
  glob_t found{};
  if (::glob("/usr/local/cuda-*", 0, nullptr, &found) == 0) {
    for (size_t i = found.gl_pathc; i > 0; --i) add_toolkit(found.gl_pathv[i - 1], places.folders);
  }
  ::globfree(&found);
  for (const char* name : {"libcudart.so.13", "libcudart.so"}) {
    if (const Library runtime = load(name)) {
      const std::string folder = folder_of(path_of(runtime.get()));
      places.folders.push_back(folder);
      places.folders.push_back(folder + "/../extras/CUPTI/lib64");
    }
  }
  places.folders.push_back(folder_of(real_path("/proc/self/exe")));
  return places;
}

CuptiSearch find_cupti(const CuptiPlaces& places) {
  std::vector<std::string> names;
  if (!places.file.empty()) {
    names.push_back(places.file);
  } else {
    if (places.loader) names.emplace_back(kCuptiName);
    for (const std::string& folder : places.folders) names.push_back(folder + "/" + kCuptiName);
  }
  CuptiSearch out;
  for (const std::string& name : names) {
    auto library = probe(name, out.tried);
    if (!library) continue;
    const bool usable = !library->fit || is_usable(*library->fit);
    if (usable) {
      out.found = std::move(library);
      break;
    }
    out.tried.push_back(library->path + ": version " + cupti_version_text(library->version) +
                        " does not fit");
    if (!out.found) out.found = std::move(library);
  }
  return out;
}

CuptiLibrary require_cupti(const CuptiSearch& search) {
  const auto built = built_cupti_version();
  if (!built) {
    throw stwo::EnvironmentError(
        "CUPTI_VERSION",
        "this program was built without CUPTI's header and has no recorder; run scripts/setup cuda "
        "and build again");
  }
  if (!search.found) {
    std::string places;
    for (const std::string& one : search.tried) places += (places.empty() ? "" : "; ") + one;
    throw stwo::EnvironmentError("CUPTI_MISSING", std::string("no ") + kCuptiName + " was found (" +
                                                      places +
                                                      "); install CUDA 13's CUPTI or set "
                                                      "STWO_PROF_CUPTI to its path");
  }
  const CuptiLibrary& library = *search.found;
  if (!library.fit || !is_usable(*library.fit)) {
    throw stwo::EnvironmentError(
        "CUPTI_VERSION", "CUPTI " + library.path + " has version " +
                             cupti_version_text(library.version) + " (expected " +
                             cupti_version_text(*built) +
                             " or newer of the same major version); set STWO_PROF_CUPTI to one "
                             "that fits");
  }
  return library;
}

}  // namespace prof
