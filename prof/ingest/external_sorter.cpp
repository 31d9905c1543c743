#include "prof/ingest/external_sorter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace prof {

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ScratchFile::fail(const char* doing) const {
  throw stwo::EnvironmentError("SCRATCH", "scratch file in " + folder_ + ": " + doing + ": " +
                                              std::strerror(errno) +
                                              "; make room there or choose another output folder");
}

void ScratchFile::append(const void* bytes, size_t size) {
  if (fd_ < 0) {
    std::string name = folder_ + "/stwo-prof.XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) fail("create");
    ::unlink(name.c_str());
  }
  const auto* from = static_cast<const char*>(bytes);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::pwrite(fd_, from + done, size - done, static_cast<off_t>(size_ + done));
    if (n < 0 && errno != EINTR) fail("write");
    if (n > 0) done += static_cast<size_t>(n);
  }
  size_ += size;
}

void ScratchFile::read(uint64_t offset, void* bytes, size_t size) const {
  auto* to = static_cast<char*>(bytes);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::pread(fd_, to + done, size - done, static_cast<off_t>(offset + done));
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) fail("read");
    if (n > 0) done += static_cast<size_t>(n);
  }
}

}  // namespace prof
