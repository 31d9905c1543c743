// Holds a page against check_page.py.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace prof::test {

/// What check_page.py has to say; "" if nothing.
inline std::string page_faults(const std::string& html) {
  std::string name = (std::filesystem::temp_directory_path() / "prof_page_XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return "no temporary file";
  ::close(fd);
  std::ofstream(name, std::ios::binary) << html;
  const std::string command =
      std::string("'") + PROF_TEST_PYTHON + "' '" + PROF_TEST_CHECK_PAGE + "' '" + name + "' 2>&1";
  std::string out;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "python cannot be started";
  char buffer[1024];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  const int status = ::pclose(pipe);
  std::filesystem::remove(name);
  if (out.empty() && status != 0) out = "the checker failed without a word";
  return out;
}

}  // namespace prof::test
