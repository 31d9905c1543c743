#include "prof/target/programs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "prof/target/scratch_folder.hpp"

namespace prof {
namespace {

void write_program(const std::string& path, mode_t mode) {
  std::ofstream(path) << "#!/bin/sh\n";
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

TEST(Programs, OfAPathInItsOrder) {
  const ScratchFolder a;
  const ScratchFolder b;
  const ScratchFolder c;
  write_program(a.file("tool"), 0700);
  write_program(b.file("tool"), 0600);
  write_program(c.file("tool"), 0700);
  const std::string path = c.path() + "::" + b.path() + ":/no/such/folder:" + a.path();
  EXPECT_EQ(programs_in_path("tool", path),
            (std::vector<std::string>{c.file("tool"), a.file("tool")}));
  EXPECT_TRUE(programs_in_path("other", path).empty());
  EXPECT_TRUE(programs_in_path("tool", "").empty());
}

TEST(Programs, AFolderIsNone) {
  const ScratchFolder a;
  ASSERT_EQ(::mkdir(a.file("tool").c_str(), 0700), 0);
  EXPECT_FALSE(is_program(a.file("tool")));
  EXPECT_FALSE(is_program(a.file("missing")));
  EXPECT_TRUE(is_program("/bin/sh"));
}

TEST(Scratch, FoldersGoWithAllInThem) {
  std::string path;
  {
    const ScratchFolder a;
    path = a.path();
    write_program(a.file("x"), 0600);
    EXPECT_EQ(read_start(a.file("x"), 2), "#!");
    EXPECT_EQ(read_text(a.file("x")), "#!/bin/sh\n");
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace prof
