#include "prof/ingest/kernel_names.hpp"

#include <gtest/gtest.h>

namespace prof {
namespace {

TEST(KernelNames, Demangled) {
  EXPECT_EQ(demangled_name("_Z3addPi"), "add(int*)");
  EXPECT_EQ(demangled_name("fft_rows"), "fft_rows");
  EXPECT_EQ(demangled_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled_name(""), "");
}

TEST(KernelNames, Short) {
  struct Case {
    const char* full;
    const char* expected;
  };
  const Case cases[] = {
      {"fft_rows", "fft_rows"},
      {"add(int*)", "add"},
      {"void ns::add<int>(int*)", "add"},
      {"void a::b<x::y>::run<std::pair<int, (E)2> >(a::c<int>, int)", "run"},
      {"(anonymous namespace)::fold(unsigned int const*)", "fold"},
      {"void (anonymous namespace)::fold<3>(float)", "fold"},
      {"a>b", "a>b"},
      {"", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(short_kernel_name(c.full), c.expected) << c.full;
}

}  // namespace
}  // namespace prof
