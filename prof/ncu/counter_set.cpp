#include "prof/ncu/counter_set.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "prof/ingest/kernel_names.hpp"
#include "prof/ncu/csv.hpp"
#include "prof/ncu/number.hpp"
#include "prof/ncu/unit.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace prof {
namespace {

constexpr std::string_view kIdColumn = "ID";
constexpr std::string_view kKernelColumn = "Kernel Name";
/// Larger than any grid or block.
constexpr int64_t kMaxDimension = int64_t{1} << 31;

class Parser {
 public:
  Parser(const std::string& name, CsvTable csv, const NcuCsvOptions& options,
         const MetricTable& table)
      : name_(name), csv_(std::move(csv)), options_(options), table_(table) {}

  std::vector<LaunchCounters> launches() {
    check_header();
    id_ = require(kIdColumn);
    kernel_ = require(kKernelColumn);
    take_units();
    choose_columns();
    style_ = options_.c_locale ? NumberStyle::kPoint : style_of_cells();
    std::vector<LaunchCounters> out;
    for (const CsvRow& row : csv_.rows) out.push_back(launch(row));
    return out;
  }

 private:
  [[noreturn]] void fail(const char* code, const CsvRow& row, const std::string& what) const {
    throw stwo::FormatError(code, name_ + ": line " + std::to_string(row.line) + ": " + what +
                                      "; export the report again");
  }

  void check_header() const {
    if (csv_.column("Metric Name") && csv_.column("Metric Value")) {
      throw stwo::FormatError("NCU_CSV_PAGE",
                              name_ +
                                  ": this is the details page, with a row per metric; export "
                                  "the raw one: ncu --import FILE --page raw --csv");
    }
  }

  size_t require(std::string_view column) const {
    const auto at = find(column);
    if (!at) {
      throw stwo::FormatError("NCU_CSV_COLUMN", name_ + ": no column " + std::string(column) +
                                                    "; export with ncu --page raw --csv");
    }
    return *at;
  }

  std::optional<size_t> find(std::string_view column) const {
    const auto at = csv_.column(column);
    if (at && std::count(csv_.header.begin() + static_cast<std::ptrdiff_t>(*at) + 1,
                         csv_.header.end(), column) != 0) {
      throw stwo::FormatError("NCU_CSV_COLUMN", name_ + ": column " + std::string(column) +
                                                    " is there twice; export the report again");
    }
    return at;
  }

  /// The row below the header, if its id is empty.
  void take_units() {
    if (csv_.rows.empty() || !csv_.rows.front().cells[id_].empty()) return;
    units_ = csv_.rows.front().cells;
    csv_.rows.erase(csv_.rows.begin());
  }

  void choose_columns() {
    for (const MetricSpec& spec : table_.metrics) {
      Column column{&spec, std::nullopt, spec.names.front()};
      for (const std::string& name : spec.names) {
        column.at = find(name);
        if (!column.at) continue;
        column.name = name;
        break;
      }
      columns_.push_back(std::move(column));
    }
  }

  NumberStyle style_of_cells() const {
    std::vector<std::string_view> cells;
    for (const CsvRow& row : csv_.rows) {
      for (const Column& column : columns_) {
        if (column.at) cells.emplace_back(row.cells[*column.at]);
      }
    }
    return infer_style(cells);
  }

  LaunchCounters launch(const CsvRow& row) const {
    LaunchCounters out;
    out.id = whole(row, kIdColumn, row.cells[id_]);
    // The profiler's own demangled names differ from those of captures.
    out.kernel = stwo::one_line(demangled_name(row.cells[kernel_]));
    if (out.kernel.empty()) fail("NCU_CSV_VALUE", row, "the kernel's name is empty");
    out.grid = dimensions(row, "Grid Size", "launch__grid_dim_");
    out.block = dimensions(row, "Block Size", "launch__block_dim_");
    if (const auto at = find("Device")) out.device = stwo::one_line(row.cells[*at]);
    if (const auto at = find("CC")) out.compute_capability = stwo::one_line(row.cells[*at]);
    for (const Column& column : columns_) {
      out.values.emplace(column.spec->key, value(row, column));
    }
    return out;
  }

  struct Column {
    const MetricSpec* spec;
    std::optional<size_t> at;
    std::string name;
  };

  CounterValue value(const CsvRow& row, const Column& column) const {
    CounterValue out{column.name, column.spec->unit, std::nullopt, "", false};
    if (!column.at) {
      out.reason = "not in the report";
      out.absent = true;
      return out;
    }
    const Number number = parse_number(row.cells[*column.at], style_);
    out.reason = number.reason;
    if (!number.value) return out;
    const bool scales = column.spec->unit != "count" && column.spec->unit != "%";
    double factor = 1;
    if (units_.empty()) {
      // Bytes are bytes in base units; the base of time differs between versions.
      const bool is_known = options_.base_units && column.spec->unit != "ns";
      if (scales && !is_known) {
        out.reason = "its unit is not in the report";
        return out;
      }
    } else {
      const std::string& unit = units_[*column.at];
      const auto known = unit_factor(unit, column.spec->unit);
      if (!known) {
        out.reason = "unit \"" + stwo::one_line(unit) + "\" in the report is not " +
                     (column.spec->unit == "count" ? "a count" : column.spec->unit);
        return out;
      }
      factor = *known;
    }
    const double scaled = *number.value * factor;
    if (scaled < 0 || scaled > kMaxCounter) {
      out.reason = "out of range in the report";
      return out;
    }
    out.value = scaled;
    return out;
  }

  int64_t whole(const CsvRow& row, std::string_view what, std::string_view text) const {
    std::string digits;
    for (const char c : text) {
      if (c != ',' && c != ' ') digits += c;
    }
    int64_t number = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
        number < 0 || number > kMaxDimension) {
      fail("NCU_CSV_VALUE", row,
           std::string(what) + " is no whole number (\"" + stwo::one_line(text.substr(0, 40)) +
               "\")");
    }
    return number;
  }

  std::array<int64_t, 3> dimensions(const CsvRow& row, std::string_view column,
                                    const std::string& metric) const {
    std::array<int64_t, 3> out{};
    if (const auto at = find(column)) {
      const std::vector<std::string> numbers = digits_of(row.cells[*at]);
      if (numbers.size() != out.size()) {
        fail("NCU_CSV_VALUE", row,
             std::string(column) + " has " + std::to_string(numbers.size()) +
                 " numbers (expected 3)");
      }
      for (size_t i = 0; i < out.size(); ++i) out[i] = whole(row, column, numbers[i]);
    } else {
      for (size_t i = 0; i < out.size(); ++i) {
        const std::string name = metric + "xyz"[i];
        out[i] = whole(row, name, row.cells[require(name)]);
      }
    }
    for (const int64_t d : out) {
      if (d < 1) fail("NCU_CSV_VALUE", row, std::string(column) + " has a dimension of 0");
    }
    return out;
  }

  static std::vector<std::string> digits_of(std::string_view cell) {
    std::vector<std::string> out;
    bool inside = false;
    for (const char c : cell) {
      const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (digit && !inside) out.emplace_back();
      if (digit) out.back() += c;
      inside = digit;
    }
    return out;
  }

  const std::string& name_;
  CsvTable csv_;
  NcuCsvOptions options_;
  const MetricTable& table_;
  size_t id_ = 0;
  size_t kernel_ = 0;
  std::vector<std::string> units_;
  std::vector<Column> columns_;
  NumberStyle style_ = NumberStyle::kUnknown;
};

}  // namespace

CounterSet parse_ncu_csv(const std::string& name, std::string_view text,
                         const NcuCsvOptions& options, const MetricTable& table) {
  if (text.size() > kMaxNcuCsvBytes) {
    throw stwo::FormatError(
        "NCU_CSV_SIZE",
        name + ": larger than " + stwo::format_bytes(kMaxNcuCsvBytes) + "; capture fewer launches");
  }
  CounterSet set;
  set.csv_sha256 = stwo::sha256_hex(text);
  set.launches = Parser(name, parse_csv(name, text, kIdColumn), options, table).launches();
  return set;
}

}  // namespace prof
