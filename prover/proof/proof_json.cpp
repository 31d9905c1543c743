#include "prover/proof/proof_json.hpp"

#include <array>
#include <bit>
#include <charconv>

#include "prover/errors.hpp"

namespace stwo {
namespace {

// Bounds that no proof comes near. Without them a file of empty arrays would cost ten times its
// size.
constexpr size_t kMaxTrees = 64;
constexpr size_t kMaxColumns = size_t{1} << 22;  // over all trees
constexpr size_t kMaxFriLayers = 64;

/// Decimal text of every byte value, so that hashes cost one append per byte.
struct ByteText {
  char text[3];
  uint8_t length;
};
constexpr std::array<ByteText, 256> make_byte_texts() {
  std::array<ByteText, 256> out{};
  for (unsigned v = 0; v < 256; ++v) {
    ByteText& t = out[v];
    if (v >= 100) t.text[t.length++] = static_cast<char>('0' + v / 100);
    if (v >= 10) t.text[t.length++] = static_cast<char>('0' + v / 10 % 10);
    t.text[t.length++] = static_cast<char>('0' + v % 10);
  }
  return out;
}
constexpr std::array<ByteText, 256> kByteTexts = make_byte_texts();

class Writer {
 public:
  void text(std::string_view s) { out_.append(s); }
  void number(uint64_t value) {
    char buffer[20];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out_.append(buffer, static_cast<size_t>(end - buffer));
  }
  void value(M31 v) { number(v.v); }
  void value(const QM31& v) {
    text("[[");
    number(v.x.a.v);
    text(",");
    number(v.x.b.v);
    text("],[");
    number(v.y.a.v);
    text(",");
    number(v.y.b.v);
    text("]]");
  }
  void value(const Digest& digest) {
    char buffer[1 + 32 * 4];
    size_t n = 0;
    for (const uint8_t byte : digest) {
      buffer[n] = n == 0 ? '[' : ',';
      ++n;
      const ByteText& t = kByteTexts[byte];
      for (uint8_t i = 0; i < t.length; ++i) buffer[n++] = t.text[i];
    }
    buffer[n++] = ']';
    out_.append(buffer, n);
  }
  template <class T>
  void value(const std::vector<T>& list) {
    text("[");
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) text(",");
      value(list[i]);
    }
    text("]");
  }
  void value(const MerkleDecommitment& d) {
    text("{\"hash_witness\":");
    value(d.hash_witness);
    text("}");
  }
  void value(const FriLayerProof& layer) {
    text("{\"fri_witness\":");
    value(layer.fri_witness);
    text(",\"decommitment\":");
    value(layer.decommitment);
    text(",\"commitment\":");
    value(layer.commitment);
    text("}");
  }
  void value(const FriProof& fri) {
    text("{\"first_layer\":");
    value(fri.first_layer);
    text(",\"inner_layers\":");
    value(fri.inner_layers);
    text(",\"last_layer_poly\":{\"coeffs\":");
    value(fri.last_layer_poly.coeffs);
    text(",\"log_size\":");
    number(fri.last_layer_poly.log_size);
    text("}}");
  }
  void value(const PcsConfig& config) {
    text("{\"pow_bits\":");
    number(config.pow_bits);
    text(",\"fri_config\":{\"log_blowup_factor\":");
    number(config.fri.log_blowup_factor);
    text(",\"log_last_layer_degree_bound\":");
    number(config.fri.log_last_layer_degree_bound);
    text(",\"n_queries\":");
    number(config.fri.n_queries);
    text(",\"fold_step\":");
    number(config.fri.fold_step);
    text("},\"lifting_log_size\":");
    if (config.lifting_log_size) {
      number(*config.lifting_log_size);
    } else {
      text("null");
    }
    text("}");
  }
  void value(uint64_t v) { number(v); }

  void proof(const StarkProof& p, std::vector<ProofSection>* sections) {
    out_.reserve(estimate(p));
    char separator = '{';
    const auto section = [&](std::string_view name, const auto& content) {
      out_ += separator;
      separator = ',';
      out_ += '"';
      text(name);
      text("\":");
      const size_t begin = out_.size();
      value(content);
      if (sections != nullptr) sections->push_back({name, out_.size() - begin});
    };
    section("config", p.config);
    section("commitments", p.commitments);
    section("sampled_values", p.sampled_values);
    section("decommitments", p.decommitments);
    section("queried_values", p.queried_values);
    section("proof_of_work", p.proof_of_work);
    section("fri_proof", p.fri_proof);
    text("}");
  }
  std::string take() { return std::move(out_); }

 private:
  /// Upper estimate, so that the string grows once: 129 bytes a hash, 50 a QM31, 11 an M31.
  static size_t estimate(const StarkProof& p) {
    size_t n = 1024 + 129 * p.commitments.size();
    for (const auto& tree : p.sampled_values) {
      for (const auto& column : tree) n += 3 + 50 * column.size();
    }
    for (const auto& d : p.decommitments) n += 32 + 129 * d.hash_witness.size();
    for (const auto& tree : p.queried_values) {
      for (const auto& column : tree) n += 3 + 11 * column.size();
    }
    const auto layer = [&](const FriLayerProof& l) {
      n += 256 + 50 * l.fri_witness.size() + 129 * l.decommitment.hash_witness.size();
    };
    layer(p.fri_proof.first_layer);
    for (const auto& l : p.fri_proof.inner_layers) layer(l);
    return n + 50 * p.fri_proof.last_layer_poly.coeffs.size();
  }

  std::string out_;
};

M31 read_m31(CanonicalReader& r) { return M31(static_cast<uint32_t>(r.number(kP - 1))); }

QM31 read_qm31(CanonicalReader& r) {
  QM31 out;
  r.fixed_array(2, [&](size_t i) {
    r.fixed_array(
        2, [&](size_t j) { out.set_coordinate(static_cast<uint32_t>(2 * i + j), read_m31(r)); });
  });
  return out;
}

Digest read_digest(CanonicalReader& r) {
  Digest out{};
  r.fixed_array(out.size(), [&](size_t i) { out[i] = static_cast<uint8_t>(r.number(255)); });
  return out;
}

uint32_t read_u32(CanonicalReader& r) { return static_cast<uint32_t>(r.number(UINT32_MAX)); }

template <class T, class Read>
std::vector<T> read_list(CanonicalReader& r, Read&& read, size_t max = SIZE_MAX) {
  std::vector<T> out;
  r.array([&](size_t i) {
    if (i >= max) r.fail("PROOF_VALUE", "more than " + std::to_string(max) + " elements");
    out.push_back(read(r));
  });
  return out;
}

/// [tree][column][value] of short innermost lists: each is read into one scratch list and then
/// copied to its exact size, which keeps memory near the input's size.
template <class T, class Read>
std::vector<std::vector<std::vector<T>>> read_trees(CanonicalReader& r, Read&& read) {
  size_t n_columns = 0;
  std::vector<T> scratch;
  const auto column = [&](CanonicalReader&) {
    if (++n_columns > kMaxColumns) {
      r.fail("PROOF_VALUE", "more than " + std::to_string(kMaxColumns) + " columns");
    }
    scratch.clear();
    r.array([&](size_t) { scratch.push_back(read(r)); });
    return std::vector<T>(scratch);
  };
  const auto tree = [&](CanonicalReader&) { return read_list<std::vector<T>>(r, column); };
  return read_list<std::vector<std::vector<T>>>(r, tree, kMaxTrees);
}

template <class Body>
void field(CanonicalReader& r, std::string_view key, Body&& body) {
  r.begin_field(key);
  body();
  r.end_field();
}

MerkleDecommitment read_decommitment(CanonicalReader& r) {
  MerkleDecommitment out;
  r.begin_object();
  field(r, "hash_witness", [&] { out.hash_witness = read_list<Digest>(r, read_digest); });
  r.end_object();
  return out;
}

FriLayerProof read_fri_layer(CanonicalReader& r) {
  FriLayerProof out;
  r.begin_object();
  field(r, "fri_witness", [&] { out.fri_witness = read_list<QM31>(r, read_qm31); });
  field(r, "decommitment", [&] { out.decommitment = read_decommitment(r); });
  field(r, "commitment", [&] { out.commitment = read_digest(r); });
  r.end_object();
  return out;
}

LinePoly read_line_poly(CanonicalReader& r) {
  LinePoly out;
  r.begin_object();
  field(r, "coeffs", [&] { out.coeffs = read_list<QM31>(r, read_qm31); });
  field(r, "log_size", [&] {
    const size_t offset = r.offset();
    out.log_size = read_u32(r);
    // The verifier never reads this number; checking it keeps the encoding unique.
    if (out.log_size > 31 || out.coeffs.size() != size_t{1} << out.log_size) {
      r.fail_at(offset, "PROOF_VALUE",
                "log_size " + std::to_string(out.log_size) + " does not fit the " +
                    std::to_string(out.coeffs.size()) + " coefficients before it");
    }
  });
  r.end_object();
  return out;
}

FriProof read_fri_proof(CanonicalReader& r) {
  FriProof out;
  r.begin_object();
  field(r, "first_layer", [&] { out.first_layer = read_fri_layer(r); });
  field(r, "inner_layers",
        [&] { out.inner_layers = read_list<FriLayerProof>(r, read_fri_layer, kMaxFriLayers); });
  field(r, "last_layer_poly", [&] { out.last_layer_poly = read_line_poly(r); });
  r.end_object();
  return out;
}

}  // namespace

std::string write_proof_json(const StarkProof& proof) {
  Writer writer;
  writer.proof(proof, nullptr);
  return writer.take();
}

std::vector<ProofSection> proof_sections(const StarkProof& proof) {
  std::vector<ProofSection> sections;
  Writer writer;
  writer.proof(proof, &sections);
  return sections;
}

std::string write_config_json(const PcsConfig& config) {
  Writer writer;
  writer.value(config);
  return writer.take();
}

PcsConfig read_config(CanonicalReader& r) {
  PcsConfig out;
  r.begin_object();
  field(r, "pow_bits", [&] { out.pow_bits = read_u32(r); });
  field(r, "fri_config", [&] {
    r.begin_object();
    field(r, "log_blowup_factor", [&] { out.fri.log_blowup_factor = read_u32(r); });
    field(r, "log_last_layer_degree_bound",
          [&] { out.fri.log_last_layer_degree_bound = read_u32(r); });
    field(r, "n_queries", [&] { out.fri.n_queries = read_u32(r); });
    field(r, "fold_step", [&] { out.fri.fold_step = read_u32(r); });
    r.end_object();
  });
  field(r, "lifting_log_size", [&] {
    if (!r.null()) out.lifting_log_size = read_u32(r);
  });
  r.end_object();
  return out;
}

StarkProof read_proof(CanonicalReader& r) {
  StarkProof out;
  r.begin_object();
  field(r, "config", [&] { out.config = read_config(r); });
  field(r, "commitments", [&] { out.commitments = read_list<Digest>(r, read_digest, kMaxTrees); });
  field(r, "sampled_values", [&] { out.sampled_values = read_trees<QM31>(r, read_qm31); });
  field(r, "decommitments", [&] {
    out.decommitments = read_list<MerkleDecommitment>(r, read_decommitment, kMaxTrees);
  });
  field(r, "queried_values", [&] { out.queried_values = read_trees<M31>(r, read_m31); });
  field(r, "proof_of_work", [&] { out.proof_of_work = r.number(UINT64_MAX); });
  field(r, "fri_proof", [&] { out.fri_proof = read_fri_proof(r); });
  r.end_object();
  return out;
}

StarkProof parse_proof_json(std::string_view bytes) {
  CanonicalReader reader(bytes, "proof");
  StarkProof proof = read_proof(reader);
  reader.end(false);
  return proof;
}

}  // namespace stwo
