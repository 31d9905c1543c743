// The three wide-Fibonacci statements: plain, a pair of components of different sizes in one proof,
// and the variant with preprocessed columns.

#include "prover/air/wide_fibonacci/wide_fibonacci.hpp"

#include "prover/air/air.hpp"
#include "prover/errors.hpp"

namespace stwo::air {
namespace {

constexpr uint64_t kMaxLogRows = 29;
constexpr uint64_t kMaxColumns = 1u << 16;

AirParameter log_rows(std::string name, std::string help) {
  return {std::move(name), std::move(help), 1, kMaxLogRows, std::nullopt};
}
AirParameter columns(std::string name, std::string help, uint64_t min) {
  return {std::move(name), std::move(help), min, kMaxColumns, std::nullopt};
}

std::string_view class_of(uint64_t log_n_rows, uint64_t sequence_len) {
  if (log_n_rows >= 22) return sequence_len < 16 ? "narrow_deep" : "extreme";
  return log_n_rows <= 14 ? "latency" : "wide";
}

class Instance final : public AirInstance {
 public:
  void add(std::unique_ptr<Component> c) { components_.push_back(std::move(c)); }
  void add(PreprocessedColumn p) { preprocessed_.push_back(std::move(p)); }
};

void fill_row_index(std::span<M31> out) {
  for (size_t r = 0; r < out.size(); ++r) out[r] = M31(static_cast<uint32_t>(r));
}

void fill_zero(std::span<M31> out) {
  for (M31& v : out) v = M31(0);
}

class WideFibonacci final : public Air {
 public:
  std::string_view name() const override { return "wide_fibonacci"; }
  std::string_view summary() const override {
    return "independent recurrences a_k = a_(k-2)^2 + a_(k-1)^2, one per row";
  }
  std::string_view structural_class(const Statement& s) const override {
    return class_of(s.parameter("log_n_rows"), s.parameter("sequence_len"));
  }
  const std::vector<AirParameter>& parameters() const override { return parameters_; }
  std::unique_ptr<AirInstance> instantiate(const Statement& s) const override {
    auto instance = std::make_unique<Instance>();
    instance->add(std::make_unique<ScriptComponent<WideFibonacciScript>>(
        "wide_fibonacci", static_cast<uint32_t>(s.parameter("log_n_rows")),
        WideFibonacciScript{static_cast<uint32_t>(s.parameter("sequence_len"))}));
    return instance;
  }

 private:
  std::vector<AirParameter> parameters_ = {log_rows("log_n_rows", "log2 of the number of rows"),
                                           columns("sequence_len", "number of columns", 1)};
};

class WideFibonacciPair final : public Air {
 public:
  std::string_view name() const override { return "wide_fibonacci_pair"; }
  std::string_view summary() const override {
    return "two wide-Fibonacci components of different sizes in one proof";
  }
  std::string_view structural_class(const Statement&) const override { return "irregular"; }
  const std::vector<AirParameter>& parameters() const override { return parameters_; }
  std::unique_ptr<AirInstance> instantiate(const Statement& s) const override {
    auto instance = std::make_unique<Instance>();
    instance->add(std::make_unique<ScriptComponent<WideFibonacciScript>>(
        "first", static_cast<uint32_t>(s.parameter("log_n_rows")),
        WideFibonacciScript{static_cast<uint32_t>(s.parameter("sequence_len"))}));
    instance->add(std::make_unique<ScriptComponent<WideFibonacciScript>>(
        "second", static_cast<uint32_t>(s.parameter("second_log_n_rows")),
        WideFibonacciScript{static_cast<uint32_t>(s.parameter("second_sequence_len"))},
        s.parameter("second_enabled") != 0));
    return instance;
  }

 private:
  std::vector<AirParameter> parameters_ = {
      log_rows("log_n_rows", "log2 of the number of rows of the first component"),
      columns("sequence_len", "columns of the first component", 1),
      log_rows("second_log_n_rows", "log2 of the number of rows of the second component"),
      columns("second_sequence_len", "columns of the second component", 1),
      {"second_enabled", "0 disables the second component: its columns are zero and of log size 1",
       0, 1, 1}};
};

class WideFibonacciSeq final : public Air {
 public:
  std::string_view name() const override { return "wide_fibonacci_seq"; }
  std::string_view summary() const override {
    return "wide Fibonacci with a preprocessed column: a_k = a_(k-2)^2 + a_(k-1)^2 + row^2";
  }
  std::string_view structural_class(const Statement& s) const override {
    return class_of(s.parameter("log_n_rows"), s.parameter("sequence_len"));
  }
  const std::vector<AirParameter>& parameters() const override { return parameters_; }
  std::unique_ptr<AirInstance> instantiate(const Statement& s) const override {
    const auto log_n_rows = static_cast<uint32_t>(s.parameter("log_n_rows"));
    const auto unused = static_cast<uint32_t>(s.parameter("unused_log_n_rows"));
    auto instance = std::make_unique<Instance>();
    instance->add(PreprocessedColumn{"seq", log_n_rows, fill_row_index});
    if (unused != 0) instance->add(PreprocessedColumn{"large_unused", unused, fill_zero});
    instance->add(std::make_unique<ScriptComponent<WideFibonacciSeqScript>>(
        "wide_fibonacci_seq", log_n_rows,
        WideFibonacciSeqScript{static_cast<uint32_t>(s.parameter("sequence_len"))}));
    return instance;
  }

 private:
  std::vector<AirParameter> parameters_ = {
      log_rows("log_n_rows", "log2 of the number of rows"),
      columns("sequence_len", "number of columns", 2),
      {"unused_log_n_rows",
       "log2 of the size of a second, unused preprocessed column of zeros; 0 leaves it out", 0,
       kMaxLogRows, 0}};
};

}  // namespace

void register_wide_fibonacci(AirRegistry& registry) {
  registry.add(std::make_unique<WideFibonacci>());
  registry.add(std::make_unique<WideFibonacciPair>());
  registry.add(std::make_unique<WideFibonacciSeq>());
}

}  // namespace stwo::air
