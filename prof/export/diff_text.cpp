#include <algorithm>
#include <array>
#include <cstdio>

#include "prof/export/diff.hpp"
#include "prof/export/text.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr size_t kNameWidth = 60;
constexpr size_t kValueWidth = 48;
constexpr const char* kNoValue = "-";

std::string ms(const std::optional<int64_t>& ns) {
  return ns ? stwo::format_ms(static_cast<uint64_t>(*ns)) : kNoValue;
}

std::string signed_ms(const std::optional<int64_t>& ns) {
  if (!ns) return kNoValue;
  const char* sign = *ns > 0 ? "+" : *ns < 0 ? "-" : "";
  // Negated as unsigned: the least number has no positive counterpart.
  const auto size = *ns < 0 ? 0 - static_cast<uint64_t>(*ns) : static_cast<uint64_t>(*ns);
  return sign + stwo::format_ms(size);
}

std::string percent(const std::optional<double>& share) {
  if (!share) return kNoValue;
  std::array<char, 400> buffer{};
  const int n = std::snprintf(buffer.data(), buffer.size(), "%.1f %%", *share * 100);
  return std::string(buffer.data(), static_cast<size_t>(n));
}

template <class Diff>
std::string head(const Diff& diff) {
  std::string out = "Baseline   " + stwo::one_line(diff.baseline) + "\nCandidate  " +
                    stwo::one_line(diff.candidate) + "\n\n" + comparability_line(diff.identity) +
                    "\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const FieldDrift& d : diff.identity.fields) {
    rows.push_back({d.field, std::string(agreement_name(d.agreement)),
                    text::shortened(d.baseline.value_or(kNoValue), kValueWidth),
                    text::shortened(d.candidate.value_or(kNoValue), kValueWidth), d.meaning});
  }
  return out + stwo::format_table({"identity", "", "baseline", "candidate", ""}, rows) +
         "\nDiagnostic: taken under a profiler; the verdict needs an uninstrumented run.\n";
}

std::string status_of(const KernelChange& c) {
  if (c.baseline && c.candidate) return "";
  return c.candidate ? "new" : "vanished";
}

std::vector<std::string> cells(const KernelChange& c) {
  const auto launches = [](const std::optional<KernelTime>& side) {
    return side ? stwo::format_count(static_cast<uint64_t>(side->launches)) : kNoValue;
  };
  const auto total = [](const std::optional<KernelTime>& side) {
    return side ? ms(side->total_ns) : kNoValue;
  };
  const auto share = [](const std::optional<KernelTime>& side) {
    return side ? percent(side->share) : kNoValue;
  };
  std::optional<double> of_total;
  if (c.baseline && c.candidate && c.baseline->total_ns && c.candidate->total_ns) {
    of_total = text::ratio(*c.candidate->total_ns, *c.baseline->total_ns);
  }
  return {launches(c.baseline),
          launches(c.candidate),
          total(c.baseline),
          total(c.candidate),
          signed_ms(c.total_delta_ns()),
          text::signed_percent(of_total),
          share(c.baseline),
          share(c.candidate)};
}

const std::vector<std::string> kTimeHeader = {">launches", ">then", ">ms",    ">then",
                                              ">delta ms", ">",     ">share", ">then"};

std::string left_out(size_t all, size_t shown, const char* what) {
  if (all == shown) return "";
  return std::to_string(all - shown) + " more " + what + " with smaller changes are not shown\n";
}

std::string number(const std::optional<double>& value) {
  if (!value) return kNoValue;
  std::array<char, 64> buffer{};
  const int n = std::snprintf(buffer.data(), buffer.size(), "%.6g", *value);
  return std::string(buffer.data(), static_cast<size_t>(n));
}

}  // namespace

std::string diff_text(const CaptureDiff& diff, size_t max_rows) {
  std::string out =
      head(diff) + "\nDevice busy " + ms(diff.baseline_busy_ns) + " ms -> " +
      ms(diff.candidate_busy_ns) + " ms (" +
      text::signed_percent(text::ratio(diff.candidate_busy_ns, diff.baseline_busy_ns)) + ")\n";
  std::vector<std::string> header = {"stage"};
  header.insert(header.end(), kTimeHeader.begin(), kTimeHeader.end());
  header.emplace_back("");
  std::vector<std::vector<std::string>> rows;
  for (const KernelChange& c : diff.stages) {
    std::vector<std::string> row = {text::shortened(c.stage.value_or("(no stage)"), kNameWidth)};
    for (std::string& cell : cells(c)) row.push_back(std::move(cell));
    row.push_back(status_of(c));
    rows.push_back(std::move(row));
  }
  out += "\n" + stwo::format_table(header, rows);

  header = {"kernel", "stage"};
  header.insert(header.end(), kTimeHeader.begin(), kTimeHeader.end());
  header.insert(header.end(), {">median ms", ">then", ""});
  rows.clear();
  const size_t shown =
      max_rows == 0 ? diff.kernels.size() : std::min(max_rows, diff.kernels.size());
  for (size_t i = 0; i < shown; ++i) {
    const KernelChange& c = diff.kernels[i];
    std::vector<std::string> row = {text::shortened(c.kernel, kNameWidth),
                                    c.stage.value_or(kNoValue)};
    for (std::string& cell : cells(c)) row.push_back(std::move(cell));
    row.push_back(c.baseline ? ms(c.baseline->median_ns) : kNoValue);
    row.push_back(c.candidate ? ms(c.candidate->median_ns) : kNoValue);
    row.push_back(status_of(c));
    rows.push_back(std::move(row));
  }
  return out + "\n" + stwo::format_table(header, rows) +
         left_out(diff.kernels.size(), shown, "kernels");
}

std::string diff_text(const CountersDiff& diff, size_t max_rows) {
  std::string out = head(diff);
  const auto list = [&](const char* what, const auto& kernels) {
    for (const auto& [kernel, stage] : kernels) {
      out += what + text::shortened(kernel, kNameWidth) + (stage ? " in " + *stage : "") + "\n";
    }
  };
  out += "\n";
  list("new:      ", diff.new_kernels);
  list("vanished: ", diff.vanished_kernels);
  std::vector<std::vector<std::string>> rows;
  const size_t shown =
      max_rows == 0 ? diff.metrics.size() : std::min(max_rows, diff.metrics.size());
  const std::string none = kNoValue;
  for (size_t i = 0; i < shown; ++i) {
    const MetricChange& c = diff.metrics[i];
    const auto reason = [](const std::optional<MetricValue>& side) {
      return side ? side->reason : std::string("not measured");
    };
    std::string why = reason(c.baseline).empty() ? reason(c.candidate) : reason(c.baseline);
    if (why.empty() && c.baseline->unit != c.candidate->unit) why = "units differ";
    rows.push_back({text::shortened(c.kernel, kNameWidth), c.stage.value_or(none), c.metric,
                    c.baseline ? number(c.baseline->value) : none,
                    c.candidate ? number(c.candidate->value) : none,
                    c.baseline ? c.baseline->unit : c.candidate->unit,
                    text::signed_percent(c.ratio()), text::shortened(why, kNameWidth)});
  }
  out += stwo::format_table(
      {"kernel", "stage", "metric", ">baseline", ">candidate", "unit", ">change", ""}, rows);
  if (shown < diff.metrics.size()) {
    out += std::to_string(diff.metrics.size() - shown) + " more metrics are not shown\n";
  }
  return out;
}

}  // namespace prof
