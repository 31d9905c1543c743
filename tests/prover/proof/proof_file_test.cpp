#include "prover/proof/proof_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"

namespace stwo {
namespace {

constexpr std::string_view kCrateFile =
#include "tests/prover/proof/crate_proof.inc"
    ;

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.code();
  }
  return "accepted";
}
std::string parse_code(const std::string& text) {
  return code_of([&] { parse_proof_file(text); });
}
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class ProofFileOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("stwo_proof_file_test." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::filesystem::path directory_;
};

// Byte identity with serde_json of the crate 2.3.0.
TEST(ProofFile, ReproducesTheCratesBytes) {
  std::string_view proof_bytes;
  const ProofFile file = parse_proof_file(kCrateFile, &proof_bytes);
  EXPECT_EQ(write_proof_file(file), std::string(kCrateFile) + "\n");
  EXPECT_EQ(write_proof_json(file.proof), proof_bytes);
  EXPECT_EQ(file.statement.air, "wide_fibonacci_seq");
  EXPECT_EQ(file.statement.channel, HashVariant::kBlake2sM31);
  EXPECT_TRUE(file.statement.mix_config);
  EXPECT_EQ(file.statement.parameter("log_n_rows"), 3u);
  EXPECT_EQ(file.statement.parameter("unused_log_n_rows"), 0u);
  EXPECT_EQ(file.config, file.proof.config);
  EXPECT_EQ(file.config.lifting_log_size, 4u);
  EXPECT_EQ(file.proof.commitments.size(), 3u);
  EXPECT_EQ(file.proof.fri_proof.last_layer_poly.coeffs.size(), 2u);
}

TEST(ProofFile, EndsWithOneOptionalNewline) {
  const std::string text(kCrateFile);
  EXPECT_EQ(parse_proof_file(text), parse_proof_file(text + "\n"));
  EXPECT_EQ(parse_code(text + "\n\n"), "PROOF_NONCANONICAL");
  EXPECT_EQ(parse_code(text + " "), "PROOF_NONCANONICAL");
  EXPECT_EQ(parse_code(text + "\r\n"), "PROOF_NONCANONICAL");
  EXPECT_EQ(parse_code(text + text), "PROOF_NONCANONICAL");
}

TEST(ProofFile, EveryTruncation) {
  const std::string text(kCrateFile);
  EXPECT_EQ(parse_code(""), "PROOF_EMPTY");
  for (size_t n = 1; n < text.size(); ++n) {
    ASSERT_EQ(parse_code(text.substr(0, n)), "PROOF_TRUNCATED") << "at " << n;
  }
}

TEST(ProofFile, EveryByteChangeIsRejectedOrCanonical) {
  const std::string text = std::string(kCrateFile) + "\n";
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : std::string("0129,:[]{}\"- entful\n_zA\\\x80")) {
      std::string changed = text;
      changed[i] = c;
      try {
        ASSERT_EQ(write_proof_file(parse_proof_file(changed)), changed);
      } catch (const FormatError&) {
      }
    }
  }
}

TEST(ProofFile, Header) {
  const std::string text(kCrateFile);
  EXPECT_EQ(parse_code(replaced(text, "proof_v1", "proof_v2")), "PROOF_SCHEMA");
  EXPECT_EQ(parse_code(replaced(text, "\"schema\"", "\"scheme\"")), "PROOF_FIELD");
  EXPECT_EQ(parse_code(replaced(text, "\"blake2s_m31\"", "\"poseidon252\"")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"wide_fib", "\"Wide_fib")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"wide_fib", "\"../wide_fib")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"wide_fibonacci_seq\"", "\"\"")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "wide_fibonacci_seq", std::string(64, 'a'))), "accepted");
  EXPECT_EQ(parse_code(replaced(text, "wide_fibonacci_seq", std::string(65, 'a'))), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "wide_fibonacci_seq", std::string(1 << 20, 'a'))),
            "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"mix_config\":true", "\"mix_config\":1")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"mix_config\":true", "\"mix_config\":\"true\"")),
            "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"log_n_rows\":3", "\"log_n_rows\":-3")), "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"log_n_rows\":3", "\"log_n_rows\":18446744073709551615")),
            "accepted");
  EXPECT_EQ(parse_code(replaced(text, "\"log_n_rows\":3", "\"log_n_rows\":18446744073709551616")),
            "PROOF_VALUE");
  EXPECT_EQ(parse_code(replaced(text, "\"log_n_rows\":3,", "\"log_n_rows\":3,\"log_n_rows\":3,")),
            "PROOF_FIELD");
  EXPECT_EQ(
      parse_code(replaced(text, "\"unused_log_n_rows\":0}", "\"unused_log_n_rows\":0},\"x\":1")),
      "PROOF_FIELD");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "\"p" + std::to_string(i) + "\":1,";
  EXPECT_EQ(parse_code(replaced(text, "\"log_n_rows\":3,", many)), "PROOF_FIELD");
}

TEST_F(ProofFileOnDisk, Reads) {
  const std::string text = std::string(kCrateFile) + "\n";
  const LoadedProofFile loaded = read_proof_file(write("proof.json", text));
  EXPECT_EQ(loaded.file, parse_proof_file(text));
  const std::string proof_json = write_proof_json(loaded.file.proof);
  EXPECT_EQ(loaded.proof_bytes, proof_json.size());
  EXPECT_EQ(loaded.canonical_sha256, sha256_hex(proof_json));
}

TEST_F(ProofFileOnDisk, WhatIsNotAProofFile) {
  const auto code = [&](const std::string& p) { return code_of([&] { read_proof_file(p); }); };
  EXPECT_EQ(code(path("missing.json")), "FILE_OPEN");
  EXPECT_EQ(code(directory_), "FILE_KIND");
  EXPECT_EQ(code("/dev/zero"), "FILE_KIND");
  EXPECT_EQ(code(write("empty.json", "")), "FILE_EMPTY");
  EXPECT_EQ(code(write("garbage.json", "garbage")), "PROOF_SYNTAX");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(code(path("pipe")), "FILE_KIND");  // and doesn't hang
  // Sparse and huge: refused by size, before a byte is read.
  const std::string huge = write("huge.json", "{");
  ASSERT_EQ(::truncate(huge.c_str(), off_t{10} << 30), 0);
  EXPECT_EQ(code(huge), "FILE_TOO_LARGE");
  const std::string small = write("small.json", "0123456789");
  EXPECT_EQ(code_of([&] { read_proof_file(small, 9); }), "FILE_TOO_LARGE");
}

TEST_F(ProofFileOnDisk, ExitCodes) {
  const auto exit_code = [&](const std::string& p) {
    try {
      read_proof_file(p);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(p), std::string::npos) << e.what();
      return e.exit_code();
    }
    return ExitCode::kDone;
  };
  EXPECT_EQ(exit_code(path("missing.json")), ExitCode::kUsage);
  EXPECT_EQ(exit_code(directory_), ExitCode::kUsage);
  EXPECT_EQ(exit_code(write("empty.json", "")), ExitCode::kInvalidEvidence);
  EXPECT_EQ(exit_code(write("garbage.json", "{\"schema\":1}")), ExitCode::kInvalidEvidence);
}

}  // namespace
}  // namespace stwo
