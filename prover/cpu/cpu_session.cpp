// One proof on the CPU, stage by stage. Order and formulas: protocol.md section 7.

#include <algorithm>
#include <atomic>
#include <map>

#include "prover/circle/domain.hpp"
#include "prover/composition_check.hpp"
#include "prover/cpu/cpu_shape.hpp"
#include "prover/errors.hpp"
#include "prover/pcs/quotients.hpp"
#include "prover/poly/circle_fft.hpp"

namespace stwo::cpu {
namespace {

/// Smallest row range worth a task.
constexpr uint64_t kMinRows = 256;
/// Rows of weights (16 bytes each) that stay in the L2 cache while all columns pass by.
constexpr uint64_t kMaxSumRows = 1 << 13;
/// Nonces searched by one task; a vector never crosses a change of the nonce's high word because
/// this divides 2^20.
constexpr uint64_t kNoncesPerTask = 1 << 12;
/// Above this many nonces the search is lost: the crate requires the high word below P.
constexpr uint64_t kMaxNonces = uint64_t{kP} << 20;

class CpuSession final : public ProofSession {
 public:
  CpuSession(CpuShape& prepared, const TranscriptObserver& observer)
      : p_(prepared),
        s_(prepared.shape()),
        pool_(prepared.pool()),
        observer_(observer),
        channel_(s_.statement.channel) {}

  void ingress() override {
    channel_ = Channel(s_.statement.channel);
    proof_ = StarkProof();
    proof_.config = s_.config;
  }

  void mix_config() override {
    s_.config.mix_into(channel_);
    observe("mix_config");
  }

  void mix_u64(uint64_t value) override {
    channel_.mix_u64(value);
    observe("mix_u64");
  }

  void trace_generation(uint32_t tree) override {
    if (tree == 0) return;  // committed when the shape was prepared
    const auto& components = s_.instance->components();
    for (size_t i = 0; i < components.size(); ++i) {
      const Component& component = *components[i];
      if (tree >= component.info().mask_offsets.size()) continue;
      TraceRows rows;
      const uint32_t first = s_.spans[i].first_column[tree];
      for (size_t c = 0; c < component.info().mask_offsets[tree].size(); ++c) {
        rows.columns.push_back(p_.trees[tree].columns[first + c]);
      }
      const uint64_t n_rows = uint64_t{1} << component.log_size();
      if (!component.enabled()) {
        for (M31* column : rows.columns) std::fill_n(column, n_rows, M31(0));
        continue;
      }
      STWO_CHECK(tree == 1, "only the main trace has a row-local generator");
      pool_.parallel_ranges(n_rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
        component.kernels().trace(component.script(), rows, begin, end);
      });
    }
  }

  void trace_commit(uint32_t tree) override {
    if (tree != 0) {
      pool_.parallel_for(p_.trees[tree].columns.size(), [&](uint64_t c, uint32_t) {
        p_.extend_column(tree, static_cast<uint32_t>(c));
      });
      p_.hash_columns(tree);
    }
    absorb_root(tree, "tree" + std::to_string(tree) + "_root");
  }

  void constraint_evaluation() override {
    alpha_ = channel_.draw_secure_felt();
    uint32_t degree = 0;
    for (const auto& c : s_.instance->components()) {
      if (c->enabled()) degree = std::max(degree, c->info().max_degree());
    }
    weights_ = constraint_weights();
    constant_right_ = degree <= 2 && !p_.full_domain_composition;
    if (constant_right_) {
      compose_half_domain();
    } else {
      compose_full_domain();
    }
    p_.hash_columns(s_.n_trace_trees());
    absorb_root(s_.n_trace_trees(), "composition_root");
  }

  void oods() override {
    const QM31 t = channel_.draw_secure_felt();
    if (!secure_point_from_parameter(t, &oods_point_)) {
      throw ConstraintsNotSatisfied(
          "the out-of-domain parameter drawn is degenerate; prove again "
          "with another transcript");
    }
    sample_columns();
    check_composition(s_, proof_.sampled_values, alpha_, oods_point_);
    std::vector<QM31> flat;
    for (const auto& tree : proof_.sampled_values) {
      for (const auto& column : tree) flat.insert(flat.end(), column.begin(), column.end());
    }
    channel_.mix_felts(flat);
    observe("sampled_values");
  }

  void quotient() override {
    const QM31 coefficient = channel_.draw_secure_felt();
    const auto batches = make_quotient_batches(s_, oods_point_, proof_.sampled_values, coefficient);
    if (!batches) {
      throw ConstraintsNotSatisfied(
          "the out-of-domain point drawn is degenerate; prove again with "
          "another transcript");
    }
    bool accumulate = false;
    for (const QuotientBatch& batch : *batches) {
      quotient_batch(batch, accumulate);
      accumulate = true;
    }
    extend_quotient();
  }

  void fri_commit() override {
    const HashVariant variant = s_.statement.channel;
    for (size_t i = 0; i < s_.fri_layers.size(); ++i) {
      const FriLayerShape& layer = s_.fri_layers[i];
      const SecureColumns values = p_.fri_values[i];
      HashTree& tree = p_.fri_trees[i];
      tree.build(pool_, variant, [&](const HashLayer& out, uint64_t begin, uint64_t end) {
        if (layer.packed()) {
          hash_packed_leaves(variant, values, out, begin, end);
        } else {
          const LeafColumn columns[4] = {
              {values.c[0], 0}, {values.c[1], 0}, {values.c[2], 0}, {values.c[3], 0}};
          hash_leaves(variant, columns, 4, out, begin, end);
        }
      });
      channel_.mix_root(tree.root());
      observe("fri_layer_" + std::to_string(i) + "_root");
      const QM31 beta = channel_.draw_secure_felt();
      const bool last = i + 1 == s_.fri_layers.size();
      fold_layer(i == 0, layer, values, last ? p_.last_layer : p_.fri_values[i + 1], beta);
    }
    proof_.fri_proof.last_layer_poly = interpolate_last_layer();
    channel_.mix_felts(proof_.fri_proof.last_layer_poly.coeffs);
    observe("fri_last_layer");
  }

  void pow() override {
    proof_.proof_of_work = find_nonce();
    channel_.mix_u64(proof_.proof_of_work);
    observe("pow_nonce");
  }

  void decommit() override {
    const auto positions = draw_queries(channel_, s_.lifting_log_size, s_.config.fri.n_queries);
    const auto preprocessed =
        preprocessed_query_positions(positions, s_.lifting_log_size, s_.trees[0].height);
    for (size_t t = 0; t < s_.trees.size(); ++t) {
      open_tree(t, t == 0 ? preprocessed : positions);
    }
    open_fri(positions);
  }

  StarkProof proof_assembly() override { return std::move(proof_); }

 private:
  void observe(std::string_view step) const {
    if (observer_) observer_(step, channel_.digest());
  }

  void absorb_root(uint32_t tree, const std::string& step) {
    const Digest root = p_.trees[tree].hashes.root();
    proof_.commitments.push_back(root);
    channel_.mix_root(root);
    observe(step);
  }

  // ---- constraint_evaluation ----

  /// Weight of each constraint: constraint k of n weighs alpha^(n-1-k).
  std::vector<QM31> constraint_weights() const {
    std::vector<QM31> weights(s_.n_constraints);
    QM31 power = QM31::one();
    for (size_t k = weights.size(); k-- > 0;) {
      weights[k] = power;
      power *= alpha_;
    }
    return weights;
  }

  /// Components that contribute, largest first: the first can then write the accumulator instead of
  /// adding to it.
  std::vector<size_t> contributing_components() const {
    const auto& components = s_.instance->components();
    std::vector<size_t> order;
    for (size_t i = 0; i < components.size(); ++i) {
      if (components[i]->enabled() && components[i]->info().n_constraints() > 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return components[a]->log_size() > components[b]->log_size();
    });
    return order;
  }

  /// Sum of all components' quotients on the first 2^log_rows rows, each lifted from its own
  /// 2^(log_size + extra) rows.
  void accumulate_components(const SecureColumns& accumulator, uint32_t log_rows, uint32_t extra) {
    const auto order = contributing_components();
    const auto& components = s_.instance->components();
    const uint64_t rows = uint64_t{1} << log_rows;
    if (order.empty() || components[order.front()]->log_size() + extra != log_rows) {
      for (M31* c : accumulator.c) std::fill_n(c, rows, M31(0));
    }
    bool first = true;
    for (const size_t i : order) {
      const uint32_t log = components[i]->log_size() + extra;
      const bool direct = first && log == log_rows;
      const SecureColumns part =
          direct ? accumulator
                 : secure_columns(p_.scratch() + secure_words(rows), uint64_t{1} << log);
      const ConstraintRows args = constraint_rows(i, part, 0);
      pool_.parallel_ranges(
          uint64_t{1} << log, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
            components[i]->kernels().constraints(components[i]->script(), args, begin, end);
          });
      if (!direct) {
        pool_.parallel_ranges(rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
          lift_add(part, log_rows - log, accumulator, begin, end);
        });
      }
      first = false;
    }
  }

  /// Arguments of a component's constraint kernel on its extended columns; row r is stored at
  /// out[r - out_first_row].
  ConstraintRows constraint_rows(size_t index, const SecureColumns& out,
                                 uint64_t out_first_row) const {
    const Component& component = *s_.instance->components()[index];
    const ComponentSpan& span = s_.spans[index];
    ConstraintRows rows;
    rows.coefficients = weights_.data() + span.first_constraint;
    rows.trace_log_size = component.log_size();
    rows.domain_log_size = component.log_size() + s_.log_blowup();
    const auto& masks = component.info().mask_offsets;
    rows.tree_columns.resize(std::max<size_t>(masks.size(), 2));
    for (size_t t = 1; t < masks.size(); ++t) {
      for (size_t c = 0; c < masks[t].size(); ++c) {
        rows.tree_columns[t].push_back(p_.trees[t].columns[span.first_column[t] + c]);
      }
    }
    for (const uint32_t c : span.preprocessed) rows.preprocessed.push_back(p_.trees[0].columns[c]);
    // The vanishing polynomial is constant on each block of 2^n storage rows.
    const CanonicCoset domain{rows.domain_log_size};
    for (uint32_t block = 0; block < 2; ++block) {
      rows.inverse_vanishing[block] =
          vanishing_at(domain, block << rows.trace_log_size, rows.trace_log_size).inverse();
    }
    for (uint32_t k = 0; k < 4; ++k) rows.out[k] = out.c[k];
    rows.out_first_row = out_first_row;
    return rows;
  }

  static M31 vanishing_at(const CanonicCoset& domain, uint32_t storage_row, uint32_t log_size) {
    return canonic_vanishing(domain.at_storage(storage_row).x, log_size);
  }

  /// Constraints of degree 3: the quotient needs 2^(n+1) values. Those of the first 2^(n+1)
  /// extended rows determine it.
  void compose_full_domain() {
    const uint32_t tree = s_.n_trace_trees();
    const uint32_t half_log = s_.composition_log_size - 1;
    const uint32_t extended = half_log + s_.log_blowup();
    const SecureColumns accumulator =
        secure_columns(p_.scratch(), uint64_t{1} << s_.composition_log_size);
    accumulate_components(accumulator, s_.composition_log_size, 1);
    const FftLayers inverse = p_.twiddles().inverse(extended);
    pool_.parallel_for(4, [&](uint64_t k, uint32_t) {
      interpolate(accumulator.c[k], accumulator.c[k], s_.composition_log_size, inverse, 0);
    });
    // The lower half of the coefficients is the left polynomial, the upper half the right one.
    const FftLayers forward = p_.twiddles().forward(extended);
    const uint64_t blocks = uint64_t{1} << s_.log_blowup();
    pool_.parallel_for(8 * blocks, [&](uint64_t task, uint32_t) {
      const uint64_t column = task / blocks;
      const uint64_t block = task % blocks;
      const M31* coefficients = accumulator.c[column % 4] + (column / 4 << half_log);
      evaluate(coefficients, p_.trees[tree].columns[column] + (block << half_log), half_log,
               forward, block);
    });
  }

  /// Constraints of degree 2 at most: the numerators have degree N, so that the quotient is
  /// left + V c with left of degree bound N = 2^n, V the vanishing polynomial and c constant: the
  /// right polynomial is that constant. V is s on the first block of N rows and differs from it on
  /// the second, where it is -s. Hence the N values of the first block, read as a polynomial r of
  /// bound N, give left = r - s c everywhere, and one value q of the second block gives
  /// c = (r - q) / (2 s) there.
  void compose_half_domain() {
    const uint32_t tree = s_.n_trace_trees();
    const uint32_t log = s_.composition_log_size - 1;
    const uint32_t extended = log + s_.log_blowup();
    const uint64_t rows = uint64_t{1} << log;
    const uint64_t blocks = uint64_t{1} << s_.log_blowup();
    const SecureColumns accumulator = secure_columns(p_.scratch(), rows);
    accumulate_components(accumulator, log, 0);
    const QM31 second_block = quotient_at_second_block();
    const M31 s = vanishing_at(CanonicCoset{extended}, 0, log);
    const M31 half_inverse = (s + s).inverse();
    const FftLayers inverse = p_.twiddles().inverse(extended);
    const FftLayers forward = p_.twiddles().forward(extended);
    pool_.parallel_for(4, [&](uint64_t k, uint32_t) {
      M31* left = p_.trees[tree].columns[k];
      M31* coefficients = left + ((blocks - 1) << log);
      interpolate(accumulator.c[k], coefficients, log, inverse, 0);
      std::copy_n(accumulator.c[k], rows, left);
      for (uint64_t block = 1; block < blocks; ++block) {
        evaluate(coefficients, left + (block << log), log, forward, block);
      }
      const M31 c = (left[rows] - second_block.coordinate(static_cast<uint32_t>(k))) * half_inverse;
      subtract_constant(left, s * c, 0, blocks << log);
      std::fill_n(p_.trees[tree].columns[4 + k], blocks << log, c);
      right_constant_[k] = c;
    });
  }

  /// The composition quotient at the first row of the second block.
  QM31 quotient_at_second_block() const {
    M31 storage[4][kBufferPaddingBytes / sizeof(M31)];
    SecureColumns out;
    for (size_t k = 0; k < 4; ++k) out.c[k] = storage[k];
    QM31 sum;
    for (const size_t i : contributing_components()) {
      // Lifting maps the first row of the composition's second block to that of every component's.
      const uint64_t row = uint64_t{1} << s_.instance->components()[i]->log_size();
      const Component& component = *s_.instance->components()[i];
      component.kernels().constraints(component.script(), constraint_rows(i, out, row), row,
                                      row + 1);
      sum += out.at(0);
    }
    return sum;
  }

  // ---- oods ----

  /// Is this one of the right composition columns in the half-domain case?
  bool is_constant(uint32_t tree, uint32_t column) const {
    return constant_right_ && tree == s_.n_trace_trees() && column >= 4;
  }

  struct SampleRef {
    uint32_t tree;
    uint32_t column;
    uint32_t sample;
  };

  void sample_columns() {
    // Columns of one size opened at one offset share their weights.
    std::map<std::pair<uint32_t, int>, std::vector<SampleRef>> groups;
    proof_.sampled_values.resize(s_.trees.size());
    for (uint32_t t = 0; t < s_.trees.size(); ++t) {
      const TreeShape& tree = s_.trees[t];
      proof_.sampled_values[t].resize(tree.column_log_sizes.size());
      for (uint32_t c = 0; c < tree.column_log_sizes.size(); ++c) {
        proof_.sampled_values[t][c].resize(tree.mask_offsets[c].size());
        if (is_constant(t, c)) {
          proof_.sampled_values[t][c][0] = QM31(right_constant_[c - 4]);
          continue;
        }
        for (uint32_t k = 0; k < tree.mask_offsets[c].size(); ++k) {
          groups[{tree.column_log_sizes[c], tree.mask_offsets[c][k]}].push_back({t, c, k});
        }
      }
    }
    for (const auto& [key, refs] : groups) sample_group(key.first, key.second, refs);
  }

  /// f(P) for columns of 2^n rows: with b the basis at P and F the inverse transform on the
  /// column's first 2^n values, f(P) = b^T F v = (F^T b)^T v. F^T runs the forward butterflies with
  /// the inverse twiddles, so that a column costs one dot product and no coefficients.
  void sample_group(uint32_t n, int offset, const std::vector<SampleRef>& refs) {
    const uint32_t committed = n + s_.log_blowup();
    // The lifted column at the sample point is the column itself at the point doubled.
    const CirclePoint<QM31> point =
        s_.sample_points(oods_point_, {offset})[0].repeated_double(s_.lifting_log_size - committed);
    const uint64_t size = uint64_t{1} << n;
    const SecureColumns weights = secure_columns(p_.scratch(), size);
    weights.set(0, QM31(inverse_power_of_two(n)));
    QM31 factor = point.y;
    for (uint32_t bit = 0; bit < n; ++bit) {
      const uint64_t done = uint64_t{1} << bit;
      pool_.parallel_ranges(done, 4 * kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
        scale_secure(weights, done, factor, begin, end);
      });
      factor = bit == 0 ? point.x : double_x(factor);
    }
    const FftLayers transposed = p_.twiddles().inverse(committed);
    pool_.parallel_for(
        4, [&](uint64_t k, uint32_t) { evaluate(weights.c[k], weights.c[k], n, transposed, 0); });

    std::vector<const M31*> columns;
    columns.reserve(refs.size());
    for (const SampleRef& r : refs) columns.push_back(p_.trees[r.tree].columns[r.column]);
    uint64_t chunk = size;
    while (chunk > kMaxSumRows || (chunk > kMinRows && size / chunk < 2 * pool_.size())) chunk /= 2;
    const uint64_t chunks = size / chunk;
    std::vector<QM31> partial(chunks * refs.size());
    pool_.parallel_for(chunks, [&](uint64_t i, uint32_t) {
      weighted_sums(weights, columns.data(), columns.size(), i * chunk, (i + 1) * chunk,
                    partial.data() + i * refs.size());
    });
    for (size_t j = 0; j < refs.size(); ++j) {
      QM31 sum;
      for (uint64_t i = 0; i < chunks; ++i) sum += partial[i * refs.size() + j];
      proof_.sampled_values[refs[j].tree][refs[j].column][refs[j].sample] = sum;
    }
  }

  // ---- quotient ----

  void quotient_batch(const QuotientBatch& batch, bool accumulate) {
    const uint64_t rows = uint64_t{1} << s_.max_degree_log_size;
    const SecureColumns numerators = secure_columns(p_.scratch(), rows);
    QM31 offset = batch.line_offset;
    // Columns of one size are combined at that size; the sum is lifted once.
    std::map<uint32_t, std::pair<std::vector<const M31*>, std::vector<QM31>>, std::greater<>> sizes;
    for (const QuotientTerm& term : batch.terms) {
      if (is_constant(term.tree, term.column)) {
        // A constant column adds the same to every row: it goes into the line's offset.
        offset -= term.factor * right_constant_[term.column - 4];
        continue;
      }
      auto& [columns, factors] = sizes[term.committed_log_size];
      columns.push_back(p_.trees[term.tree].columns[term.column]);
      factors.push_back(term.factor);
    }
    if (sizes.begin()->first != s_.lifting_log_size) {
      for (M31* c : numerators.c) std::fill_n(c, rows, M31(0));
    }
    for (const auto& [log, group] : sizes) {
      const auto& columns = group.first;
      const auto& factors = group.second;
      const uint32_t shift = s_.lifting_log_size - log;
      const uint64_t own_rows = rows >> shift;
      const SecureColumns part =
          shift == 0 ? numerators : secure_columns(p_.scratch() + secure_words(rows), own_rows);
      pool_.parallel_ranges(own_rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
        combine_columns(columns.data(), factors.data(), columns.size(), part, false, begin, end);
      });
      if (shift != 0) {
        pool_.parallel_ranges(rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
          lift_add(part, shift, numerators, begin, end);
        });
      }
    }
    const QuotientPoint point{batch.point.x, batch.point.y, batch.line_slope, offset};
    pool_.parallel_ranges(rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
      finish_quotient(point, numerators, p_.domain_x.data(), p_.domain_y.data(), p_.fri_values[0],
                      accumulate, begin, end);
    });
  }

  /// The quotient has degree bound 2^D, so its first 2^D values determine the rest.
  void extend_quotient() {
    const uint32_t d = s_.max_degree_log_size;
    const uint64_t last = (uint64_t{1} << s_.log_blowup()) - 1;
    const FftLayers inverse = p_.twiddles().inverse(s_.lifting_log_size);
    const FftLayers forward = p_.twiddles().forward(s_.lifting_log_size);
    pool_.parallel_for(4, [&](uint64_t k, uint32_t) {
      M31* values = p_.fri_values[0].c[k];
      M31* coefficients = values + (last << d);
      interpolate(values, coefficients, d, inverse, 0);
      for (uint64_t block = 1; block < last; ++block) {
        evaluate(coefficients, values + (block << d), d, forward, block);
      }
      evaluate(coefficients, coefficients, d, forward, last);
    });
  }

  // ---- fri ----

  void fold_layer(bool circle, const FriLayerShape& layer, SecureColumns in,
                  const SecureColumns& out, QM31 beta) {
    uint32_t log = layer.log_size;
    M31* scratch = p_.scratch();
    for (uint32_t step = 0; step < layer.fold_step; ++step) {
      const uint32_t* inverse = circle && step == 0
                                    ? p_.twiddles().inverse(s_.lifting_log_size).layer[0]
                                    : p_.twiddles().line_inverse_x(log);
      const uint64_t rows = uint64_t{1} << (log - 1);
      SecureColumns target = out;
      if (step + 1 < layer.fold_step) {
        // Two buffers alternate; the second is half the first.
        const bool odd = step % 2 == 1;
        M31* base = odd ? scratch + secure_words(uint64_t{1} << (layer.log_size - 1)) : scratch;
        target = secure_columns(base, rows);
      }
      pool_.parallel_ranges(rows, kMinRows, [&](uint64_t begin, uint64_t end, uint32_t) {
        fold(in, inverse, beta, target, begin, end);
      });
      in = target;
      beta *= beta;
      --log;
    }
  }

  LinePoly interpolate_last_layer() const {
    const uint64_t size = uint64_t{1} << s_.last_layer_log_size();
    std::vector<QM31> c(size);
    for (uint64_t i = 0; i < size; ++i) c[i] = p_.last_layer.at(i);
    line_interpolate(c);
    LinePoly poly;
    poly.log_size = s_.config.fri.log_last_layer_degree_bound;
    const uint64_t kept = uint64_t{1} << poly.log_size;
    for (uint64_t i = kept; i < size; ++i) {
      STWO_CHECK(c[i].is_zero(), "the last FRI layer exceeds its degree bound");
    }
    c.resize(kept);
    bit_reverse_in_place(c);
    poly.coeffs = std::move(c);
    return poly;
  }

  // ---- pow ----

  uint64_t find_nonce() {
    const HashVariant variant = s_.statement.channel;
    const uint32_t bits = s_.config.pow_bits;
    const Digest prefix = channel_.pow_prefix_digest(bits);
    // Windows are searched in order and each completely, so that the result is the least nonce in
    // the reference order whatever the number of threads.
    uint64_t begin = 0;
    uint64_t window = kNoncesPerTask;
    while (begin < kMaxNonces) {
      std::atomic<uint64_t> best{UINT64_MAX};
      pool_.parallel_for(window / kNoncesPerTask, [&](uint64_t i, uint32_t) {
        const uint64_t from = begin + i * kNoncesPerTask;
        if (from > best.load(std::memory_order_relaxed)) return;
        const uint64_t to = from + kNoncesPerTask;
        const uint64_t found = grind(variant, prefix, bits, from, to);
        if (found == to) return;
        uint64_t seen = best.load(std::memory_order_relaxed);
        while (found < seen && !best.compare_exchange_weak(seen, found)) {
        }
      });
      const uint64_t found = best.load();
      if (found != UINT64_MAX) {
        return (found >> 20) << 32 | (found & ((uint64_t{1} << 20) - 1));
      }
      begin += window;
      window = std::min<uint64_t>(window * 4, kNoncesPerTask * 64 * pool_.size());
    }
    throw ContractError("no nonce satisfies the proof of work");
  }

  // ---- decommit ----

  void open_tree(size_t t, const std::vector<uint32_t>& positions) {
    const TreeShape& tree = s_.trees[t];
    auto& values = proof_.queried_values.emplace_back(tree.column_log_sizes.size());
    for (size_t c = 0; c < values.size(); ++c) {
      const uint32_t log = tree.column_log_sizes[c] + s_.log_blowup();
      values[c].reserve(positions.size());
      for (const uint32_t p : positions) {
        values[c].push_back(p_.trees[t].columns[c][lifted_position(p, tree.height, log)]);
      }
    }
    proof_.decommitments.push_back(p_.trees[t].hashes.decommit(positions));
  }

  void open_fri(std::vector<uint32_t> positions) {
    for (size_t i = 0; i < s_.fri_layers.size(); ++i) {
      const FriLayerShape& layer = s_.fri_layers[i];
      FriLayerProof opened;
      opened.commitment = p_.fri_trees[i].root();
      std::vector<uint32_t> leaves;
      std::vector<uint32_t> next;
      size_t at = 0;
      while (at < positions.size()) {
        const uint32_t block = positions[at] >> layer.fold_step;
        next.push_back(block);
        for (uint32_t p = block << layer.fold_step; p < (block + 1) << layer.fold_step; ++p) {
          leaves.push_back(layer.packed() ? p >> 2 : p);
          if (at < positions.size() && positions[at] == p) {
            ++at;
          } else {
            opened.fri_witness.push_back(p_.fri_values[i].at(p));
          }
        }
      }
      opened.decommitment = p_.fri_trees[i].decommit(std::move(leaves));
      if (i == 0) {
        proof_.fri_proof.first_layer = std::move(opened);
      } else {
        proof_.fri_proof.inner_layers.push_back(std::move(opened));
      }
      positions = std::move(next);
    }
  }

  CpuShape& p_;
  const ProofShape& s_;
  ThreadPool& pool_;
  TranscriptObserver observer_;
  Channel channel_;
  StarkProof proof_;
  QM31 alpha_;
  std::vector<QM31> weights_;
  bool constant_right_ = false;
  M31 right_constant_[4];
  CirclePoint<QM31> oods_point_;
};

}  // namespace

std::unique_ptr<ProofSession> make_cpu_session(CpuShape& prepared,
                                               const TranscriptObserver& observer) {
  return std::make_unique<CpuSession>(prepared, observer);
}

}  // namespace stwo::cpu
