#include "prof/target/programs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {

namespace {

/// `error` says why not.
bool is_program(const std::string& path, int& error) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      error = EISDIR;
      return false;
    }
    if (::access(path.c_str(), X_OK) == 0) return true;
  }
  error = errno;
  return false;
}

}  // namespace

void not_a_program(const std::string& name, const std::string& why, const std::string& mend) {
  throw stwo::UsageError("TARGET_COMMAND",
                         "program " + stwo::one_line(name) + ": " + why + "; " + mend);
}

bool is_program(const std::string& path) {
  int ignored = 0;
  return is_program(path, ignored);
}

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "" : path;
}

std::vector<std::string> programs_in_path(const std::string& name, std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    std::string file = std::string(path.substr(0, end)) + "/" + name;
    if (end != 0 && is_program(file)) out.push_back(std::move(file));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

std::string find_program(const std::string& name, const std::vector<std::string>& environment) {
  const std::string mend = "give the path of a program that can be run";
  int error = 0;
  if (name.find('/') != std::string::npos) {
    if (!is_program(name, error)) not_a_program(name, std::strerror(error), mend);
    return name;
  }
  std::string_view path = "/usr/bin:/bin";
  for (const std::string& line : environment) {
    if (line.rfind("PATH=", 0) == 0) path = std::string_view(line).substr(5);
  }
  bool forbidden = false;
  while (true) {
    const size_t colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    // An empty entry is the current directory.
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(file, error)) return file;
    forbidden |= error == EACCES;
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  not_a_program(name, forbidden ? "found in PATH, but it may not be run" : "not found in PATH",
                forbidden ? mend : "give its path or install it");
}

}  // namespace prof
