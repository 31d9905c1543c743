// Every single change of a good proof file is rejected, and for the right kind of reason.
//
// STWO_TAMPER_DUMP=path also writes every changed file, one a line, to `path`, and to `path`.index
// one line each with its name, our verdict and, where the stwo crate may accept what we refuse,
// why. tests/oracle_compare/tamper_compare.py puts the same files to the crate.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/support/proofs.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

/// Names of verdicts, any of which is right.
using Verdicts = std::set<std::string>;

/// The transcript differs from the prover's from the FRI commitments on: the nonce no longer fits,
/// or (once in 2^pow) other positions are queried.
const Verdicts kAfterFri = {"proof_of_work",
                            "queried_values_shape",
                            "merkle_witness_too_short",
                            "merkle_root_mismatch",
                            "merkle_witness_too_long",
                            "fri_witness_too_short",
                            "fri_witness_too_long",
                            "fri_layer_root_mismatch",
                            "fri_layer_witness_too_short",
                            "fri_last_layer_evaluation",
                            "fri_layer_witness_too_long"};
const Verdicts kMerkle = {"merkle_witness_too_short", "merkle_witness_too_long",
                          "merkle_root_mismatch"};

// Why the crate may accept a file that we refuse. Everything else it must refuse, too.
/// The same proof in other bytes: we accept one encoding of a proof only, so that its hash names
/// it.
constexpr const char* kAllowEncoding = "encoding";
/// Hashes listed as witness of a tree without columns: the crate doesn't look at them.
constexpr const char* kAllowEmptyTreeWitness = "empty_tree_witness";

struct Mutation {
  std::string name;
  std::string bytes;
  Verdicts expected;
  std::string allow;
};

/// Collects the changes of one good file.
class Mutator {
 public:
  explicit Mutator(const test::ProofCase& c)
      : config_(c.config), good_(test::make_proof_file(c)), bytes_(write_proof_file(good_)) {}

  const std::string& good_bytes() const { return bytes_; }
  std::vector<Mutation> take() && { return std::move(mutations_); }

  void run() {
    change_values();
    change_digests();
    change_lists();
    change_numbers();
    change_config();
    change_statement();
    change_text();
  }

 private:
  using Change = std::function<void(ProofFile&)>;

  /// A change of the file's contents. If it touches the proof alone, the verdict on the proof in
  /// memory is checked as well: parsing must not be what protects the verifier.
  void add(std::string name, const Change& change, Verdicts expected, std::string allow = "",
           const char* in_memory = nullptr) {
    ProofFile file = good_;
    change(file);
    if (file == good_) return;  // e.g. equal neighbours swapped
    if (file.statement == good_.statement && file.config == good_.config) {
      const auto shape = make_shape(file.statement, config_);
      const std::string got(reject_reason_name(verify(*shape, file.proof).reason));
      const Verdicts wanted = in_memory == nullptr ? expected : Verdicts{in_memory};
      EXPECT_TRUE(wanted.contains(got)) << name << " in memory: " << got;
    }
    mutations_.push_back(
        {std::move(name), write_proof_file(file), std::move(expected), std::move(allow)});
  }
  void add_text(std::string name, std::string bytes, Verdicts expected, std::string allow = "") {
    mutations_.push_back(
        {std::move(name), std::move(bytes), std::move(expected), std::move(allow)});
  }

  /// Other values of one field element: another canonical one, and encodings outside [0, P).
  void m31(const std::string& name, const std::function<M31&(StarkProof&)>& at,
           const Verdicts& expected) {
    const uint32_t v = at(good_.proof).v;
    const auto set = [&](const std::string& how, uint32_t to, const Verdicts& verdicts,
                         const char* in_memory) {
      add(
          name + how, [&](ProofFile& f) { at(f.proof).v = to; }, verdicts, "", in_memory);
    };
    set(" + 1", (M31(v) + M31(1)).v, expected, nullptr);
    // The same residue, and P itself, the only other 31-bit word.
    set(" + P", v + kP, {"parse:PROOF_VALUE"}, "non_canonical_value");
    set(" := P", kP, {"parse:PROOF_VALUE"}, "non_canonical_value");
    set(" := 2^32 - 1", 0xffffffff, {"parse:PROOF_VALUE"}, "non_canonical_value");
  }
  void qm31(const std::string& name, const std::function<QM31&(StarkProof&)>& at,
            const Verdicts& expected) {
    const auto x = [&](StarkProof& p) -> CM31& { return at(p).x; };
    const auto y = [&](StarkProof& p) -> CM31& { return at(p).y; };
    m31(
        name + ".a", [&](StarkProof& p) -> M31& { return x(p).a; }, expected);
    m31(
        name + ".b", [&](StarkProof& p) -> M31& { return x(p).b; }, expected);
    m31(
        name + ".c", [&](StarkProof& p) -> M31& { return y(p).a; }, expected);
    m31(
        name + ".d", [&](StarkProof& p) -> M31& { return y(p).b; }, expected);
    add(
        name + " := 0", [&](ProofFile& f) { at(f.proof) = QM31(); }, expected);
  }
  void digest(const std::string& name, const std::function<Digest&(StarkProof&)>& at,
              const Verdicts& expected) {
    const size_t byte = rng_.below(32);
    const auto bit = static_cast<uint8_t>(1u << rng_.below(8));
    add(
        name + " bit", [&](ProofFile& f) { at(f.proof)[byte] ^= bit; }, expected);
    add(
        name + " := 0", [&](ProofFile& f) { at(f.proof).fill(0); }, expected);
    add(
        name + " reversed",
        [&](ProofFile& f) { std::reverse(at(f.proof).begin(), at(f.proof).end()); }, expected);
  }
  /// Elements missing, added, repeated and out of order. at(proof) points to the list.
  template <class At>
  void list(const std::string& name, const At& at, const Verdicts& shorter, const Verdicts& longer,
            const Verdicts& swapped, const std::string& allow_longer = "",
            const char* length_in_memory = nullptr) {
    using T = typename std::remove_pointer_t<decltype(at(good_.proof))>::value_type;
    const size_t n = at(good_.proof)->size();
    const auto resize = [&](const char* how, const auto& change, const Verdicts& expected,
                            const std::string& allow) {
      add(
          name + how, [&](ProofFile& f) { change(*at(f.proof)); }, expected, allow,
          length_in_memory);
    };
    if (n > 0) {
      resize(
          " without last", [](auto& v) { v.pop_back(); }, shorter, "");
      resize(
          " without first", [](auto& v) { v.erase(v.begin()); }, shorter, "");
      resize(
          " cleared", [](auto& v) { v.clear(); }, shorter, "");
      resize(
          " last repeated", [](auto& v) { v.push_back(T(v.back())); }, longer, allow_longer);
    }
    resize(
        " extended", [](auto& v) { v.emplace_back(); }, longer, allow_longer);
    resize(
        " with a new first", [](auto& v) { v.insert(v.begin(), T()); }, longer, allow_longer);
    for (size_t i = 0; i + 1 < n; ++i) {
      add(
          name + " swap " + std::to_string(i),
          [&](ProofFile& f) { std::swap((*at(f.proof))[i], (*at(f.proof))[i + 1]); }, swapped);
    }
  }

  static std::string index(const std::string& name, size_t i) {
    return name + "[" + std::to_string(i) + "]";
  }

  void change_values();
  void change_digests();
  void change_lists();
  void change_numbers();
  void change_config();
  void change_statement();
  void change_text();

  size_t n_layers() const { return good_.proof.fri_proof.inner_layers.size() + 1; }
  static FriLayerProof& layer(StarkProof& p, size_t k) {
    return k == 0 ? p.fri_proof.first_layer : p.fri_proof.inner_layers[k - 1];
  }

  PcsConfig config_;
  ProofFile good_;
  std::string bytes_;
  std::vector<Mutation> mutations_;
  test::Random rng_;
};

void Mutator::change_values() {
  const StarkProof& p = good_.proof;
  // Columns of a disabled component are in no constraint; the transcript still binds their samples.
  size_t n_constrained = SIZE_MAX;
  if (good_.statement.air == "wide_fibonacci_pair" &&
      good_.statement.parameter("second_enabled") == 0) {
    n_constrained = good_.statement.parameter("sequence_len");
  }
  for (size_t t = 0; t < p.sampled_values.size(); ++t) {
    for (size_t c = 0; c < p.sampled_values[t].size(); ++c) {
      for (size_t s = 0; s < p.sampled_values[t][c].size(); ++s) {
        qm31(
            index(index(index("sampled_values", t), c), s),
            [=](StarkProof& q) -> QM31& { return q.sampled_values[t][c][s]; },
            t == 1 && c >= n_constrained ? kAfterFri : Verdicts{"oods_not_matching"});
      }
    }
  }
  for (size_t t = 0; t < p.queried_values.size(); ++t) {
    for (size_t c = 0; c < p.queried_values[t].size(); ++c) {
      for (size_t k = 0; k < p.queried_values[t][c].size(); ++k) {
        m31(index(index(index("queried_values", t), c), k),
            [=](StarkProof& q) -> M31& { return q.queried_values[t][c][k]; },
            {"merkle_root_mismatch"});
      }
    }
  }
  for (size_t k = 0; k < n_layers(); ++k) {
    const size_t n = layer(good_.proof, k).fri_witness.size();
    for (size_t i = 0; i < n; ++i) {
      qm31(index(index("fri_layer", k) + ".fri_witness", i),
           [=](StarkProof& q) -> QM31& { return layer(q, k).fri_witness[i]; },
           {"fri_layer_root_mismatch"});
    }
  }
  for (size_t i = 0; i < p.fri_proof.last_layer_poly.coeffs.size(); ++i) {
    qm31(
        index("last_layer_poly.coeffs", i),
        [=](StarkProof& q) -> QM31& { return q.fri_proof.last_layer_poly.coeffs[i]; }, kAfterFri);
  }
}

void Mutator::change_digests() {
  const StarkProof& p = good_.proof;
  for (size_t t = 0; t < p.commitments.size(); ++t) {
    digest(index("commitments", t), [=](StarkProof& q) -> Digest& { return q.commitments[t]; },
           {t == 0 ? "preprocessed_root" : "oods_not_matching"});
    for (size_t i = 0; i < p.decommitments[t].hash_witness.size(); ++i) {
      digest(index(index("decommitments", t) + ".hash_witness", i),
             [=](StarkProof& q) -> Digest& { return q.decommitments[t].hash_witness[i]; },
             {"merkle_root_mismatch"});
    }
  }
  for (size_t k = 0; k < n_layers(); ++k) {
    const std::string name = index("fri_layer", k);
    digest(
        name + ".commitment", [=](StarkProof& q) -> Digest& { return layer(q, k).commitment; },
        kAfterFri);
    const size_t n = layer(good_.proof, k).decommitment.hash_witness.size();
    for (size_t i = 0; i < n; ++i) {
      digest(index(name + ".hash_witness", i),
             [=](StarkProof& q) -> Digest& { return layer(q, k).decommitment.hash_witness[i]; },
             {"fri_layer_root_mismatch"});
    }
  }
}

void Mutator::change_lists() {
  const Verdicts tree_count = {"tree_count"};
  const Verdicts samples = {"sampled_values_shape"};
  const Verdicts queried = {"queried_values_shape"};
  const Verdicts oods = {"oods_not_matching"};
  const StarkProof& p = good_.proof;

  list("commitments", [](StarkProof& q) { return &q.commitments; }, tree_count, tree_count,
       {"preprocessed_root", "oods_not_matching"});
  list("sampled_values", [](StarkProof& q) { return &q.sampled_values; }, tree_count, tree_count,
       {"sampled_values_shape", "oods_not_matching"});
  list(
      "decommitments", [](StarkProof& q) { return &q.decommitments; }, tree_count, tree_count,
      kMerkle);
  list("queried_values", [](StarkProof& q) { return &q.queried_values; }, tree_count, tree_count,
       {"queried_values_shape", "merkle_root_mismatch"});
  for (size_t t = 0; t < p.commitments.size(); ++t) {
    list(index("sampled_values", t), [=](StarkProof& q) { return &q.sampled_values[t]; }, samples,
         samples, {"sampled_values_shape", "oods_not_matching"});
    for (size_t c = 0; c < p.sampled_values[t].size(); ++c) {
      list(
          index(index("sampled_values", t), c),
          [=](StarkProof& q) { return &q.sampled_values[t][c]; }, samples, samples, oods);
    }
    list(index("queried_values", t), [=](StarkProof& q) { return &q.queried_values[t]; }, queried,
         queried, {"merkle_root_mismatch"});
    for (size_t c = 0; c < p.queried_values[t].size(); ++c) {
      list(index(index("queried_values", t), c),
           [=](StarkProof& q) { return &q.queried_values[t][c]; }, queried, queried,
           {"merkle_root_mismatch"});
    }
    list(
        index("decommitments", t), [=](StarkProof& q) { return &q.decommitments[t].hash_witness; },
        {"merkle_witness_too_short"}, {"merkle_witness_too_long"}, {"merkle_root_mismatch"},
        p.queried_values[t].empty() ? kAllowEmptyTreeWitness : "");
  }
  list(
      "inner_layers", [](StarkProof& q) { return &q.fri_proof.inner_layers; }, {"fri_layer_count"},
      {"fri_layer_count"}, kAfterFri);
  if (n_layers() > 1) {
    add(
        "first and inner layer swapped",
        [](ProofFile& f) {
          FriProof& fri = f.proof.fri_proof;
          std::swap(fri.first_layer, fri.inner_layers[0]);
        },
        kAfterFri);
  }
  for (size_t k = 0; k < n_layers(); ++k) {
    list(index("fri_layer", k) + ".fri_witness",
         [=](StarkProof& q) { return &layer(q, k).fri_witness; }, {"fri_witness_too_short"},
         {"fri_witness_too_long"}, {"fri_layer_root_mismatch"});
    list(index("fri_layer", k) + ".hash_witness",
         [=](StarkProof& q) { return &layer(q, k).decommitment.hash_witness; },
         {"fri_layer_witness_too_short"}, {"fri_layer_witness_too_long"},
         {"fri_layer_root_mismatch"});
  }
  list(
      "last_layer_poly.coeffs", [](StarkProof& q) { return &q.fri_proof.last_layer_poly.coeffs; },
      {"parse:PROOF_VALUE"}, {"parse:PROOF_VALUE"}, kAfterFri, "", "fri_last_layer_degree");
  // Lengths that agree with log_size and are wrong all the same.
  for (uint32_t n = 0; n <= 4; ++n) {
    if (n == good_.proof.fri_proof.last_layer_poly.log_size) continue;
    add("last layer of 2^" + std::to_string(n) + " coefficients",
        [=](ProofFile& f) {
          f.proof.fri_proof.last_layer_poly.coeffs.resize(size_t{1} << n);
          f.proof.fri_proof.last_layer_poly.log_size = n;
        },
        {"fri_last_layer_degree"});
  }

  // Values moved between lists of the same kind.
  add("tree 1 and 2 exchange everything",
      [](ProofFile& f) {
        std::swap(f.proof.commitments[1], f.proof.commitments[2]);
        std::swap(f.proof.sampled_values[1], f.proof.sampled_values[2]);
        std::swap(f.proof.decommitments[1], f.proof.decommitments[2]);
        std::swap(f.proof.queried_values[1], f.proof.queried_values[2]);
      },
      {"sampled_values_shape", "oods_not_matching"});
}

void Mutator::change_numbers() {
  const uint64_t nonce = good_.proof.proof_of_work;
  for (const uint64_t other :
       {nonce + 1, nonce - 1, nonce ^ (uint64_t{1} << 31), nonce ^ (uint64_t{1} << 32),
        nonce ^ (uint64_t{1} << 63), uint64_t{0}, UINT64_MAX, nonce + kP}) {
    add(
        "proof_of_work := " + std::to_string(other),
        [=](ProofFile& f) { f.proof.proof_of_work = other; }, kAfterFri);
  }
  const uint32_t e = good_.proof.fri_proof.last_layer_poly.log_size;
  for (const uint32_t other : {e + 1, e - 1, 0u, 31u, 32u, UINT32_MAX}) {
    add(
        "last_layer_poly.log_size := " + std::to_string(other),
        [=](ProofFile& f) { f.proof.fri_proof.last_layer_poly.log_size = other; },
        {"parse:PROOF_VALUE"}, "", "fri_last_layer_degree");
  }
}

void Mutator::change_config() {
  const std::pair<const char*, std::function<void(PcsConfig&, uint32_t)>> fields[] = {
      {"pow_bits", [](PcsConfig& c, uint32_t d) { c.pow_bits += d; }},
      {"log_blowup_factor", [](PcsConfig& c, uint32_t d) { c.fri.log_blowup_factor += d; }},
      {"log_last_layer_degree_bound",
       [](PcsConfig& c, uint32_t d) { c.fri.log_last_layer_degree_bound += d; }},
      {"n_queries", [](PcsConfig& c, uint32_t d) { c.fri.n_queries += d; }},
      {"fold_step", [](PcsConfig& c, uint32_t d) { c.fri.fold_step += d; }},
      {"lifting_log_size",
       [](PcsConfig& c, uint32_t d) { c.lifting_log_size = c.lifting_log_size.value_or(10) + d; }}};
  for (const auto& [name, field] : fields) {
    // A lambda can't capture a structured binding in clang 14.
    const auto& change = field;
    for (const uint32_t d : {1u, 0xffffffffu, 16u}) {
      const std::string how = std::string(name) + " + " + std::to_string(static_cast<int32_t>(d));
      add("proof.config." + how, [&](ProofFile& f) { change(f.proof.config, d); },
          {"config_mismatch"});
      add("config." + how, [&](ProofFile& f) { change(f.config, d); }, {"config_mismatch"});
    }
  }
  add("proof.config.lifting_log_size := none",
      [](ProofFile& f) { f.proof.config.lifting_log_size.reset(); }, {"config_mismatch"});
  add("config.lifting_log_size := none", [](ProofFile& f) { f.config.lifting_log_size.reset(); },
      {"config_mismatch"});
  add("proof.config.lifting_log_size := natural",
      [&](ProofFile& f) {
        f.proof.config.lifting_log_size = make_shape(good_.statement, config_)->lifting_log_size;
      },
      {"config_mismatch"});
}

void Mutator::change_statement() {
  const bool empty_tree = good_.proof.queried_values[0].empty();
  const auto parameters = good_.statement.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [key, value] = parameters[i];
    // Not bound by a lifted proof: VerifyProperty.SmallerComponentSizesAreNotBound. With the second
    // component disabled its size isn't used at all.
    if (key == "second_log_n_rows") continue;
    // Zeros of another size, lifted to the same height, make the same tree.
    if (key == "unused_log_n_rows" && config_.lifting_log_size) continue;
    for (const uint64_t d : {uint64_t{1}, UINT64_MAX, uint64_t{1} << 32}) {
      Verdicts expected;
      if (key == "sequence_len" || key == "second_sequence_len") {
        expected = {"sampled_values_shape"};
      } else if (key == "log_n_rows") {
        // Another FRI schedule, another tree 0, or only another composition identity.
        expected = {"fri_layer_count", "preprocessed_root", "oods_not_matching"};
      } else if (key == "unused_log_n_rows") {
        expected = {"preprocessed_root"};
      } else if (key == "second_enabled") {
        expected = {"oods_not_matching"};
      }
      expected.insert("statement");
      add(
          "statement." + key + " := " + std::to_string(value + d),
          [i, changed = value + d](ProofFile& f) { f.statement.parameters[i].second = changed; },
          expected);
    }
    add("statement without " + key,
        [=](ProofFile& f) {
          f.statement.parameters.erase(f.statement.parameters.begin() + static_cast<ptrdiff_t>(i));
        },
        {"statement"});
    add("statement." + key + " renamed",
        [=](ProofFile& f) { f.statement.parameters[i].first += "x"; }, {"statement"});
  }
  add("statement with a parameter too many",
      [](ProofFile& f) { f.statement.parameters.emplace_back("extra", 1); }, {"statement"});
  add("statement.mix_config", [](ProofFile& f) { f.statement.mix_config ^= true; },
      {"oods_not_matching"});
  add("statement.channel",
      [](ProofFile& f) {
        f.statement.channel = f.statement.channel == HashVariant::kBlake2s
                                  ? HashVariant::kBlake2sM31
                                  : HashVariant::kBlake2s;
      },
      {"preprocessed_root"});
  for (const char* air : {"wide_fibonacci", "wide_fibonacci_pair", "wide_fibonacci_seq", "other"}) {
    if (good_.statement.air == air) continue;
    Verdicts expected = {"statement"};
    if (empty_tree) expected.insert("sampled_values_shape");
    add(
        std::string("statement.air := ") + air, [=](ProofFile& f) { f.statement.air = air; },
        expected);
  }
}

/// Changes of the bytes that don't come from another value.
void Mutator::change_text() {
  const Verdicts noncanonical = {"parse:PROOF_NONCANONICAL"};
  const Verdicts field = {"parse:PROOF_FIELD"};
  const Verdicts value = {"parse:PROOF_VALUE"};
  const std::string text = bytes_.substr(0, bytes_.size() - 1);
  // Serde reads an absent option as null.
  const char* const absent_lifting = config_.lifting_log_size ? "" : kAllowEncoding;

  const auto insert = [&](size_t at, const std::string& what) {
    return text.substr(0, at) + what + text.substr(at);
  };
  // White space, next to some of every kind of structural byte.
  for (const char c : {'{', '}', '[', ']', ':', ','}) {
    size_t n = 0;
    for (size_t at = text.find(c); at != std::string::npos && n < 12; ++n) {
      const std::string name = std::string("white space at ") + c + " " + std::to_string(at);
      add_text(name, insert(at, n % 2 == 0 ? " " : "\t"), noncanonical, kAllowEncoding);
      at = text.find(c, at + 1 + rng_.below(text.size() / 20));
    }
  }
  add_text("white space at the end", text + " ", noncanonical, kAllowEncoding);
  add_text("bytes after the end", text + "{}", noncanonical);
  add_text("the file twice", text + text, noncanonical);
  for (int n = 0; n < 30; ++n) {
    const size_t keep = 1 + rng_.below(text.size() - 1);
    add_text("truncated to " + std::to_string(keep), text.substr(0, keep),
             {"parse:PROOF_TRUNCATED"});
  }

  // Keys: renamed, repeated, removed with their value, swapped with the next.
  for (const char* key : {"schema",
                          "statement",
                          "air",
                          "channel",
                          "mix_config",
                          "parameters",
                          "pow_bits",
                          "fri_config",
                          "log_blowup_factor",
                          "log_last_layer_degree_bound",
                          "n_queries",
                          "fold_step",
                          "lifting_log_size",
                          "proof",
                          "commitments",
                          "sampled_values",
                          "decommitments",
                          "queried_values",
                          "proof_of_work",
                          "fri_proof",
                          "first_layer",
                          "fri_witness",
                          "decommitment",
                          "commitment",
                          "inner_layers",
                          "last_layer_poly",
                          "coeffs",
                          "log_size",
                          "hash_witness"}) {
    const std::string quoted = std::string("\"") + key + "\":";
    const size_t at = text.rfind(quoted);
    ASSERT_NE(at, std::string::npos) << key;
    add_text(std::string("key ") + key + " renamed",
             text.substr(0, at + 1) + "x" + text.substr(at + 1), field,
             key == std::string("lifting_log_size") ? absent_lifting : "");
    add_text(std::string("key ") + key + " not a string",
             text.substr(0, at) + "1:" + text.substr(at + quoted.size()),
             {"parse:PROOF_FIELD", "parse:PROOF_SYNTAX"});
    add_text(std::string("no colon after ") + key,
             text.substr(0, at + quoted.size() - 1) + text.substr(at + quoted.size()),
             {"parse:PROOF_SYNTAX"});
  }
  const std::string nonce = "\"proof_of_work\":" + std::to_string(good_.proof.proof_of_work);
  const size_t at = text.find(nonce);
  ASSERT_NE(at, std::string::npos);
  add_text("proof_of_work repeated", insert(at, nonce + ","), field);
  add_text("proof_of_work missing", text.substr(0, at) + text.substr(at + nonce.size() + 1), field);
  add_text("unknown key in the proof", insert(at, "\"extra\":0,"), field, kAllowEncoding);
  add_text("unknown key in the file", text.substr(0, text.size() - 1) + ",\"extra\":0}",
           {"parse:PROOF_FIELD", "parse:PROOF_SYNTAX"});
  const std::string last = ",\"fri_proof\":";
  const size_t next = text.find(last);
  ASSERT_NE(next, std::string::npos);
  // proof_of_work moved behind fri_proof, which ends the proof and the file.
  add_text(
      "proof keys reordered",
      text.substr(0, at) + text.substr(next + 1, text.size() - 2 - (next + 1)) + "," + nonce + "}}",
      field, kAllowEncoding);
  const std::string number = std::to_string(good_.proof.proof_of_work);
  for (const auto& [how, to, expected] :
       {std::tuple<const char*, std::string, Verdicts>{"0", "0" + number, noncanonical},
        {".0", number + ".0", noncanonical},
        {"e0", number + "e0", noncanonical},
        {"-", "-" + number, value},
        {"+", "+" + number, value},
        {"quoted", "\"" + number + "\"", value},
        {"null", "null", value},
        {"list", "[" + number + "]", value},
        {"2^64", "18446744073709551616", value},
        {"nothing", "", value}}) {
    add_text(std::string("proof_of_work as ") + how,
             text.substr(0, at) + "\"proof_of_work\":" + to + text.substr(at + nonce.size()),
             expected);
  }

  // Lengths of fixed arrays and ranges of bytes.
  const std::string commitments = "\"commitments\":[[";
  const size_t first = text.find(commitments) + commitments.size();
  add_text("digest of 33 bytes", insert(first, "0,"), value);
  add_text("digest of 31 bytes", text.substr(0, first) + text.substr(text.find(',', first) + 1),
           value);
  add_text("byte 256", text.substr(0, first) + "256" + text.substr(text.find(',', first)), value);
  add_text("byte -1", text.substr(0, first) + "-1" + text.substr(text.find(',', first)), value);
  const std::string coeffs = "\"coeffs\":[[[";
  const size_t coordinate = text.find(coeffs) + coeffs.size();
  add_text("three coordinates",
           text.substr(0, coordinate) + text.substr(text.find(',', coordinate) + 1), value);
  add_text("five coordinates", insert(coordinate, "0,"), value);
  add_text("null coefficient", insert(coordinate - 2, "null,"), value);
  const std::string lifting = "\"lifting_log_size\":";
  const size_t lift = text.find(lifting);
  const size_t lift_end = text.find('}', lift);
  add_text("lifting_log_size missing", text.substr(0, lift - 1) + text.substr(lift_end), field,
           absent_lifting);
  add_text("lifting_log_size false",
           text.substr(0, lift + lifting.size()) + "false" + text.substr(lift_end), value);
  const std::string schema = "stwo_cuda_proof_v1";
  const size_t version = text.find(schema) + schema.size() - 1;
  add_text("schema version", text.substr(0, version) + "2" + text.substr(version + 1),
           {"parse:PROOF_SCHEMA"});
}

/// Where STWO_TAMPER_DUMP asks for it: files and what we say to them.
class Dump {
 public:
  Dump() {
    const char* path = std::getenv("STWO_TAMPER_DUMP");
    if (path == nullptr) return;
    files_.open(path);
    index_.open(std::string(path) + ".index");
    EXPECT_TRUE(files_ && index_) << path;
  }
  void add(const std::string& case_name, const Mutation& m, const std::string& ours) {
    if (!files_.is_open()) return;
    std::string line = m.bytes;
    if (!line.empty() && line.back() == '\n') line.pop_back();
    ASSERT_EQ(line.find('\n'), std::string::npos);
    files_ << line << '\n';
    index_ << "{\"case\":\"" << case_name << "\",\"name\":\"" << m.name << "\",\"ours\":\"" << ours
           << "\",\"allow\":\"" << m.allow << "\"}\n";
  }

 private:
  std::ofstream files_;
  std::ofstream index_;
};

TEST(Tamper, EverySingleChangeIsRejected) {
  STWO_TRACE_SEED();
  constexpr size_t kWanted = 2000;
  std::unordered_set<std::string> distinct;
  Dump dump;
  for (const test::ProofCase& c : test::small_cases()) {
    SCOPED_TRACE(c.name);
    Mutator mutator(c);
    mutator.run();
    const std::string good = mutator.good_bytes();
    ASSERT_EQ(test::verdict(good, c.config), "accepted");
    dump.add(c.name, {"unchanged", good, {}, ""}, "accepted");
    for (const Mutation& m : std::move(mutator).take()) {
      if (!distinct.insert(m.bytes).second) continue;
      const std::string ours = test::verdict(m.bytes, c.config);
      EXPECT_TRUE(m.expected.contains(ours)) << m.name << ": " << ours;
      EXPECT_NE(ours, "accepted") << m.name;
      dump.add(c.name, m, ours);
    }
  }
  std::cout << distinct.size() << " distinct changes\n";
  RecordProperty("distinct_changes", std::to_string(distinct.size()));
  EXPECT_GE(distinct.size(), kWanted);
}

}  // namespace
}  // namespace stwo
