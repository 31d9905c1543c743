// What the tests of the folder share.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "prof/ncu/counter_set.hpp"
#include "prover/errors.hpp"

namespace prof::test {

inline std::string data_file(const std::string& name) {
  const std::string path = std::string(PROF_TEST_NCU_DATA) + '/' + name;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

/// "CODE exit" of what `work` throws, or "nothing".
template <typename Work>
std::string thrown(const Work& work, std::string* message = nullptr) {
  try {
    work();
  } catch (const stwo::Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code() + ' ' + std::to_string(static_cast<int>(error.exit_code()));
  }
  return "nothing";
}

}  // namespace prof::test
