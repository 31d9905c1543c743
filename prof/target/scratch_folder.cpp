#include "prof/target/scratch_folder.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "prover/errors.hpp"

namespace prof {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw stwo::EnvironmentError("SCRATCH_FOLDER", "folder " + path + ": " + std::strerror(errno) +
                                                     "; remove it, or write elsewhere (TMPDIR)");
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const auto directory = std::filesystem::temp_directory_path(error);
  path_ = (error ? std::filesystem::path("/tmp") : directory) / "stwo-prof.XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) fail(path_);
}

ScratchFolder::ScratchFolder(const std::string& path) : path_(path) {
  if (::mkdir(path.c_str(), 0777) != 0) fail(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!keep_) std::filesystem::remove_all(path_, error);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string read_start(const std::string& path, size_t limit) {
  std::ifstream in(path, std::ios::binary);
  std::string out(limit, '\0');
  in.read(out.data(), static_cast<std::streamsize>(limit));
  out.resize(static_cast<size_t>(in.gcount()));
  return out;
}

}  // namespace prof
