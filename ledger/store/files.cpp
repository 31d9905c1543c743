#include "ledger/store/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "prover/errors.hpp"

namespace ledger {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw stwo::EnvironmentError("LEDGER_IO",
                               path + ": " + std::strerror(error) + "; check the file system");
}

}  // namespace

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail(path, errno);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems have nothing to flush here.
  if (result != 0 && error != EINVAL) fail(path, error);
}

void publish(const std::string& temporary, const std::string& path) {
  // Not every file system can rename without replacing, and none can link folders.
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    const bool unknown = errno == EINVAL || errno == ENOSYS;
    if (!unknown || ::link(temporary.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST) {
        throw stwo::RefusedError("OUTPUT_EXISTS",
                                 "output " + path + " exists; choose another name");
      }
      fail(path, errno);
    }
    ::unlink(temporary.c_str());
  }
  sync_directory(directory_of(path));
}

}  // namespace ledger
