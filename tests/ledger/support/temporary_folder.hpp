// A folder for one test.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace ledger::test {

namespace fs = std::filesystem;

/// Gone afterwards. In memory where that is possible: these tests flush thousands of files, and it
/// is processes that they kill, not machines.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool memory = std::getenv("TMPDIR") == nullptr && ::access("/dev/shm", W_OK) == 0;
    const fs::path parent = memory ? "/dev/shm" : fs::temp_directory_path();
    std::string name = (parent / "ledger_test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Names of all files under a folder, relative to it, sorted.
inline std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> out;
  if (!fs::exists(folder)) return out;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (!item.is_directory()) out.push_back(fs::relative(item.path(), folder).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Replaces what is there.
inline void write_file(const std::string& path, const std::string& content) {
  fs::remove(path);
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace ledger::test
