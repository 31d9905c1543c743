// Validation of a proof program. Each check builds on what the ones before it found sound, so that
// one wrong field gives faults of one kind; the first check that fails is the last one made.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "prover/errors.hpp"
#include "prover/program/program_derive.hpp"
#include "prover/program/program_layout.hpp"
#include "prover/program/program_shape_check.hpp"

namespace stwo {
namespace program_layout {
namespace {

/// Bytes of all buffers together stay below this, so that offsets never wrap as signed numbers.
constexpr uint64_t kMaxProgramBytes = uint64_t{1} << 62;

std::string num(uint64_t v) { return std::to_string(v); }

class Validator {
 public:
  explicit Validator(const ProofProgram& program) : p_(program) {}

  std::vector<ProgramFault> run() {
    for (const auto check : {&Validator::shape, &Validator::dangling, &Validator::duplicates,
                             &Validator::overflow, &Validator::cycles, &Validator::lifetimes,
                             &Validator::challenges, &Validator::order, &Validator::derived}) {
      (this->*check)();
      if (!faults_.empty()) break;
    }
    return std::move(faults_);
  }

 private:
  void fault(const char* code, std::string message) {
    faults_.push_back({code, std::move(message)});
  }
  void expect(bool ok, const char* code, const std::string& message) {
    if (!ok) fault(code, message);
  }

  uint32_t n_nodes() const { return static_cast<uint32_t>(p_.nodes.size()); }
  std::string node(uint32_t i) const {
    return "node " + num(i) + " (" + std::string(node_kind_name(p_.nodes[i].kind)) + ")";
  }
  std::string buffer(uint32_t b) const {
    const ProgramBuffer& buffer = p_.buffers[b];
    return "buffer " + num(b) + " (" + std::string(buffer_role_name(buffer.role)) + " " +
           num(buffer.index) + ")";
  }

  // ---- SHAPE: what the protocol forbids ----

  void shape() {
    if (p_.shape == nullptr) {
      fault("DANGLING", "the program has no shape");
      return;
    }
    for (std::string& message : shape_faults(*p_.shape)) fault("SHAPE", std::move(message));
  }

  // ---- DANGLING ----

  void list_below(uint32_t i, const std::vector<uint32_t>& list, size_t limit, const char* what) {
    for (const uint32_t v : list) {
      expect(v < limit, "DANGLING", node(i) + " names the missing " + what + " " + num(v));
    }
  }

  void column_exists(const std::string& where, uint32_t tree, uint32_t column, uint32_t value) {
    const bool ok =
        tree < p_.shape->trees.size() && column < p_.shape->trees[tree].column_log_sizes.size();
    expect(ok, "DANGLING",
           where + " names a missing column, tree " + num(tree) + " column " + num(column));
    expect(value < p_.n_sampled_values, "DANGLING",
           where + " names the missing sampled value " + num(value));
  }

  /// How many things a node's index and sub_index may name; 1 where the kind has none.
  std::pair<size_t, size_t> index_limits(NodeKind kind) const {
    const size_t trees = p_.shape->trees.size();
    const size_t layers = p_.shape->fri_layers.size();
    switch (kind) {
      case NodeKind::kGenerateTrace:
      case NodeKind::kExtendColumns: return {p_.shape->n_trace_trees(), p_.components.size()};
      case NodeKind::kHashTree:
      case NodeKind::kAbsorbRoot:
      case NodeKind::kExtendComposition:
      case NodeKind::kOpenTree: return {trees, 1};
      case NodeKind::kDrawChallenge: return {p_.challenges.size(), 1};
      case NodeKind::kEvaluateConstraints: return {p_.components.size(), 1};
      case NodeKind::kSampleWeights:
      case NodeKind::kSampleColumns: return {p_.sample_groups.size(), 1};
      case NodeKind::kQuotientChunk: return {p_.quotient_chunks.size(), 1};
      case NodeKind::kFriHash:
      case NodeKind::kFriAbsorb:
      case NodeKind::kFriFold:
      case NodeKind::kOpenFriLayer: return {layers, 1};
      default: return {1, 1};
    }
  }

  size_t role_limit(BufferRole role) const {
    switch (role) {
      case BufferRole::kTreeColumns:
      case BufferRole::kTreeHashes: return p_.shape->trees.size();
      case BufferRole::kComponentQuotient: return p_.components.size();
      case BufferRole::kSampleWeights: return p_.sample_groups.size();
      case BufferRole::kFriValues: return p_.shape->fri_layers.size() + 1;
      case BufferRole::kFriHashes: return p_.shape->fri_layers.size();
      default: return 1;
    }
  }

  void dangling() {
    expect(p_.components.size() == p_.shape->spans.size(), "DANGLING",
           "the program has " + num(p_.components.size()) + " components; its shape has " +
               num(p_.shape->spans.size()));
    expect(!p_.nodes.empty(), "DANGLING", "the program has no node");
    for (size_t i = 0; i < p_.components.size(); ++i) {
      try {
        p_.components[i].program.check();
      } catch (const ContractError& e) {
        fault("DANGLING", "component " + num(i) + ": " + e.what());
      }
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      expect(p_.buffers[b].index < role_limit(p_.buffers[b].role), "DANGLING",
             buffer(b) + " belongs to nothing");
      expect(p_.buffers[b].first_node < n_nodes() && p_.buffers[b].last_node < n_nodes(),
             "DANGLING", buffer(b) + " names a missing node");
    }
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      const ProofNode& n = p_.nodes[i];
      list_below(i, n.reads, p_.buffers.size(), "buffer");
      list_below(i, n.writes, p_.buffers.size(), "buffer");
      list_below(i, n.challenges, p_.challenges.size(), "challenge");
      list_below(i, n.depends_on, n_nodes(), "node");
      const auto [limit, sub_limit] = index_limits(n.kind);
      expect(n.index < limit && n.sub_index < sub_limit, "DANGLING",
             node(i) + " works on something missing, " + num(n.index) + " " + num(n.sub_index));
    }
    for (const ProgramChallenge& c : p_.challenges) {
      bool ok = c.drawn_by < n_nodes();
      for (const uint32_t consumer : c.consumers) ok = ok && consumer < n_nodes();
      expect(ok, "DANGLING", "challenge " + c.name + " names a missing node");
    }
    for (size_t g = 0; g < p_.sample_groups.size(); ++g) {
      for (const SampleGroup::Ref& r : p_.sample_groups[g].refs) {
        column_exists("sample group " + num(g), r.tree, r.column, r.value_index);
      }
    }
    for (size_t c = 0; c < p_.quotient_chunks.size(); ++c) {
      for (const QuotientChunk::Term& t : p_.quotient_chunks[c].terms) {
        column_exists("quotient chunk " + num(c), t.tree, t.column, t.value_index);
      }
    }
  }

  // ---- DUPLICATE, and ORDER of lists ----

  void ascending(const std::string& where, const std::vector<uint32_t>& list, const char* what) {
    const auto at = std::adjacent_find(list.begin(), list.end(), std::greater_equal<>());
    if (at == list.end()) return;
    if (std::set<uint32_t>(list.begin(), list.end()).size() < list.size()) {
      fault("DUPLICATE", where + " names one " + what + " twice");
    } else {
      fault("ORDER", where + " does not list its " + what + "s in ascending order");
    }
  }

  void duplicates() {
    std::set<std::pair<BufferRole, uint32_t>> roles;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      expect(roles.insert({p_.buffers[b].role, p_.buffers[b].index}).second, "DUPLICATE",
             buffer(b) + " exists twice");
    }
    std::set<std::string> names;
    for (const ProgramChallenge& c : p_.challenges) {
      expect(names.insert(c.name).second, "DUPLICATE", "challenge " + c.name + " exists twice");
      ascending("challenge " + c.name, c.consumers, "consumer");
    }
    std::set<std::tuple<NodeKind, uint32_t, uint32_t>> done;
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      const ProofNode& n = p_.nodes[i];
      ascending(node(i), n.reads, "buffer");
      ascending(node(i), n.writes, "buffer");
      ascending(node(i), n.challenges, "challenge");
      ascending(node(i), n.depends_on, "dependency");
      // An application may absorb the same thing twice.
      if (n.kind == NodeKind::kMixConfig || n.kind == NodeKind::kMixU64) continue;
      expect(done.insert({n.kind, n.index, n.sub_index}).second, "DUPLICATE",
             node(i) + " does what an earlier node did");
    }
  }

  // ---- OVERFLOW ----

  void overflow() {
    try {
      Size total = 0;
      for (const ProgramBuffer& b : p_.buffers) total += Size(b.bytes) + b.alignment;
      expect(total.value() < kMaxProgramBytes, "OVERFLOW",
             "the buffers together have " + num(total.value()) + " bytes");
      Size work[4] = {0, 0, 0, 0};
      for (const ProofNode& n : p_.nodes) {
        work[0] += n.work.field_mul;
        work[1] += n.work.compressions;
        work[2] += n.work.bytes_read;
        work[3] += n.work.bytes_written;
      }
    } catch (const SizeOverflow&) {
      fault("OVERFLOW", "the sizes of the buffers or the work of the nodes exceed 64 bits in sum");
    }
  }

  // ---- CYCLE ----

  void cycles() {
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      for (const uint32_t d : p_.nodes[i].depends_on) {
        expect(
            d < i, "CYCLE",
            node(i) + " depends on node " + num(d) + (d == i ? ", itself" : ", which comes later"));
      }
    }
  }

  // ---- LIFETIME ----

  struct Use {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    uint32_t writers = 0;
    std::vector<bool> written;  ///< by part
  };

  void lifetimes() {
    std::vector<Use> uses(p_.buffers.size());
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      uses[b].written.resize(part_count(p_, p_.buffers[b]), false);
    }
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      const ProofNode& n = p_.nodes[i];
      for (const uint32_t b : n.reads) {
        const ProgramBuffer& buf = p_.buffers[b];
        touch(uses[b], i);
        if (buf.role == BufferRole::kChallenges) continue;  // challenges() looks at each
        for (const uint32_t part : parts_touched(p_, n, buf)) {
          // The last node adds to the terminal buffer what no opening wrote.
          const bool fills = n.kind == NodeKind::kAssemble && buf.role == BufferRole::kProof;
          expect(buf.lifetime == BufferLifetime::kShape || uses[b].written[part] || fills,
                 "LIFETIME", node(i) + " reads " + buffer(b) + " before it is written");
        }
      }
      for (const uint32_t b : n.writes) {
        expect(p_.buffers[b].lifetime != BufferLifetime::kShape, "LIFETIME",
               node(i) + " writes " + buffer(b) + ", which requests may only read");
        for (const uint32_t part : parts_touched(p_, n, p_.buffers[b]))
          uses[b].written[part] = true;
        touch(uses[b], i);
        ++uses[b].writers;
      }
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) interval(b, uses[b]);
  }

  static void touch(Use& use, uint32_t i) {
    use.first = std::min(use.first, i);
    use.last = i;
  }

  void interval(uint32_t b, const Use& use) {
    const ProgramBuffer& buf = p_.buffers[b];
    if (use.first == UINT32_MAX) {
      fault("LIFETIME", buffer(b) + " is never used");
      return;
    }
    const bool shape = buf.lifetime == BufferLifetime::kShape;
    const uint32_t first = shape ? 0 : use.first;
    const uint32_t last = shape ? n_nodes() - 1 : use.last;
    expect(
        first >= buf.first_node && last <= buf.last_node, "LIFETIME",
        buffer(b) + " is used outside its interval, from node " + num(first) + " to " + num(last));
    expect(first <= buf.first_node && last >= buf.last_node, "LIFETIME",
           buffer(b) + " is kept longer than it is used, from node " + num(buf.first_node) +
               " to " + num(buf.last_node));
    expect(buf.written_once == (use.writers <= 1), "LIFETIME",
           buffer(b) + " is written by " + num(use.writers) + " nodes");
  }

  // ---- CHALLENGE ----

  void challenges() {
    const Ancestors ancestors = ancestors_of(p_);
    std::vector<std::vector<uint32_t>> consumers(p_.challenges.size());
    std::vector<bool> drawn(p_.challenges.size(), false);
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      const ProofNode& n = p_.nodes[i];
      for (const uint32_t c : n.challenges) {
        consumers[c].push_back(i);
        const ProgramChallenge& challenge = p_.challenges[c];
        if (!drawn[c]) {
          fault("CHALLENGE", node(i) + " uses challenge " + challenge.name + " before it is drawn");
        } else {
          expect(ancestors.contains(i, challenge.drawn_by), "CHALLENGE",
                 node(i) + " does not depend on the draw of challenge " + challenge.name);
        }
      }
      if (n.kind == NodeKind::kDrawChallenge) {
        drawn[n.index] = true;
        expect(p_.challenges[n.index].drawn_by == i, "CHALLENGE",
               node(i) + " draws challenge " + p_.challenges[n.index].name +
                   ", which names another node");
      }
    }
    for (size_t c = 0; c < p_.challenges.size(); ++c) {
      expect(drawn[c], "CHALLENGE", "challenge " + p_.challenges[c].name + " is never drawn");
      expect(p_.challenges[c].consumers == consumers[c], "CHALLENGE",
             "challenge " + p_.challenges[c].name + " does not list the nodes that use it");
    }
  }

  // ---- ORDER, and redundant dependencies ----

  void order() {
    const Ancestors ancestors = ancestors_of(p_);
    bool first = true;
    uint32_t previous = 0;
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      expect(p_.nodes[i].transcript == touches_transcript(p_.nodes[i].kind), "ORDER",
             node(i) + " has a wrong transcript mark");
      if (!touches_transcript(p_.nodes[i].kind)) continue;
      expect(first || ancestors.contains(i, previous), "ORDER",
             node(i) + " does not follow node " + num(previous) +
                 ", its predecessor in the "
                 "transcript");
      first = false;
      previous = i;
    }
    expect(p_.nodes[0].kind == NodeKind::kBegin, "ORDER", "the program does not begin with begin");
    const auto required = required_dependencies(p_);
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      for (const uint32_t d : required[i]) {
        expect(ancestors.contains(i, d), "ORDER", node(i) + " does not wait for node " + num(d));
      }
    }
    if (!faults_.empty()) return;
    for (uint32_t i = 0; i < n_nodes(); ++i) {
      const auto& given = p_.nodes[i].depends_on;
      for (const uint32_t d : given) {
        if (std::binary_search(required[i].begin(), required[i].end(), d)) continue;
        const bool implied = std::any_of(given.begin(), given.end(), [&](uint32_t other) {
          return other != d && ancestors.contains(other, d);
        });
        if (implied) {
          fault("DUPLICATE", node(i) + " depends on node " + num(d) + ", which others imply");
        } else {
          fault("ORDER", node(i) + " waits for node " + num(d) + " without a reason");
        }
      }
    }
  }

  // ---- SHAPE: everything else follows from the shape ----

  void derived() {
    ProofProgram expected;
    try {
      expected = derive_program(p_.shape);
    } catch (const SizeOverflow& e) {
      fault("OVERFLOW", std::string("the shape cannot be laid out: ") + e.what());
      return;
    }
    const auto same = [&](bool ok, const std::string& what) {
      expect(ok, "SHAPE", what + " differs from what the shape gives");
    };
    same(p_.protocol == expected.protocol, "the protocol");
    same(p_.version == expected.version, "the version");
    same(p_.half_domain_composition == expected.half_domain_composition,
         "the way the composition is evaluated");
    same(p_.n_sampled_values == expected.n_sampled_values, "the number of sampled values");
    for (size_t i = 0; i < p_.components.size(); ++i) {
      same(p_.components[i] == expected.components[i], "component " + num(i));
    }
    compare(p_.sample_groups, expected.sample_groups, "sample group");
    compare(p_.quotient_chunks, expected.quotient_chunks, "quotient chunk");
    compare(p_.challenges, expected.challenges, "challenge");
    if (p_.buffers.size() == expected.buffers.size()) {
      for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
        // A backend may ask for more alignment, if it is one.
        const uint32_t alignment = p_.buffers[b].alignment;
        expect(alignment != 0 && (alignment & (alignment - 1)) == 0, "SHAPE",
               buffer(b) + " has an alignment that is no power of two");
        expected.buffers[b].alignment = alignment;
      }
    }
    compare(p_.buffers, expected.buffers, "buffer");
    compare(p_.nodes, expected.nodes, "node");
  }

  template <class T>
  void compare(const std::vector<T>& got, const std::vector<T>& expected, const char* what) {
    if (got.size() != expected.size()) {
      fault("SHAPE", "the program has " + num(got.size()) + " " + what + "s; its shape gives " +
                         num(expected.size()));
      return;
    }
    for (size_t i = 0; i < got.size(); ++i) {
      expect(got[i] == expected[i], "SHAPE",
             std::string(what) + " " + num(i) + " differs from what the shape gives");
    }
  }

  const ProofProgram& p_;
  std::vector<ProgramFault> faults_;
};

}  // namespace
}  // namespace program_layout

std::vector<ProgramFault> validate(const ProofProgram& program) {
  return program_layout::Validator(program).run();
}

}  // namespace stwo
