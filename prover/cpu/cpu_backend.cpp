#include "prover/cpu/cpu_backend.hpp"

#include <algorithm>
#include <set>

#include "prover/circle/domain.hpp"
#include "prover/cpu/cpu_shape.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace cpu {
namespace {

/// Rows beyond which columns are padded apart.
constexpr uint64_t kPaddedRows = 1024;
constexpr uint64_t kPadWords = 16;

/// Scratch words a session needs, over the stages that share the buffer.
uint64_t scratch_words(const ProofShape& shape) {
  const auto rows = [](uint32_t log) { return secure_words(uint64_t{1} << log); };
  uint32_t largest_trace = 1;
  uint32_t second_component = 0;
  for (const auto& c : shape.instance->components()) {
    largest_trace = std::max(largest_trace, c->log_size());
    second_component = std::max(second_component, c->log_degree_bound());
  }
  for (const TreeShape& tree : shape.trees) {
    for (const uint32_t log : tree.column_log_sizes) largest_trace = std::max(largest_trace, log);
  }
  const uint32_t lifting = shape.lifting_log_size;
  // Composition accumulator and one component's own part.
  const uint64_t composition =
      rows(shape.composition_log_size) +
      (shape.instance->components().size() > 1 ? rows(second_component) : 0);
  const uint64_t oods = rows(largest_trace);
  // Numerators, and those of smaller columns before they are lifted.
  const uint64_t quotient = 2 * rows(shape.max_degree_log_size);
  // Folds between committed layers.
  const uint64_t fri = shape.config.fri.fold_step > 1
                           ? rows(lifting - 1) + (lifting >= 2 ? rows(lifting - 2) : 0)
                           : 0;
  return std::max({composition, oods, quotient, fri});
}

std::vector<uint32_t> fft_domains(const ProofShape& shape) {
  std::set<uint32_t> logs{shape.lifting_log_size};
  for (const TreeShape& tree : shape.trees) {
    for (const uint32_t log : tree.column_log_sizes) {
      logs.insert(log);
      logs.insert(log + shape.log_blowup());
    }
  }
  return {logs.begin(), logs.end()};
}

uint64_t tree_words(const ProofShape& shape, const TreeShape& tree) {
  uint64_t words = 0;
  for (const uint32_t log : tree.column_log_sizes) {
    words += column_stride(uint64_t{1} << (log + shape.log_blowup()));
  }
  return words;
}

}  // namespace

uint64_t column_stride(uint64_t rows) {
  return rows >= kPaddedRows ? rows + kPadWords : std::max(rows, kPadWords);
}

SecureColumns secure_columns(M31* base, uint64_t rows) {
  SecureColumns s;
  for (uint64_t k = 0; k < 4; ++k) s.c[k] = base + k * column_stride(rows);
  return s;
}

uint64_t secure_words(uint64_t rows) { return 4 * column_stride(rows); }

CpuShape::CpuShape(std::shared_ptr<const ProofShape> shape, ThreadPool& pool)
    : shape_(std::move(shape)), pool_(pool), plan_(plan_memory()) {
  const uint64_t available = available_memory_bytes();
  if (available != 0 && plan_.total() > available) {
    throw EnvironmentError("OUT_OF_MEMORY",
                           shape_->statement.air + ": proving this shape needs " +
                               std::to_string(plan_.total() >> 20) + " MiB and " +
                               std::to_string(available >> 20) +
                               " MiB are available; lower the trace size or the blowup");
  }
  allocate();
  commit_preprocessed();
}

MemoryPlan CpuShape::plan_memory() const {
  const ProofShape& s = *shape_;
  MemoryPlan plan;
  std::set<uint32_t> logs;
  const auto domains = fft_domains(s);
  uint32_t largest = s.lifting_log_size;
  for (const uint32_t d : domains) {
    plan.tables_bytes += 2 * (uint64_t{4} << (d - 1));
    largest = std::max(largest, d);
  }
  plan.tables_bytes += 2 * (uint64_t{4} << (largest - 1));
  plan.tables_bytes += 2 * (uint64_t{4} << s.max_degree_log_size);
  for (const TreeShape& tree : s.trees) {
    plan.arena_bytes += 4 * tree_words(s, tree) + HashTree::bytes_for(tree.height);
  }
  for (const FriLayerShape& layer : s.fri_layers) {
    plan.arena_bytes +=
        4 * secure_words(uint64_t{1} << layer.log_size) + HashTree::bytes_for(layer.tree_height());
  }
  plan.arena_bytes += 4 * secure_words(uint64_t{1} << s.last_layer_log_size());
  plan.scratch_bytes = 4 * scratch_words(s);
  return plan;
}

void CpuShape::allocate() {
  const ProofShape& s = *shape_;
  const auto domains = fft_domains(s);
  twiddles_ = std::make_unique<TwiddleTree>(domains.back(), domains);

  for (const TreeShape& tree : s.trees) {
    CommittedTree t;
    t.values = Buffer<M31>(tree_words(s, tree));
    M31* at = t.values.data();
    for (const uint32_t log : tree.column_log_sizes) {
      t.columns.push_back(at);
      at += column_stride(uint64_t{1} << (log + s.log_blowup()));
    }
    t.hashes = HashTree(tree.height);
    trees.push_back(std::move(t));
  }
  for (const FriLayerShape& layer : s.fri_layers) {
    const uint64_t rows = uint64_t{1} << layer.log_size;
    fri_storage_.emplace_back(secure_words(rows));
    fri_values.push_back(secure_columns(fri_storage_.back().data(), rows));
    fri_trees.emplace_back(layer.tree_height());
  }
  const uint64_t last_rows = uint64_t{1} << s.last_layer_log_size();
  fri_storage_.emplace_back(secure_words(last_rows));
  last_layer = secure_columns(fri_storage_.back().data(), last_rows);
  scratch_ = Buffer<M31>(scratch_words(s));

  // x of storage positions 2h and 2h+1 is that of the half coset's element brev(h): layer 1 holds
  // it for even h, and odd h is half a turn further, which negates both coordinates.
  const uint64_t rows = uint64_t{1} << s.max_degree_log_size;
  domain_x = Buffer<M31>(rows);
  domain_y = Buffer<M31>(rows);
  const FftLayers tw = twiddles_->forward(s.lifting_log_size);
  for (uint64_t p = 0; p < rows; ++p) {
    const M31 x(tw.layer[1][p >> 2] / 2);
    const M31 y(tw.layer[0][p >> 1] / 2);
    domain_x[p] = (p & 2) != 0 ? -x : x;
    domain_y[p] = (p & 1) != 0 ? -y : y;
  }
}

void CpuShape::extend_column(uint32_t tree, uint32_t column) const {
  const uint32_t n = shape_->trees[tree].column_log_sizes[column];
  const uint32_t b = shape_->log_blowup();
  M31* values = trees[tree].columns[column];
  // The last block holds the coefficients until its own turn, so that nothing else is needed.
  const uint64_t last = (uint64_t{1} << b) - 1;
  M31* coefficients = values + (last << n);
  interpolate(values, coefficients, n, twiddles_->inverse(n), 0);
  const FftLayers forward = twiddles_->forward(n + b);
  for (uint64_t block = 0; block < last; ++block) {
    evaluate(coefficients, values + (block << n), n, forward, block);
  }
  evaluate(coefficients, coefficients, n, forward, last);
}

void CpuShape::hash_columns(uint32_t tree) const {
  const TreeShape& t = shape_->trees[tree];
  CommittedTree& committed = trees[tree];
  // Hash order: by length, ties in commit order.
  std::vector<uint32_t> order(t.column_log_sizes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return t.column_log_sizes[a] < t.column_log_sizes[b];
  });
  std::vector<LeafColumn> columns;
  columns.reserve(order.size());
  for (const uint32_t c : order) {
    columns.push_back(
        {committed.columns[c], t.height - (t.column_log_sizes[c] + shape_->log_blowup())});
  }
  const HashVariant variant = shape_->statement.channel;
  committed.hashes.build(pool_, variant, [&](const HashLayer& layer, uint64_t begin, uint64_t end) {
    hash_leaves(variant, columns.data(), columns.size(), layer, begin, end);
  });
}

void CpuShape::commit_preprocessed() {
  const auto& preprocessed = shape_->instance->preprocessed();
  for (size_t c = 0; c < preprocessed.size(); ++c) {
    preprocessed[c].fill({trees[0].columns[c], size_t{1} << preprocessed[c].log_size});
  }
  pool_.parallel_for(preprocessed.size(),
                     [&](uint64_t c, uint32_t) { extend_column(0, static_cast<uint32_t>(c)); });
  hash_columns(0);
}

std::unique_ptr<ProofSession> CpuShape::begin(const TranscriptObserver& observer) {
  return make_cpu_session(*this, observer);
}

namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(uint32_t n_threads) : pool_(n_threads) {}
  std::string_view name() const override { return "cpu"; }
  std::string description() const override {
    return instruction_set() + ", " + std::to_string(pool_.size()) +
           (pool_.size() == 1 ? " thread" : " threads");
  }
  std::unique_ptr<PreparedShape> prepare(std::shared_ptr<const ProofShape> shape) override {
    return std::make_unique<CpuShape>(std::move(shape), pool_);
  }

 private:
  ThreadPool pool_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(uint32_t n_threads) {
  return std::make_unique<cpu::CpuBackend>(n_threads);
}

}  // namespace stwo
