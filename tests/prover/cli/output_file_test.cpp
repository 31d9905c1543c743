#include "prover/cli/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "prover/errors.hpp"

namespace stwo {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("stwo_output_test." + std::to_string(::getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override {
    fs::permissions(directory_, fs::perms::owner_all);
    fs::remove_all(directory_);
  }
  std::string path(const std::string& name) const { return directory_ / name; }
  static std::string content(const std::string& p) {
    std::ifstream in(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t n_files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  /// "CODE exit" of the error, "" if there was none.
  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.code() + " " + std::to_string(static_cast<int>(e.exit_code()));
    }
    return "";
  }
  fs::path directory_;
};

TEST_F(OutputFile, WritesAllAndLeavesNothingElse) {
  const std::string big(5'000'000, 'x');
  write_output(path("a"), big, false);
  write_output(path("empty"), "", false);
  EXPECT_EQ(content(path("a")), big);
  EXPECT_EQ(content(path("empty")), "");
  EXPECT_EQ(n_files(), 2u);
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_nlink, 1u);
}

TEST_F(OutputFile, RefusesToReplace) {
  write_output(path("a"), "first", false);
  EXPECT_EQ(error_of([&] { check_output(path("a"), false); }), "OUTPUT_EXISTS 5");
  EXPECT_EQ(error_of([&] { write_output(path("a"), "second", false); }), "OUTPUT_EXISTS 5");
  EXPECT_EQ(content(path("a")), "first");
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(OutputFile, ForceReplaces) {
  write_output(path("a"), "first, longer", false);
  EXPECT_EQ(error_of([&] { check_output(path("a"), true); }), "");
  write_output(path("a"), "second", true);
  EXPECT_EQ(content(path("a")), "second");
  write_output(path("new"), "third", true);
  EXPECT_EQ(content(path("new")), "third");
  EXPECT_EQ(n_files(), 2u);
}

TEST_F(OutputFile, NeverReplacesWhatIsNotAFile) {
  fs::create_directory(path("folder"));
  fs::create_symlink("nowhere", path("dangling"));
  write_output(path("a"), "kept", false);
  fs::create_symlink("a", path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const bool force : {false, true}) {
    for (const std::string& p : {path("folder"), path("dangling"), path("link"), path("pipe"),
                                 std::string("/dev/full"), std::string("/dev/null")}) {
      EXPECT_EQ(error_of([&] { write_output(p, "x", force); }), "OUTPUT_KIND 5") << p;
    }
  }
  EXPECT_EQ(content(path("a")), "kept");
}

TEST_F(OutputFile, BadPlaces) {
  EXPECT_EQ(error_of([&] { check_output("", false); }), "OUTPUT_NAME 2");
  EXPECT_EQ(error_of([&] { check_output(path("x/"), false); }), "OUTPUT_NAME 2");
  EXPECT_EQ(error_of([&] { check_output(path("missing/a"), false); }), "OUTPUT_DIRECTORY 2");
  EXPECT_EQ(error_of([&] { write_output(path("missing/a"), "x", false); }), "OUTPUT_DIRECTORY 2");
  write_output(path("file"), "x", false);
  EXPECT_EQ(error_of([&] { check_output(path("file/a"), false); }), "OUTPUT_DIRECTORY 2");
  EXPECT_EQ(error_of([&] { check_output(path(std::string(300, 'n')), false); }), "OUTPUT_NAME 2");
  // Fits as a name, but not with the temporary's suffix.
  EXPECT_EQ(error_of([&] { check_output(path(std::string(253, 'n')), false); }), "OUTPUT_NAME 2");
  EXPECT_EQ(error_of([&] { check_output(path(std::string(200, 'n')), false); }), "");
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(OutputFile, UnwritableDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(error_of([&] { check_output(path("a"), false); }), "OUTPUT_PERMISSION 2");
  EXPECT_EQ(error_of([&] { write_output(path("a"), "x", false); }), "OUTPUT_PERMISSION 2");
}

// A file size limit fails in the middle of a write, as a full disk does.
TEST_F(OutputFile, FailingWriteLeavesNothing) {
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  write_output(path("kept"), "kept", false);
  rlimit small = old;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error =
      error_of([&] { write_output(path("a"), std::string(10000, 'x'), false); });
  const std::string forced =
      error_of([&] { write_output(path("kept"), std::string(10000, 'x'), true); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, "OUTPUT_SPACE 4");
  EXPECT_EQ(forced, "OUTPUT_SPACE 4");
  EXPECT_EQ(content(path("kept")), "kept");
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(OutputFile, StaleTemporaryDoesNotBlock) {
  std::ofstream(path("a.tmp." + std::to_string(::getpid()))) << "left by a killed process";
  write_output(path("a"), "x", false);
  EXPECT_EQ(content(path("a")), "x");
  EXPECT_EQ(n_files(), 2u);
}

TEST_F(OutputFile, TwoOutputsMustDiffer) {
  const auto differ = [&](const std::string& a, const std::string& b) {
    return error_of([&] { check_outputs_differ(a, b); });
  };
  EXPECT_EQ(differ(path("a"), path("b")), "");
  EXPECT_EQ(differ(path("a"), ""), "");
  EXPECT_EQ(differ("", ""), "");
  EXPECT_EQ(differ(path("a"), path("a")), "OUTPUT_NAME 2");
  EXPECT_EQ(differ(path("a"), path("./a")), "OUTPUT_NAME 2");
}

}  // namespace
}  // namespace stwo
