#include "ledger/store/copy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ledger/store/files.hpp"
#include "ledger/store/schema.hpp"
#include "prover/cli/output_file.hpp"

namespace ledger {
namespace {

namespace fs = std::filesystem;

/// Removes what it was told of unless told to stop.
class Cleanup {
 public:
  explicit Cleanup(std::vector<fs::path> paths) : paths_(std::move(paths)) {}
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;
  ~Cleanup() {
    std::error_code ignored;
    for (const fs::path& p : paths_) fs::remove_all(p, ignored);
  }
  void add(const fs::path& path) { paths_.push_back(path); }
  void dismiss() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

void refuse_existing(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored))) {
    throw stwo::RefusedError("OUTPUT_EXISTS", "output " + path + " exists; choose another name");
  }
}

/// Database and artifacts under new names; the database is a consistent state, and artifacts are
/// only ever added, so copying those it speaks of afterwards is enough.
CopyResult copy_ledger(Ledger& ledger, const std::string& path, const std::string& artifacts,
                       const CopyObserver& observe) {
  ledger.database().backup_to(path, [&](int done, int total) {
    if (observe) observe("database", done, total);
  });
  CopyResult result;
  {
    Database copy(path, OpenMode::kReadWrite);
    // The copy says WAL; a bundle should be one file until it is opened.
    copy.query_text("PRAGMA journal_mode=DELETE");
    result.entries = copy.query_integer("SELECT count(*) FROM entry");
    Statement head = copy.prepare("SELECT entry_sha256 FROM entry ORDER BY seq DESC LIMIT 1");
    if (head.step()) result.head = head.string(0);
    const int64_t total = copy.query_integer("SELECT ifnull(sum(bytes), 0) FROM artifact");
    ArtifactStore target(artifacts);
    Statement select = copy.prepare("SELECT sha256 FROM artifact ORDER BY row");
    while (select.step()) {
      const std::string sha256 = select.string(0);
      if (observe) observe("artifacts", static_cast<int64_t>(result.artifact_bytes), total);
      const std::string source = ledger.artifact_path(sha256);
      if (::access(source.c_str(), F_OK) != 0) {
        throw stwo::FormatError("ARTIFACT_MISSING",
                                "artifact " + source + " is gone; restore it from a backup");
      }
      auto incoming = target.receive_file(source);
      if (incoming.sha256() != sha256) {
        throw stwo::FormatError("ARTIFACT_CHANGED", "artifact " + source +
                                                        " has been changed; restore it from a "
                                                        "backup");
      }
      incoming.publish();
      incoming.keep();
      ++result.artifacts;
      result.artifact_bytes += incoming.bytes();
    }
  }
  sync_directory(directory_of(path));
  return result;
}

}  // namespace

CopyResult backup_ledger(Ledger& ledger, const std::string& path, const CopyObserver& observe) {
  refuse_existing(path);
  stwo::check_output(path, false);
  const std::string artifacts = artifact_folder(path);
  refuse_existing(artifacts);
  const std::string suffix = ".tmp." + std::to_string(::getpid());
  const std::string temporary = path + suffix;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  fs::remove_all(artifacts + suffix, ignored);
  Cleanup cleanup({temporary, temporary + "-journal", temporary + "-wal", temporary + "-shm",
                   artifacts + suffix});
  CopyResult result = copy_ledger(ledger, temporary, artifacts + suffix, observe);
  // The database comes last: where it is, its artifacts are.
  if (result.artifacts != 0) {
    publish(artifacts + suffix, artifacts);
    cleanup.add(artifacts);
  }
  publish(temporary, path);
  cleanup.dismiss();
  return result;
}

CopyResult export_bundle(Ledger& ledger, const std::string& path, const CopyObserver& observe) {
  std::string target = path;
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  refuse_existing(target);
  stwo::check_output(target, false);
  const std::string partial = target + ".partial";
  refuse_existing(partial);
  if (::mkdir(partial.c_str(), 0777) != 0) {
    throw stwo::EnvironmentError(
        "LEDGER_IO", "bundle " + partial + ": " + std::strerror(errno) + "; check the file system");
  }
  Cleanup cleanup({partial});
  CopyResult result =
      copy_ledger(ledger, partial + "/ledger.db", partial + "/ledger.artifacts", observe);
  const nlohmann::json manifest = {{"schema", kBundleSchema},
                                   {"ledger_id", ledger.id()},
                                   {"schema_version", ledger.schema_version()},
                                   {"head_sha256", result.head},
                                   {"entries", result.entries},
                                   {"artifacts", result.artifacts},
                                   {"artifact_bytes", result.artifact_bytes},
                                   {"database_sha256", file_sha256(partial + "/ledger.db")},
                                   {"created_utc", utc_now()},
                                   {"tool_version", tool_version()}};
  stwo::write_output(partial + "/manifest.json", manifest.dump(2) + "\n", false);
  publish(partial, target);
  cleanup.dismiss();
  return result;
}

}  // namespace ledger
