#include "prover/proof/proof_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"

namespace stwo {
namespace {

constexpr size_t kMaxNameLength = 64;
constexpr size_t kMaxParameters = 64;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Statement read_statement(CanonicalReader& r) {
  Statement s;
  r.begin_object();
  r.begin_field("air");
  s.air = r.word(kMaxNameLength);
  r.end_field();
  r.begin_field("channel");
  const size_t channel_offset = r.offset();
  const std::string_view channel = r.word(kMaxNameLength);
  if (channel != channel_name(HashVariant::kBlake2s) &&
      channel != channel_name(HashVariant::kBlake2sM31)) {
    r.fail_at(channel_offset, "PROOF_VALUE",
              "channel \"" + std::string(channel) + "\" is neither blake2s nor blake2s_m31");
  }
  s.channel = parse_channel(channel);
  r.end_field();
  r.begin_field("mix_config");
  s.mix_config = r.boolean();
  r.end_field();
  r.begin_field("parameters");
  r.begin_object();
  std::string_view key;
  while (r.next_field(&key, kMaxNameLength)) {
    if (s.parameters.size() == kMaxParameters) {
      r.fail("PROOF_FIELD", "more than " + std::to_string(kMaxParameters) + " parameters");
    }
    if (std::any_of(s.parameters.begin(), s.parameters.end(),
                    [&](const auto& p) { return p.first == key; })) {
      r.fail("PROOF_FIELD", "parameter \"" + std::string(key) + "\" is given twice");
    }
    s.parameters.emplace_back(key, r.number(UINT64_MAX));
    r.end_field();
  }
  r.end_object();
  r.end_field();
  r.end_object();
  return s;
}

}  // namespace

std::string write_statement_json(const Statement& s) {
  std::string out = "{\"air\":\"" + s.air + "\",\"channel\":\"";
  out += channel_name(s.channel);
  out += s.mix_config ? "\",\"mix_config\":true" : "\",\"mix_config\":false";
  out += ",\"parameters\":{";
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    if (i != 0) out += ',';
    out += '"' + s.parameters[i].first + "\":" + std::to_string(s.parameters[i].second);
  }
  return out + "}}";
}

std::string write_proof_file(const Statement& statement, const PcsConfig& config,
                             std::string_view proof_json) {
  const std::string head = "{\"schema\":\"" + std::string(kProofFileSchema) +
                           "\",\"statement\":" + write_statement_json(statement) +
                           ",\"config\":" + write_config_json(config) + ",\"proof\":";
  std::string out;
  out.reserve(head.size() + proof_json.size() + 2);
  out += head;
  out += proof_json;
  out += "}\n";
  return out;
}

std::string write_proof_file(const ProofFile& file) {
  return write_proof_file(file.statement, file.config, write_proof_json(file.proof));
}

ProofFile parse_proof_file(std::string_view bytes, std::string_view* proof_bytes) {
  if (bytes.empty()) {
    throw FormatError("PROOF_EMPTY", "the proof file is empty; make one with `stwo prove`");
  }
  CanonicalReader r(bytes, "");
  ProofFile file;
  r.begin_object();
  r.begin_field("schema");
  const size_t schema_offset = r.offset();
  const std::string_view schema = r.word(kMaxNameLength);
  if (schema != kProofFileSchema) {
    r.fail_at(schema_offset, "PROOF_SCHEMA",
              "expected \"" + std::string(kProofFileSchema) + "\", found \"" + std::string(schema) +
                  "\"");
  }
  r.end_field();
  r.begin_field("statement");
  file.statement = read_statement(r);
  r.end_field();
  r.begin_field("config");
  file.config = read_config(r);
  r.end_field();
  r.begin_field("proof");
  const size_t begin = r.offset();
  file.proof = read_proof(r);
  if (proof_bytes != nullptr) *proof_bytes = r.slice(begin, r.offset());
  r.end_field();
  r.end_object();
  r.end(true);
  return file;
}

std::string read_input_file(const std::string& path, std::string_view what, uint64_t max_bytes) {
  const std::string name = std::string(what) + " " + path;
  // Non-blocking: opening a pipe without a writer must not hang.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    const int error = errno;
    throw UsageError("FILE_OPEN", name + ": " + std::strerror(error) +
                                      (error == ENOENT ? "; check the path"
                                                       : "; check the path and its permissions"));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    throw EnvironmentError(
        "FILE_READ", name + ": " + std::strerror(errno) + "; check the file system and try again");
  }
  if (!S_ISREG(info.st_mode)) {
    throw UsageError("FILE_KIND", name + " is not a regular file; give the path of a file");
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0) {
    throw FormatError("FILE_EMPTY", name + " is empty; get an unchanged copy or make it again");
  }
  if (size > max_bytes) {
    throw FormatError("FILE_TOO_LARGE",
                      name + " has " + std::to_string(size) + " bytes, more than the limit of " +
                          std::to_string(max_bytes) + "; check that it is the right file");
  }
  std::string content(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd.get(), content.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw EnvironmentError("FILE_READ", name + ": " + std::strerror(errno) +
                                              "; check the file system and try again");
    }
    if (n == 0) {
      throw FormatError("FILE_CHANGED",
                        name + " became shorter while it was read; try again once it is complete");
    }
    done += static_cast<size_t>(n);
  }
  return content;
}

LoadedProofFile read_proof_file(const std::string& path, uint64_t max_bytes) {
  const std::string content = read_input_file(path, "proof file", max_bytes);
  LoadedProofFile out;
  std::string_view proof_bytes;
  try {
    out.file = parse_proof_file(content, &proof_bytes);
  } catch (const FormatError& e) {
    throw FormatError(e.code(), "proof file " + path + ": " + e.what());
  }
  out.proof_bytes = proof_bytes.size();
  out.canonical_sha256 = sha256_hex(proof_bytes);
  return out;
}

}  // namespace stwo
