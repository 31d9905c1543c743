// DEEP quotient against prover/pcs/quotients.
#include "kernels/quotient/quotient_args.hpp"

#include <algorithm>

#include "kernels/oods/oods_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/pcs/quotients.hpp"
#include "prover/program/proof_program.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

Words point_words(const CirclePoint<QM31>& p) { return words_of(std::vector<QM31>{p.x, p.y}); }

QuotientLine line_of(const QuotientBatch& batch) {
  QuotientLine line{};
  const auto store = [](uint32_t(&to)[4], QM31 value) {
    const auto words = words_of(value);
    std::copy(words.begin(), words.end(), to);
  };
  store(line.x, batch.point.x);
  store(line.y, batch.point.y);
  store(line.slope, batch.line_slope);
  store(line.offset, batch.line_offset);
  return line;
}

/// Chunks of terms as plans describe them, with the batches they must give.
struct Problem {
  CirclePoint<QM31> z;
  QM31 coefficient;
  std::vector<QM31> values;
  std::vector<QuotientChunkRef> chunks;
  std::vector<QuotientTermRef> terms;
  std::vector<QuotientBatch> batches;  ///< term i of all reads values[0][i]

  void add_chunk(Random& rng, uint32_t n_terms) {
    QuotientChunkRef chunk{};
    chunk.point_shift = chunks.empty() ? 0 : static_cast<uint32_t>(rng.below(uint64_t{1} << 31));
    chunk.first_term = static_cast<uint32_t>(terms.size());
    chunk.n_terms = n_terms;
    QuotientBatch batch;
    batch.point = z + to_secure(point_at_index(chunk.point_shift));
    const QM31 y = batch.point.y;
    const QM31 c = y.conjugate() - y;
    for (uint32_t i = 0; i < n_terms; ++i) {
      QuotientTermRef term{};
      term.value_index = static_cast<uint32_t>(rng.below(values.size()));
      term.power = static_cast<uint32_t>(rng.below(1000));
      const QM31 weight = coefficient.pow(term.power);
      const QM31 value = values[term.value_index];
      const QM31 a = value.conjugate() - value;
      batch.line_slope += weight * a;
      batch.line_offset += weight * (value * c - a * y);
      batch.terms.push_back({0, static_cast<uint32_t>(terms.size()), 0, weight * c});
      terms.push_back(term);
    }
    chunks.push_back(chunk);
    batches.push_back(std::move(batch));
  }
  Words factors() const {
    Words words;
    for (const QuotientBatch& b : batches) {
      for (const QuotientTerm& t : b.terms) {
        for (const uint32_t w : words_of(t.factor)) words.push_back(w);
      }
    }
    return words;
  }
  std::vector<QuotientLine> lines() const {
    std::vector<QuotientLine> out;
    for (const QuotientBatch& b : batches) out.push_back(line_of(b));
    return out;
  }
};

Problem make_problem(Random& rng, const std::vector<uint32_t>& chunk_terms) {
  Problem p;
  p.z = rng.secure_point();
  p.coefficient = rng.qm31();
  p.values = rng.qm31_vector(50);
  for (const uint32_t n : chunk_terms) p.add_chunk(rng, n);
  return p;
}

class QuotientKernel : public KernelTest {
 protected:
  void terms(const CirclePoint<QM31>& z, QM31 coefficient, const std::vector<QM31>& values,
             const std::vector<QuotientChunkRef>& chunks, const std::vector<QuotientTermRef>& refs,
             const DeviceWords& factors, const DeviceWords& lines, const DeviceWords& status) {
    const DeviceWords point = DeviceWords::input(point_words(z));
    const DeviceWords alpha = DeviceWords::input(words_of(std::vector<QM31>{coefficient}));
    const DeviceWords value_words = DeviceWords::input(words_of(values));
    const DeviceWords chunk_words = DeviceWords::input(chunks);
    const DeviceWords term_words = DeviceWords::input(refs);
    QuotientTermsArgs args{};
    args.point = point.at();
    args.coefficient = alpha.at();
    args.values = value_words.at();
    args.chunks = reinterpret_cast<const QuotientChunkRef*>(chunk_words.at());
    args.terms = reinterpret_cast<const QuotientTermRef*>(term_words.at());
    args.factors = factors.at();
    args.lines = reinterpret_cast<QuotientLine*>(lines.at());
    args.status = status.at();
    launch("quotient_terms", {static_cast<uint32_t>(chunks.size()), 1, 128, 128 * 32}, args);
  }

  static Words line_words(const std::vector<QuotientLine>& lines) {
    Words words(lines.size() * (sizeof(QuotientLine) / 4));
    std::memcpy(words.data(), lines.data(), 4 * words.size());
    return words;
  }

  void rows(uint32_t domain_log, uint64_t n_rows, const Problem& problem) {
    SCOPED_TRACE("domain 2^" + std::to_string(domain_log) + ", " + std::to_string(n_rows) +
                 " rows, " + std::to_string(problem.chunks.size()) + " chunks, " +
                 std::to_string(problem.terms.size()) + " terms");
    std::vector<Words> values;
    std::vector<DeviceWords> on_device;
    std::vector<ColumnRef> refs;
    for (size_t i = 0; i < problem.terms.size(); ++i) {
      // Half of the columns are as long as the domain.
      const uint32_t shift =
          rng.coin() ? 0 : static_cast<uint32_t>(rng.below(uint64_t{domain_log}));
      values.push_back(random_column(rng, size_t{1} << (domain_log - shift)));
      on_device.push_back(DeviceWords::input(values.back()));
      refs.push_back({on_device.back().at(), shift, 0});
    }
    const Tables tables(domain_log);
    const DeviceTables device(tables);
    const DeviceWords chunk_words = DeviceWords::input(problem.chunks);
    const DeviceWords lines = DeviceWords::input(problem.lines());
    const DeviceWords factors = DeviceWords::input(problem.factors());
    const DeviceWords columns = DeviceWords::input(refs);
    const uint64_t stride = std::max<uint64_t>(n_rows, 4) + 4 * rng.below(3);
    const DeviceWords out = DeviceWords::output(4 * stride);
    QuotientRowsArgs args{};
    args.chunks = reinterpret_cast<const QuotientChunkRef*>(chunk_words.at());
    args.lines = reinterpret_cast<const QuotientLine*>(lines.at());
    args.factors = factors.at();
    args.columns = reinterpret_cast<const ColumnRef*>(columns.at());
    args.n_chunks = static_cast<uint32_t>(problem.chunks.size());
    args.domain_log = domain_log;
    args.rows = n_rows;
    args.x = device.x.at();
    args.y = device.y.at();
    args.out = out.at();
    args.stride = stride;
    launch("quotient_rows", {blocks_for(n_rows, 256 * 4), 1, 256, 0}, args);

    Words expected(4 * stride, kPoison);
    std::vector<std::vector<M31>> row_values(1, std::vector<M31>(values.size()));
    for (uint64_t row = 0; row < n_rows; ++row) {
      for (size_t i = 0; i < values.size(); ++i) {
        const uint64_t at = lifted_position(row, domain_log, domain_log - refs[i].shift);
        row_values[0][i] = M31(values[i][at]);
      }
      put_coordinates(
          expected, stride, row,
          quotient_at_row(problem.batches,
                          CanonicCoset{domain_log}.at_storage(static_cast<uint32_t>(row)),
                          row_values));
    }
    out.expect(expected);
  }
};

STWO_UNDER_ALL_SCHEDULES(QuotientKernel);

TEST_P(QuotientKernel, Terms) {
  // Around the 128 threads of a block, and chunks of different lengths.
  for (const std::vector<uint32_t>& sizes : std::vector<std::vector<uint32_t>>{
           {1}, {2, 1}, {127}, {128}, {129}, {300}, {3, 130, 1, 40}}) {
    const Problem problem = make_problem(rng, sizes);
    const DeviceWords factors = DeviceWords::output(4 * problem.terms.size());
    const DeviceWords lines = DeviceWords::output(16 * problem.chunks.size());
    const DeviceWords status = DeviceWords::updated(Words{kStatusDegenerateOods});
    terms(problem.z, problem.coefficient, problem.values, problem.chunks, problem.terms, factors,
          lines, status);
    factors.expect(problem.factors(), "factors");
    lines.expect(line_words(problem.lines()), "lines");
    status.expect(Words{kStatusDegenerateOods}, "status");
  }
}

/// The chunks of real proofs against the batches that the verifier makes.
TEST_P(QuotientKernel, TermsOfProofs) {
  for (const uint64_t unused : {0u, 4u, 9u}) {
    Statement s;
    s.air = "wide_fibonacci_seq";
    s.parameters = {{"log_n_rows", 6}, {"sequence_len", 7}, {"unused_log_n_rows", unused}};
    const auto shape = make_shape(s, parse_config("queries=9"));
    const ProofProgram program = make_proof_program(shape);
    std::vector<QM31> flat;
    std::vector<std::vector<std::vector<QM31>>> sampled;
    for (const TreeShape& tree : shape->trees) {
      auto& columns = sampled.emplace_back();
      for (const auto& offsets : tree.mask_offsets) {
        columns.push_back(rng.qm31_vector(offsets.size()));
        flat.insert(flat.end(), columns.back().begin(), columns.back().end());
      }
    }
    ASSERT_EQ(flat.size(), program.n_sampled_values);
    const CirclePoint<QM31> z = rng.secure_point();
    const QM31 coefficient = rng.qm31();
    const auto batches = make_quotient_batches(*shape, z, sampled, coefficient);
    ASSERT_TRUE(batches.has_value());
    ASSERT_EQ(batches->size(), program.quotient_chunks.size());
    std::vector<QuotientChunkRef> chunks;
    std::vector<QuotientTermRef> refs;
    Words expected_factors;
    std::vector<QuotientLine> expected_lines;
    for (size_t b = 0; b < batches->size(); ++b) {
      const QuotientChunk& chunk = program.quotient_chunks[b];
      chunks.push_back({chunk.point_shift, static_cast<uint32_t>(refs.size()),
                        static_cast<uint32_t>(chunk.terms.size()), 0});
      for (const QuotientChunk::Term& term : chunk.terms) {
        refs.push_back({term.value_index, term.power});
      }
      for (const QuotientTerm& term : (*batches)[b].terms) {
        for (const uint32_t w : words_of(term.factor)) expected_factors.push_back(w);
      }
      expected_lines.push_back(line_of((*batches)[b]));
    }
    const DeviceWords factors = DeviceWords::output(expected_factors.size());
    const DeviceWords lines = DeviceWords::output(16 * chunks.size());
    const DeviceWords status = DeviceWords::updated(Words{0});
    terms(z, coefficient, flat, chunks, refs, factors, lines, status);
    factors.expect(expected_factors, "factors");
    lines.expect(line_words(expected_lines), "lines");
    status.expect(Words{0}, "status");
  }
}

TEST_P(QuotientKernel, DegeneratePointIsReported) {
  Problem problem = make_problem(rng, {});
  // A parameter in CM31 gives a point over it.
  do {
  } while (!secure_point_from_parameter(QM31(rng.cm31(), CM31()), &problem.z));
  problem.add_chunk(rng, 3);
  problem.add_chunk(rng, 2);
  const DeviceWords factors = DeviceWords::output(4 * problem.terms.size());
  const DeviceWords lines = DeviceWords::output(16 * problem.chunks.size());
  const DeviceWords status = DeviceWords::updated(Words{kStatusNoNonce});
  terms(problem.z, problem.coefficient, problem.values, problem.chunks, problem.terms, factors,
        lines, status);
  factors.expect(problem.factors(), "factors");
  lines.expect(line_words(problem.lines()), "lines");
  status.expect(Words{kStatusNoNonce | kStatusDegenerateQuotient}, "status");
}

TEST_P(QuotientKernel, Rows) {
  // Two rows are less than a thread's four; 1024 rows are a block's.
  for (const auto& [domain_log, n_rows] : std::vector<std::pair<uint32_t, uint64_t>>{
           {2, 2}, {2, 4}, {3, 2}, {3, 4}, {3, 8}, {5, 4}, {9, 256}, {11, 1024}, {11, 2048}}) {
    rows(domain_log, n_rows, make_problem(rng, {3}));
    rows(domain_log, n_rows, make_problem(rng, {1, 2, 4}));
  }
  // Sums are folded after every third term.
  for (const uint32_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 40u}) {
    rows(6, 32, make_problem(rng, {n}));
    rows(6, 32, make_problem(rng, {n, 1, n}));
  }
}

/// The largest products in every term.
TEST_P(QuotientKernel, RowsOfLargestFactors) {
  Problem problem = make_problem(rng, {40});
  for (QuotientTerm& t : problem.batches[0].terms) {
    t.factor = QM31::from_u32(kP - 1, kP - 1, kP - 1, kP - 1);
  }
  for (int i = 0; i < 4; ++i) rows(5, 16, problem);
}

}  // namespace
}  // namespace stwo::gpu
