// Identities of a proof program: SHA-256 over a canonical encoding. Numbers are little-endian of
// their field's width, texts and lists begin with their length (64 bits), so that no two programs
// have one encoding.

#include <array>
#include <string>

#include "prover/hash/sha256.hpp"
#include "prover/program/proof_program.hpp"

namespace stwo {
namespace {

constexpr std::string_view kProgramDomain = "stwo_proof_program_v1";
constexpr std::string_view kSemanticDomain = "stwo_proof_program_semantic_v1";

class Encoder {
 public:
  void u8(uint8_t v) { bytes_.push_back(static_cast<char>(v)); }
  void u32(uint32_t v) { number(v, 4); }
  void i32(int32_t v) { number(static_cast<uint32_t>(v), 4); }
  void u64(uint64_t v) { number(v, 8); }
  void flag(bool v) { u8(v ? 1 : 0); }
  void text(std::string_view v) {
    u64(v.size());
    bytes_ += v;
  }
  void bytes(const Digest& v) { bytes_.append(reinterpret_cast<const char*>(v.data()), v.size()); }
  template <class T, class Each>
  void list(const std::vector<T>& items, const Each& each) {
    u64(items.size());
    for (const T& item : items) each(item);
  }
  void list(const std::vector<uint32_t>& items) {
    list(items, [this](uint32_t v) { u32(v); });
  }

  std::string digest() const { return sha256_hex(bytes_); }

 private:
  void number(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) u8(static_cast<uint8_t>(v >> (8 * i)));
  }
  std::string bytes_;
};

void encode(Encoder& e, const Statement& s) {
  e.text(s.air);
  e.u8(static_cast<uint8_t>(s.channel));
  e.flag(s.mix_config);
  e.list(s.parameters, [&](const auto& parameter) {
    e.text(parameter.first);
    e.u64(parameter.second);
  });
}

void encode(Encoder& e, const PcsConfig& c) {
  e.u32(c.pow_bits);
  e.u32(c.fri.log_blowup_factor);
  e.u32(c.fri.log_last_layer_degree_bound);
  e.u32(c.fri.n_queries);
  e.u32(c.fri.fold_step);
  e.flag(c.lifting_log_size.has_value());
  e.u32(c.lifting_log_size.value_or(0));
}

void encode_geometry(Encoder& e, const ProofShape& s) {
  e.list(s.trees, [&](const TreeShape& t) {
    e.list(t.column_log_sizes);
    e.list(t.mask_offsets, [&](const std::vector<int>& offsets) {
      e.list(offsets, [&](int offset) { e.i32(offset); });
    });
    e.u32(t.height);
  });
  e.list(s.spans, [&](const ComponentSpan& span) {
    e.list(span.first_column);
    e.list(span.preprocessed);
    e.u32(span.first_constraint);
  });
  e.u32(s.n_constraints);
  e.u32(s.composition_log_size);
  e.u32(s.lifting_log_size);
  e.u32(s.max_degree_log_size);
  e.list(s.fri_layers, [&](const FriLayerShape& layer) {
    e.u32(layer.log_size);
    e.u32(layer.fold_step);
  });
}

void encode_chunks(Encoder& e, const std::vector<QuotientChunk>& chunks) {
  e.list(chunks, [&](const QuotientChunk& chunk) {
    e.u32(chunk.point_shift);
    e.list(chunk.terms, [&](const QuotientChunk::Term& t) {
      for (const uint32_t v : {t.tree, t.column, t.committed_log_size, t.value_index, t.power}) {
        e.u32(v);
      }
    });
  });
}

/// What the proof's bytes follow from.
void encode_semantics(Encoder& e, const ProofProgram& p) {
  e.text(p.protocol);
  encode(e, p.shape->statement);
  encode(e, p.shape->config);
  encode_geometry(e, *p.shape);
  e.list(p.components, [&](const ProgramComponent& c) {
    e.u32(c.log_size);
    e.flag(c.enabled);
    e.bytes(c.program.digest());
    e.u32(c.first_constraint);
    e.u32(c.n_constraints);
  });
  encode_chunks(e, p.quotient_chunks);
  e.u32(p.n_sampled_values);
  std::vector<const ProofNode*> transcript;
  for (const ProofNode& n : p.nodes) {
    if (n.transcript) transcript.push_back(&n);
  }
  e.list(transcript, [&](const ProofNode* n) {
    e.text(node_kind_name(n->kind));
    e.u32(n->index);
    e.u64(n->value);
    const bool draw = n->kind == NodeKind::kDrawChallenge && n->index < p.challenges.size();
    e.text(draw ? p.challenges[n->index].name : std::string());
  });
}

/// Everything else.
void encode_execution(Encoder& e, const ProofProgram& p) {
  e.u32(p.version);
  e.flag(p.half_domain_composition);
  e.list(p.components, [&](const ProgramComponent& c) {
    e.text(c.name);
    e.u32(c.max_degree);
  });
  e.list(p.sample_groups, [&](const SampleGroup& g) {
    e.u32(g.log_size);
    e.i32(g.offset);
    e.list(g.refs, [&](const SampleGroup::Ref& r) {
      for (const uint32_t v : {r.tree, r.column, r.sample, r.value_index}) e.u32(v);
    });
  });
  e.list(p.buffers, [&](const ProgramBuffer& b) {
    e.text(buffer_role_name(b.role));
    e.u32(b.index);
    e.u64(b.bytes);
    e.u32(b.alignment);
    e.text(buffer_lifetime_name(b.lifetime));
    e.flag(b.written_once);
    e.u32(b.first_node);
    e.u32(b.last_node);
  });
  e.list(p.challenges, [&](const ProgramChallenge& c) {
    e.text(c.name);
    e.u32(c.drawn_by);
    e.list(c.consumers);
  });
  e.list(p.nodes, [&](const ProofNode& n) {
    e.text(node_kind_name(n.kind));
    e.text(stage_name(n.stage));
    e.u32(n.index);
    e.u32(n.sub_index);
    e.u64(n.value);
    for (const auto* list : {&n.reads, &n.writes, &n.challenges, &n.depends_on}) e.list(*list);
    e.flag(n.transcript);
    for (const uint64_t v :
         {n.work.field_mul, n.work.compressions, n.work.bytes_read, n.work.bytes_written}) {
      e.u64(v);
    }
  });
}

}  // namespace

std::string ProofProgram::semantic_digest() const {
  Encoder e;
  e.text(kSemanticDomain);
  encode_semantics(e, *this);
  return e.digest();
}

std::string ProofProgram::digest() const {
  Encoder e;
  e.text(kProgramDomain);
  encode_semantics(e, *this);
  encode_execution(e, *this);
  return e.digest();
}

}  // namespace stwo
