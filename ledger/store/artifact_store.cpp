#include "ledger/store/artifact_store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "ledger/store/files.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr std::string_view kUnnamed = "new";

[[noreturn]] void fail(const std::string& path, int error) {
  const std::string what = "artifact store " + path + ": " + std::strerror(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: throw stwo::EnvironmentError("LEDGER_FULL", what + "; free some disk space");
    case EACCES:
    case EPERM:
    case EROFS:
      throw stwo::EnvironmentError("LEDGER_READ_ONLY", what + "; use a ledger you may write to");
    default: throw stwo::EnvironmentError("LEDGER_IO", what + "; check the file system");
  }
}

[[noreturn]] void unreadable(const std::string& source) {
  throw stwo::UsageError("ARTIFACT_SOURCE",
                         "file " + source + ": " + std::strerror(errno) + "; name a readable file");
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Makes a directory that may be there already, and its name durable.
void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    sync_directory(directory_of(path));
  } else if (errno != EEXIST) {
    fail(path, errno);
  }
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  return ::lstat(a.c_str(), &x) == 0 && ::lstat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> out;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    if (errno == ENOENT) return out;
    fail(path, errno);
  }
  while (const dirent* item = ::readdir(directory)) {
    const std::string name = item->d_name;
    if (name != "." && name != "..") out.push_back(name);
  }
  ::closedir(directory);
  std::sort(out.begin(), out.end());
  return out;
}

/// Reads all of a stream through `use`.
void drain(const std::function<ssize_t(char*, size_t)>& read, const std::string& name,
           const std::function<void(std::string_view)>& use) {
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t n = read(buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(name, errno);
    if (n == 0) return;
    use({buffer.data(), static_cast<size_t>(n)});
  }
}

}  // namespace

class ArtifactStore::Lock {
 public:
  explicit Lock(const std::string& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.get() < 0) fail(folder, errno);
    while (::flock(fd_.get(), LOCK_SH) != 0) {
      if (errno != EINTR) fail(folder, errno);
    }
  }

 private:
  Descriptor fd_;
};

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string artifact_relpath(std::string_view sha256) {
  if (!is_digest(sha256)) {
    throw stwo::FormatError("LEDGER_CORRUPT", "\"" + std::string(sha256) +
                                                  "\" is no digest of an artifact; `ledger check` "
                                                  "names the row");
  }
  return std::string(sha256.substr(0, 2)) + "/" + std::string(sha256.substr(2));
}

std::string file_sha256(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    if (errno == ENOENT) {
      throw stwo::FormatError("ARTIFACT_MISSING",
                              "artifact " + path + " is gone; restore it from a backup");
    }
    throw stwo::EnvironmentError("LEDGER_IO", "artifact " + path + ": " + std::strerror(errno) +
                                                  "; check its permissions and the file system");
  }
  stwo::Sha256 hash;
  drain([&](char* p, size_t n) { return ::read(fd.get(), p, n); }, path,
        [&](std::string_view bytes) { hash.update(bytes); });
  return stwo::to_hex(hash.finalize());
}

std::string ArtifactStore::path(std::string_view sha256) const {
  return root_ + "/" + artifact_relpath(sha256);
}

ArtifactStore::Incoming::Incoming(std::string root, std::shared_ptr<const Lock> lock)
    : root_(std::move(root)), lock_(std::move(lock)) {}

ArtifactStore::Incoming::Incoming(Incoming&& other) noexcept
    : root_(std::move(other.root_)),
      lock_(std::move(other.lock_)),
      name_(std::exchange(other.name_, {})),
      sha256_(std::move(other.sha256_)),
      bytes_(other.bytes_),
      published_(std::exchange(other.published_, false)),
      kept_(other.kept_) {}

ArtifactStore::Incoming::~Incoming() {
  if (name_.empty()) return;
  if (published_ && !kept_) {
    const std::string place = root_ + "/" + artifact_relpath(sha256_);
    // Another append may have put its own file there after our transaction had failed.
    if (same_file(place, name_)) ::unlink(place.c_str());
  }
  ::unlink(name_.c_str());
}

void ArtifactStore::Incoming::publish() {
  const std::string place = root_ + "/" + artifact_relpath(sha256_);
  const std::string directory = directory_of(place);
  make_directory(directory);
  if (::link(name_.c_str(), place.c_str()) != 0) {
    if (errno != EEXIST) fail(place, errno);
    // No row speaks of that file: a killed append has left it.
    if (::unlink(place.c_str()) != 0 || ::link(name_.c_str(), place.c_str()) != 0) {
      fail(place, errno);
    }
  }
  published_ = true;
  sync_directory(directory);
}

void ArtifactStore::Incoming::keep() { kept_ = true; }

ArtifactStore::Incoming ArtifactStore::receive_from(const Source& read) {
  static std::atomic<uint64_t> counter{0};
  make_directory(root_);
  const std::string folder = root_ + "/incoming";
  make_directory(folder);
  Incoming incoming(root_, lock_incoming(folder));
  std::string suffix;
  std::string unnamed;
  int file = -1;
  // A killed process may have had our number, and one in another container may have it now.
  do {
    suffix = "." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
    unnamed = folder + "/" + std::string(kUnnamed) + suffix;
    file = ::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (file < 0 && errno == EEXIST);
  const Descriptor fd(file);
  if (fd.get() < 0) fail(unnamed, errno);
  incoming.name_ = unnamed;
  stwo::Sha256 hash;
  drain(read, unnamed, [&](std::string_view bytes) {
    hash.update(bytes);
    incoming.bytes_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(unnamed, errno);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  });
  if (::fchmod(fd.get(), 0444) != 0) fail(unnamed, errno);
  if (::fsync(fd.get()) != 0) fail(unnamed, errno);
  incoming.sha256_ = stwo::to_hex(hash.finalize());
  const std::string named = folder + "/" + incoming.sha256_ + suffix;
  if (::rename(unnamed.c_str(), named.c_str()) != 0) fail(named, errno);
  incoming.name_ = named;
  sync_directory(folder);
  return incoming;
}

ArtifactStore::Incoming ArtifactStore::receive(std::string_view content) {
  return receive_from([&](char* p, size_t n) {
    const size_t part = std::min(n, content.size());
    std::copy_n(content.data(), part, p);
    content.remove_prefix(part);
    return static_cast<ssize_t>(part);
  });
}

ArtifactStore::Incoming ArtifactStore::receive_file(const std::string& source) {
  const Descriptor fd(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) unreadable(source);
  return receive_from([&](char* p, size_t n) {
    const ssize_t got = ::read(fd.get(), p, n);
    if (got < 0 && errno != EINTR) unreadable(source);
    return got;
  });
}

std::shared_ptr<const ArtifactStore::Lock> ArtifactStore::lock_incoming(const std::string& folder) {
  std::shared_ptr<const Lock> lock = lock_.lock();
  if (!lock) lock_ = lock = std::make_shared<const Lock>(folder);
  return lock;
}

bool ArtifactStore::has_incoming() const { return !names_in(root_ + "/incoming").empty(); }

bool ArtifactStore::is_incoming(std::string_view sha256) const {
  for (const std::string& name : names_in(root_ + "/incoming")) {
    if (name.starts_with(sha256)) return true;
  }
  return false;
}

bool ArtifactStore::sweep(const std::function<bool(const std::string& sha256)>& has_row) {
  const std::string folder = root_ + "/incoming";
  const Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() < 0) {
    if (errno == ENOENT) return true;
    fail(folder, errno);
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  for (const std::string& name : names_in(folder)) {
    const std::string digest = name.substr(0, name.find('.'));
    const std::string incoming = folder + "/" + name;
    if (is_digest(digest)) {
      const std::string place = path(digest);
      if (same_file(place, incoming) && !has_row(digest) && ::unlink(place.c_str()) != 0) {
        fail(place, errno);
      }
    }
    if (::unlink(incoming.c_str()) != 0) fail(incoming, errno);
  }
  sync_directory(folder);
  return true;
}

void ArtifactStore::for_each(const std::function<void(const std::string& name)>& visit) const {
  for (const std::string& folder : names_in(root_)) {
    if (folder == "incoming") continue;
    struct stat info {};
    if (::lstat((root_ + "/" + folder).c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      visit(folder);
      continue;
    }
    for (const std::string& name : names_in(root_ + "/" + folder)) {
      visit(is_digest(folder + name) ? folder + name : folder + "/" + name);
    }
  }
}

}  // namespace ledger
