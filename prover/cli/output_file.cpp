#include "prover/cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "prover/errors.hpp"

namespace stwo {
namespace {

/// Room for the temporary file's suffix, ".tmp.<process>.<attempt>".
constexpr size_t kSuffixLength = 16;
constexpr size_t kMaxNameLength = 255;

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw RefusedError("OUTPUT_EXISTS",
                     "output " + path + " exists; choose another name or give --force");
}

[[noreturn]] void fail(const std::string& path, int error) {
  const std::string what = "output " + path + ": " + std::strerror(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      throw EnvironmentError("OUTPUT_SPACE", what + "; free some space or write elsewhere");
    case EACCES:
    case EPERM:
    case EROFS:
      throw UsageError("OUTPUT_PERMISSION", what + "; choose a directory you may write to");
    case ENOENT:
    case ENOTDIR: throw UsageError("OUTPUT_DIRECTORY", what + "; create the directory first");
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP: throw UsageError("OUTPUT_NAME", what + "; choose another name");
    default: throw EnvironmentError("OUTPUT_WRITE", what + "; check the file system and try again");
  }
}

/// A temporary file that disappears unless it was published.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& target) : target_(target) {
    const std::string base = target + ".tmp." + std::to_string(::getpid());
    // A process that was killed may have left a file under our number.
    for (int attempt = 0; fd_ < 0 && attempt < 16; ++attempt) {
      name_ = attempt == 0 ? base : base + "." + std::to_string(attempt);
      fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ < 0 && errno != EEXIST) break;
    }
    if (fd_ < 0) {
      const int error = errno;
      name_.clear();
      fail(target_, error);
    }
  }
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write_all(std::string_view content) {
    while (!content.empty()) {
      const ssize_t n = ::write(fd_, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(target_, errno);
      content.remove_prefix(static_cast<size_t>(n));
    }
    if (::fsync(fd_) != 0 && errno != EINVAL) fail(target_, errno);
    const int fd = fd_;
    fd_ = -1;
    // Network file systems report a full disk here.
    if (::close(fd) != 0 && errno != EINTR) fail(target_, errno);
  }

  void publish(bool replace) {
    if (replace) {
      if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, errno);
      name_.clear();
      return;
    }
    if (::link(name_.c_str(), target_.c_str()) == 0) return;  // the destructor drops the old name
    if (errno == EEXIST) refuse_existing(target_);
    // No hard links here (FAT, some network file systems): a rename that refuses to replace.
    if (::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) refuse_existing(target_);
      fail(target_, errno);
    }
    name_.clear();
  }

 private:
  std::string target_;
  std::string name_;
  int fd_ = -1;
};

/// Can files be made in the directory? `path` is the output as the user named it.
void check_directory(const std::string& path, const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    throw UsageError("OUTPUT_DIRECTORY", "output " + path + ": directory " + directory + ": " +
                                             std::strerror(errno) + "; create it first");
  }
  if (!S_ISDIR(info.st_mode)) {
    throw UsageError("OUTPUT_DIRECTORY",
                     "output " + path + ": " + directory + " is not a directory; choose another");
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail(path, errno);
}

void sync_directory(const std::string& path) {
  const std::string directory = directory_of(path);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // writable but not readable: the name is there, only not forced to disk
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (result != 0 && error != EINVAL && error != EROFS) fail(path, error);
}

}  // namespace

void check_output(const std::string& path, bool force) {
  if (path.empty()) throw UsageError("OUTPUT_NAME", "the output's name is empty; give a file name");
  if (path.back() == '/') {
    throw UsageError("OUTPUT_NAME", "output " + path + " names a directory; add a file name");
  }
  if (path.size() - (path.rfind('/') + 1) + kSuffixLength > kMaxNameLength) {
    fail(path, ENAMETOOLONG);
  }
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    // Replacing a device, pipe, link or directory by a file is never what --force means.
    if (!S_ISREG(info.st_mode)) {
      throw RefusedError("OUTPUT_KIND", "output " + path +
                                            " exists and is not a regular file; choose another "
                                            "name");
    }
    if (!force) refuse_existing(path);
  } else if (errno != ENOENT) {
    fail(path, errno);
  }
  check_directory(path, directory_of(path));
}

void check_output_directory(const std::string& path) {
  if (path.empty()) throw UsageError("OUTPUT_NAME", "the output's name is empty; give a directory");
  check_directory(path, path);
}

void check_outputs_differ(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return;
  bool same = first == second;
  struct stat a {};
  struct stat b {};
  if (!same && ::stat(first.c_str(), &a) == 0 && ::stat(second.c_str(), &b) == 0) {
    same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }
  const auto base = [](const std::string& p) { return p.substr(p.rfind('/') + 1); };
  if (!same && base(first) == base(second) && ::stat(directory_of(first).c_str(), &a) == 0 &&
      ::stat(directory_of(second).c_str(), &b) == 0) {
    same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  }
  if (same) {
    throw UsageError("OUTPUT_NAME", "outputs " + first + " and " + second +
                                        " are the same file; give them different names");
  }
}

void write_output(const std::string& path, std::string_view content, bool force) {
  check_output(path, force);
  {
    TemporaryFile file(path);
    file.write_all(content);
    file.publish(force);
  }
  sync_directory(path);
}

}  // namespace stwo
