// The folder of artifacts beside a ledger: files by SHA-256, complete or absent, whatever is killed
// when.
//
// A file comes in under incoming/, is flushed, gets a second name at its place while the append
// that speaks of it holds the writer's lock, and loses the first name after the commit. What a
// killed append leaves behind is therefore found under incoming/, with its digest in its name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ledger {

bool is_digest(std::string_view text);

/// "ab/cdef..." of a digest. Throws FormatError LEDGER_CORRUPT if it is none.
std::string artifact_relpath(std::string_view sha256);

/// SHA-256 of a file. Throws FormatError ARTIFACT_MISSING, EnvironmentError.
std::string file_sha256(const std::string& path);

class ArtifactStore {
 public:
  explicit ArtifactStore(std::string root) : root_(std::move(root)) {}
  const std::string& root() const { return root_; }
  std::string path(std::string_view sha256) const;
  /// Shared lock of incoming/, which keeps sweepers away.
  class Lock;

  /// A file on its way in. Disappears unless published and kept.
  class Incoming {
   public:
    Incoming(Incoming&& other) noexcept;
    Incoming& operator=(Incoming&&) = delete;
    ~Incoming();
    const std::string& sha256() const { return sha256_; }
    uint64_t bytes() const { return bytes_; }
    /// Where the file is for now.
    const std::string& path() const { return name_; }
    /// Gives the file its place. Only under the writer's lock, and only if no row has this digest.
    void publish();
    /// After the commit: the file stays.
    void keep();

   private:
    friend class ArtifactStore;
    Incoming(std::string root, std::shared_ptr<const Lock> lock);
    std::string root_;
    std::shared_ptr<const Lock> lock_;
    std::string name_;
    std::string sha256_;
    uint64_t bytes_ = 0;
    bool published_ = false;
    bool kept_ = false;
  };
  Incoming receive(std::string_view content);
  /// Copies and hashes in one pass. Throws UsageError ARTIFACT_SOURCE if the file can't be read.
  Incoming receive_file(const std::string& source);

  /// Removes what killed appends have left. `has_row` says whether the ledger has this artifact.
  /// Only under the writer's lock. Returns false if appends are going on, which are left alone.
  bool sweep(const std::function<bool(const std::string& sha256)>& has_row);
  /// Is there anything to sweep?
  bool has_incoming() const;
  /// Is this file on its way in, or what a killed append has left of it?
  bool is_incoming(std::string_view sha256) const;
  /// Every file in the store, as digests; names that are none are given as they are.
  void for_each(const std::function<void(const std::string& name)>& visit) const;

 private:
  using Source = std::function<ssize_t(char* buffer, size_t size)>;
  Incoming receive_from(const Source& read);
  std::shared_ptr<const Lock> lock_incoming(const std::string& folder);
  std::string root_;
  /// One for all files on their way in: there may be more of them than a process may have open.
  std::weak_ptr<const Lock> lock_;
};

}  // namespace ledger
