#include "prover/proof/proof_json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo {
namespace {

Digest digest_of(uint8_t start) {
  Digest d;
  for (size_t i = 0; i < d.size(); ++i) d[i] = static_cast<uint8_t>(start + 7 * i);
  return d;
}

FriLayerProof layer_of(uint8_t start, size_t n) {
  FriLayerProof layer;
  for (size_t i = 0; i < n; ++i) {
    layer.fri_witness.push_back(QM31::from_u32(static_cast<uint32_t>(i), start, kP - 1, 0));
  }
  layer.decommitment.hash_witness.assign(n, digest_of(start));
  layer.commitment = digest_of(static_cast<uint8_t>(start + 1));
  return layer;
}

/// Every list empty somewhere, filled elsewhere; extreme numbers.
StarkProof sample_proof() {
  StarkProof p;
  p.config.pow_bits = 26;
  p.config.fri = {1, 0, 70, 3};
  p.config.lifting_log_size = 21;
  p.commitments = {digest_of(0), digest_of(100), digest_of(255)};
  p.sampled_values = {{},
                      {{QM31::from_u32(1, 2, 3, 4), QM31::from_u32(5, 6, 7, 8)}, {}},
                      {{QM31::from_u32(0, 0, 0, kP - 1)}}};
  p.decommitments.resize(3);
  p.decommitments[1].hash_witness = {digest_of(9), digest_of(10)};
  p.queried_values = {{}, {{M31(0), M31(kP - 1)}, {}}, {{M31(10)}}};
  p.proof_of_work = UINT64_MAX;
  p.fri_proof.first_layer = layer_of(3, 2);
  p.fri_proof.inner_layers = {layer_of(4, 0), layer_of(5, 1)};
  p.fri_proof.last_layer_poly.coeffs = {QM31::from_u32(9, 8, 7, 6), QM31::from_u32(1, 1, 1, 1)};
  p.fri_proof.last_layer_poly.log_size = 1;
  return p;
}

std::string code_of(std::string_view bytes) {
  try {
    parse_proof_json(bytes);
  } catch (const FormatError& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kInvalidEvidence);
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.code();
  }
  return "accepted";
}

std::string message_of(std::string_view bytes) {
  try {
    parse_proof_json(bytes);
  } catch (const FormatError& e) {
    return e.what();
  }
  return "accepted";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ProofJson, ShapeIsTheCrates) {
  StarkProof p;
  p.commitments = {Digest{}};
  p.commitments[0][1] = 255;
  p.sampled_values = {{{QM31::from_u32(1, 2, 3, 4)}}};
  p.decommitments.resize(1);
  p.queried_values = {{{M31(5), M31(6)}}};
  p.proof_of_work = (uint64_t{1} << 53) + 1;
  p.fri_proof.last_layer_poly.coeffs = {QM31::one()};
  const std::string zeros = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
  EXPECT_EQ(write_proof_json(p),
            "{\"config\":{\"pow_bits\":10,\"fri_config\":{\"log_blowup_factor\":1,"
            "\"log_last_layer_degree_bound\":0,\"n_queries\":3,\"fold_step\":1},"
            "\"lifting_log_size\":null},\"commitments\":[[0,255," +
                zeros +
                "]],"
                "\"sampled_values\":[[[[[1,2],[3,4]]]]],\"decommitments\":[{\"hash_witness\":[]}],"
                "\"queried_values\":[[[5,6]]],\"proof_of_work\":9007199254740993,"
                "\"fri_proof\":{\"first_layer\":{\"fri_witness\":[],\"decommitment\":"
                "{\"hash_witness\":[]},\"commitment\":[0,0," +
                zeros +
                "]},\"inner_layers\":[],"
                "\"last_layer_poly\":{\"coeffs\":[[[1,0],[0,0]]],\"log_size\":0}}}");
}

TEST(ProofJson, RoundTrip) {
  const StarkProof p = sample_proof();
  const std::string text = write_proof_json(p);
  EXPECT_EQ(parse_proof_json(text), p);
}

TEST(ProofJson, SectionsCoverTheText) {
  const std::string text = write_proof_json(sample_proof());
  const std::vector<ProofSection> sections = proof_sections(sample_proof());
  ASSERT_EQ(sections.size(), 7u);
  uint64_t total = 1;                                                           // the closing brace
  for (const ProofSection& s : sections) total += s.bytes + s.name.size() + 4;  // {"name":
  EXPECT_EQ(total, text.size());
}

TEST(ProofJson, EveryTruncationIsReportedAsSuch) {
  const std::string text = write_proof_json(sample_proof());
  for (size_t n = 0; n < text.size(); ++n) {
    ASSERT_EQ(code_of(std::string_view(text).substr(0, n)), "PROOF_TRUNCATED") << "at " << n;
  }
}

// The reader's promise: whatever it accepts is what the writer writes for the value it returns.
TEST(ProofJson, EveryByteChangeIsRejectedOrCanonical) {
  const std::string text = write_proof_json(sample_proof());
  const std::string alphabet = "0123456789,:[]{}\"-+.eE ntful\n\t\\a\x80";
  size_t accepted = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : alphabet + '\0') {
      for (const int kind : {0, 1}) {
        std::string changed = text;
        if (kind == 0) {
          changed[i] = c;
        } else {
          changed.insert(i, 1, c);
        }
        if (changed == text) continue;
        try {
          const StarkProof p = parse_proof_json(changed);
          ASSERT_EQ(write_proof_json(p), changed);
          ++accepted;
        } catch (const FormatError&) {
        }
      }
    }
    std::string shorter = text;
    shorter.erase(i, 1);
    try {
      ASSERT_EQ(write_proof_json(parse_proof_json(shorter)), shorter);
    } catch (const FormatError&) {
    }
  }
  EXPECT_GT(accepted, 100u);
}

TEST(ProofJson, NonCanonicalForms) {
  const std::string text = write_proof_json(sample_proof());
  EXPECT_EQ(code_of(text + "\n"), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(" " + text), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ",\"fri_config\"", ", \"fri_config\"")), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ":26", ": 26")), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ":26", ":026")), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ":26", ":26.0")), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ":26", ":26e0")), "PROOF_NONCANONICAL");
  EXPECT_EQ(code_of(replaced(text, ":26", ":+26")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":26", ":-26")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":26", ":\"26\"")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":26", ":true")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":26", ":null")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":26", ":")), "PROOF_VALUE");
}

TEST(ProofJson, Keys) {
  const std::string text = write_proof_json(sample_proof());
  EXPECT_EQ(code_of(replaced(text, "\"pow_bits\"", "\"pow_bitz\"")), "PROOF_FIELD");
  EXPECT_EQ(code_of(replaced(text, "\"pow_bits\":26,", "")), "PROOF_FIELD");
  EXPECT_EQ(code_of(replaced(text, "\"pow_bits\":26,", "\"pow_bits\":26,\"pow_bits\":26,")),
            "PROOF_FIELD");
  EXPECT_EQ(code_of(replaced(text, "\"lifting_log_size\":21}", "\"lifting_log_size\":21,\"x\":1}")),
            "PROOF_FIELD");
  EXPECT_EQ(code_of(replaced(text, ",\"lifting_log_size\":21}", "}")), "PROOF_FIELD");
  // Right keys, wrong order.
  EXPECT_EQ(code_of(replaced(text, "\"n_queries\":70,\"fold_step\":3",
                             "\"fold_step\":3,\"n_queries\":70")),
            "PROOF_FIELD");
  EXPECT_EQ(code_of("{}"), "PROOF_FIELD");
  EXPECT_EQ(code_of("{\"a\":1}"), "PROOF_FIELD");
}

TEST(ProofJson, Ranges) {
  const std::string text = write_proof_json(sample_proof());
  EXPECT_EQ(code_of(replaced(text, ":26", ":4294967295")), "accepted");
  EXPECT_EQ(code_of(replaced(text, ":26", ":4294967296")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":18446744073709551615", ":18446744073709551616")),
            "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, ":18446744073709551615", ":99999999999999999999999999999")),
            "PROOF_VALUE");
  // P itself and everything above is another spelling of a smaller value.
  EXPECT_EQ(code_of(replaced(text, "2147483646", "2147483647")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "\"commitments\":[[0,", "\"commitments\":[[255,")), "accepted");
  EXPECT_EQ(code_of(replaced(text, "\"commitments\":[[0,", "\"commitments\":[[256,")),
            "PROOF_VALUE");
  // Lengths that the format fixes: 32 bytes a hash, two times two limbs, 2^log_size coefficients.
  EXPECT_EQ(code_of(replaced(text, "\"commitments\":[[0,", "\"commitments\":[[")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "\"commitments\":[[0,", "\"commitments\":[[0,0,")),
            "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "[[1,2],[3,4]]", "[[1,2],[3]]")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "[[1,2],[3,4]]", "[[1,2]]")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "[[1,2],[3,4]]", "[[1,2],[3,4],[5,6]]")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "\"log_size\":1}", "\"log_size\":0}")), "PROOF_VALUE");
  EXPECT_EQ(code_of(replaced(text, "\"log_size\":1}", "\"log_size\":32}")), "PROOF_VALUE");
}

TEST(ProofJson, MessagesNamePathOffsetAndMend) {
  const std::string text = write_proof_json(sample_proof());
  const std::string changed = replaced(text, "\"commitments\":[[0,7,", "\"commitments\":[[0,700,");
  const size_t offset = changed.find("700");
  EXPECT_EQ(message_of(changed), "proof.commitments[0][1] at byte " + std::to_string(offset) +
                                     ": value 700 is above 255; get an unchanged copy of the file");
  EXPECT_EQ(message_of("[]").substr(0, 52), "proof at byte 0: expected an object, found '['; writ");
}

TEST(ProofJson, GarbageNeverPasses) {
  EXPECT_EQ(code_of(""), "PROOF_TRUNCATED");
  EXPECT_EQ(code_of("garbage"), "PROOF_SYNTAX");
  EXPECT_EQ(code_of("\xff\xfe"), "PROOF_SYNTAX");
  EXPECT_EQ(code_of(std::string(100000, '[')), "PROOF_SYNTAX");
  EXPECT_EQ(code_of(std::string(100000, '{')), "PROOF_SYNTAX");
  const std::string text = write_proof_json(sample_proof());
  const size_t at = text.find("\"sampled_values\":") + 17;
  EXPECT_EQ(code_of(text.substr(0, at) + std::string(100000, '[')), "PROOF_VALUE");
}

// A long list of empty lists must hit a limit before it costs many times its size in memory.
TEST(ProofJson, TooManyTreesAndColumns) {
  const std::string text = write_proof_json(sample_proof());
  const size_t at = text.find("\"sampled_values\":") + 17;
  std::string trees = text.substr(0, at) + "[";
  for (int i = 0; i < 100; ++i) trees += "[],";
  EXPECT_EQ(code_of(trees), "PROOF_VALUE");
  std::string columns = text.substr(0, at) + "[[";
  for (int i = 0; i < (1 << 22) + 1; ++i) columns += "[],";
  EXPECT_EQ(code_of(columns), "PROOF_VALUE");
}

TEST(LinePoly, StoredOrderIsBitReversed) {
  const QM31 x = QM31::from_u32(5, 6, 7, 8);
  const QM31 pi = x * x + x * x - QM31::one();
  const auto c = [](uint32_t i) { return QM31::from_u32(i + 1, 2 * i, 3, i * i); };
  LinePoly p;
  EXPECT_EQ(p.evaluate(x), QM31::zero());
  p.coeffs = {c(0)};
  EXPECT_EQ(p.evaluate(x), c(0));
  p.coeffs = {c(0), c(1)};
  EXPECT_EQ(p.evaluate(x), c(0) + x * c(1));
  // Basis 1, x, pi, x pi in natural order; stored: natural indices 0, 2, 1, 3.
  p.coeffs = {c(0), c(1), c(2), c(3)};
  EXPECT_EQ(p.evaluate(x), c(0) + pi * c(1) + x * c(2) + x * pi * c(3));
}

}  // namespace
}  // namespace stwo
