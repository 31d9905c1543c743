#include "kernels/research/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr const char* kLibraryName = "libnvrtc.so.13";

// From nvrtc.h, which need not be there to build this file: an opaque handle, and results of which
// only success is told apart.
using NvrtcProgram = struct _nvrtcProgram*;
using NvrtcResult = int;
constexpr NvrtcResult kSuccess = 0;

struct Functions {
  const char* (*get_error_string)(NvrtcResult) = nullptr;
  NvrtcResult (*version)(int*, int*) = nullptr;
  NvrtcResult (*get_num_supported_archs)(int*) = nullptr;
  NvrtcResult (*get_supported_archs)(int*) = nullptr;
  NvrtcResult (*create_program)(NvrtcProgram*, const char*, const char*, int, const char* const*,
                                const char* const*) = nullptr;
  NvrtcResult (*destroy_program)(NvrtcProgram*) = nullptr;
  NvrtcResult (*compile_program)(NvrtcProgram, int, const char* const*) = nullptr;
  NvrtcResult (*get_cubin_size)(NvrtcProgram, size_t*) = nullptr;
  NvrtcResult (*get_cubin)(NvrtcProgram, char*) = nullptr;
  NvrtcResult (*get_log_size)(NvrtcProgram, size_t*) = nullptr;
  NvrtcResult (*get_log)(NvrtcProgram, char*) = nullptr;
};

[[noreturn]] void fail(const std::string& message) { throw EnvironmentError("NVRTC", message); }

/// Messages are one line.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// The first error of a compiler log, or its first line.
std::string first_error(std::string_view log) {
  std::string_view rest = log;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.find("error") != std::string_view::npos) return std::string(line);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return first_line(log);
}

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using LibraryHandle = std::unique_ptr<void, CloseLibrary>;

/// Stays in memory once loaded: what the compiler has allocated for itself is lost when it goes.
LibraryHandle open_library(const std::string& path) {
  return LibraryHandle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

std::string dl_error() {
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : first_line(error);
}

std::vector<std::string> search_paths() {
  std::vector<std::string> paths{kLibraryName};
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') roots.emplace_back(value);
  }
  for (const char* root : {"/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-13.0"}) {
    roots.emplace_back(root);
  }
  for (const std::string& root : roots) {
    for (const char* folder : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/"}) {
      paths.push_back(root + folder + kLibraryName);
    }
  }
  return paths;
}

/// The number before `unit`.
bool number_before(std::string_view text, std::string_view unit, uint32_t* value) {
  const size_t at = text.find(unit);
  if (at == std::string_view::npos) return false;
  size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return std::from_chars(text.data() + begin, text.data() + at, *value).ec == std::errc();
}

}  // namespace

struct Nvrtc::Library {
  LibraryHandle builtins;  // outlives the compiler, which is destroyed first
  LibraryHandle handle;
  std::string path;
  Functions f;
  std::string version;
  std::vector<uint32_t> sms;

  template <class F>
  void symbol(const char* name, F* out) {
    *out = reinterpret_cast<F>(dlsym(handle.get(), name));
    if (*out == nullptr) fail(path + " has no " + name + "; install the CUDA 13 toolkit");
  }

  void check(NvrtcResult result, const char* what) const {
    if (result != kSuccess) fail(std::string(what) + ": " + f.get_error_string(result));
  }

  void bind() {
    symbol("nvrtcGetErrorString", &f.get_error_string);
    symbol("nvrtcVersion", &f.version);
    symbol("nvrtcGetNumSupportedArchs", &f.get_num_supported_archs);
    symbol("nvrtcGetSupportedArchs", &f.get_supported_archs);
    symbol("nvrtcCreateProgram", &f.create_program);
    symbol("nvrtcDestroyProgram", &f.destroy_program);
    symbol("nvrtcCompileProgram", &f.compile_program);
    symbol("nvrtcGetCUBINSize", &f.get_cubin_size);
    symbol("nvrtcGetCUBIN", &f.get_cubin);
    symbol("nvrtcGetProgramLogSize", &f.get_log_size);
    symbol("nvrtcGetProgramLog", &f.get_log);
  }

  void identify() {
    int major = 0;
    int minor = 0;
    check(f.version(&major, &minor), "nvrtcVersion");
    version = std::to_string(major) + "." + std::to_string(minor);
    int n = 0;
    check(f.get_num_supported_archs(&n), "nvrtcGetNumSupportedArchs");
    std::vector<int> archs(static_cast<size_t>(std::max(n, 0)));
    if (!archs.empty()) check(f.get_supported_archs(archs.data()), "nvrtcGetSupportedArchs");
    sms.assign(archs.begin(), archs.end());
    std::sort(sms.begin(), sms.end());
    load_builtins();
  }

  /// The compiler opens its second library by name alone. One that is loaded already is found
  /// whatever the search path: so the file beside the compiler is. Where there is none the
  /// compiler's own search may still succeed.
  void load_builtins() {
    Dl_info where{};
    if (dladdr(reinterpret_cast<const void*>(f.version), &where) == 0) return;
    const std::string file = where.dli_fname == nullptr ? "" : where.dli_fname;
    const size_t slash = file.rfind('/');
    if (slash == std::string::npos) return;
    builtins = open_library(file.substr(0, slash) + "/libnvrtc-builtins.so." + version);
  }
};

namespace {

/// A program that is destroyed on every way out.
class ProgramHandle {
 public:
  ProgramHandle(const Functions& f, NvrtcProgram program) : f_(f), program_(program) {}
  ~ProgramHandle() { f_.destroy_program(&program_); }
  ProgramHandle(const ProgramHandle&) = delete;
  ProgramHandle& operator=(const ProgramHandle&) = delete;
  NvrtcProgram get() const { return program_; }

 private:
  const Functions& f_;
  NvrtcProgram program_;
};

}  // namespace

KernelResources parse_resources(const std::string& log) {
  KernelResources r;
  r.known = number_before(log, " registers", &r.registers);
  number_before(log, " bytes spill stores", &r.spill_store_bytes);
  number_before(log, " bytes spill loads", &r.spill_load_bytes);
  return r;
}

Nvrtc::Nvrtc(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;
Nvrtc::~Nvrtc() = default;

Nvrtc Nvrtc::load(const std::string& path) {
  auto library = std::make_unique<Library>();
  if (!path.empty()) {
    // A name without a slash would send the loader searching for another file.
    library->path = path.find('/') == std::string::npos ? "./" + path : path;
    library->handle = open_library(library->path);
    if (!library->handle) fail("NVRTC cannot be loaded: " + dl_error());
  } else {
    for (const std::string& candidate : search_paths()) {
      library->path = candidate;
      library->handle = open_library(candidate);
      if (library->handle) break;
    }
    if (!library->handle) {
      fail(std::string(kLibraryName) +
           " is neither on the library path nor in $CUDA_HOME, $CUDA_PATH or /usr/local/cuda; "
           "install the CUDA 13 toolkit or name the file with --nvrtc");
    }
  }
  library->bind();
  library->identify();
  return Nvrtc(std::move(library));
}

const std::string& Nvrtc::version() const { return library_->version; }
const std::vector<uint32_t>& Nvrtc::supported_sms() const { return library_->sms; }

CompiledText Nvrtc::compile(const std::string& text, const std::string& name, uint32_t sm) const {
  const std::vector<uint32_t>& sms = library_->sms;
  if (!std::binary_search(sms.begin(), sms.end(), sm)) {
    std::string known;
    for (const uint32_t s : sms) known += (known.empty() ? "" : ", ") + std::to_string(s);
    throw UsageError("NUMBER", "NVRTC " + library_->version + " does not compile for SM " +
                                   std::to_string(sm) + "; it knows " + known);
  }
  const Functions& f = library_->f;
  NvrtcProgram raw = nullptr;
  library_->check(f.create_program(&raw, text.c_str(), name.c_str(), 0, nullptr, nullptr),
                  "nvrtcCreateProgram");
  const ProgramHandle program(f, raw);
  const std::string arch = "--gpu-architecture=sm_" + std::to_string(sm);
  const char* options[] = {arch.c_str(), "--std=c++17", "--ptxas-options=-v"};
  const NvrtcResult result = f.compile_program(program.get(), std::size(options), options);

  CompiledText out;
  size_t log_size = 0;
  library_->check(f.get_log_size(program.get(), &log_size), "nvrtcGetProgramLogSize");
  // The size counts the closing zero.
  out.log.resize(log_size);
  if (log_size > 0) library_->check(f.get_log(program.get(), out.log.data()), "nvrtcGetProgramLog");
  while (!out.log.empty() && out.log.back() == '\0') out.log.pop_back();
  if (result != kSuccess) {
    fail(name + " does not compile for SM " + std::to_string(sm) + ": " +
         (out.log.empty() ? f.get_error_string(result) : first_error(out.log)));
  }
  size_t size = 0;
  library_->check(f.get_cubin_size(program.get(), &size), "nvrtcGetCUBINSize");
  if (size == 0) fail("NVRTC gave no cubin for " + name);
  out.cubin.resize(size);
  library_->check(f.get_cubin(program.get(), reinterpret_cast<char*>(out.cubin.data())),
                  "nvrtcGetCUBIN");
  out.resources = parse_resources(out.log);
  return out;
}

}  // namespace stwo::gpu
