#include "prof/diagnose/kernel_questions.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prof/diagnose/text.hpp"
#include "prof/diagnose/traffic.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr const char* kNoTimeline = "there is no timeline";

KernelAnswer said(std::string name, std::string source, std::string text) {
  return {std::move(name), std::move(source), std::nullopt, std::move(text), "", ""};
}

KernelAnswer measured(std::string name, std::string source, double value, std::string unit) {
  return {std::move(name), std::move(source), value, "", std::move(unit), ""};
}

KernelAnswer unknown(std::string name, std::string source, std::string reason) {
  return {std::move(name), std::move(source), std::nullopt, "", "", std::move(reason)};
}

std::string dimensions(const std::array<int64_t, 3>& d) {
  return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

/// Every counter of the question, in the order of the table.
void add_counters(const KernelCounters& counters, const std::string& question,
                  std::vector<KernelAnswer>* out) {
  for (const MetricSpec& spec : metric_table().metrics) {
    if (spec.question != question) continue;
    const CounterValue& v = counters.at(spec.key);
    // Every report has some that no rule needs and its version does not know.
    if (v.absent && spec.rules.empty()) continue;
    out->push_back(v.value ? measured(spec.meaning, v.metric, *v.value, v.unit)
                           : unknown(spec.meaning, v.metric, v.reason));
  }
}

/// a / b where both have values and b is not 0.
void add_quotient(const KernelCounters& counters, const std::string& name, const char* a,
                  const char* b, std::vector<KernelAnswer>* out) {
  const auto x = counters.value(a);
  const auto y = counters.value(b);
  if (!x || !y) {
    const CounterValue& lacking = counters.at(x ? b : a);
    out->push_back(unknown(name, "computed", lacking.metric + ": " + lacking.reason));
  } else if (*y <= 0) {
    out->push_back(unknown(name, "computed", "there are none"));
  } else {
    out->push_back(measured(name, "computed", *x / *y, ""));
  }
}

std::vector<KernelAnswer> identity(const DiagnosisInput& input, const std::string& input_shape) {
  const KernelCounters& counters = *input.counters;
  std::vector<KernelAnswer> out = {said("kernel", "ncu", counters.kernel)};
  out.push_back(input_shape.empty() ? unknown("input shape", "plan", "no product report says it")
                                    : said("input shape", "product report", input_shape));
  for (const LaunchShape& shape : counters.shapes) {
    out.push_back(said("grid, block, launches captured", "ncu",
                       dimensions(shape.grid) + ", " + dimensions(shape.block) + ", " +
                           std::to_string(shape.launches)));
  }
  add_counters(counters, "identity", &out);
  return out;
}

std::vector<KernelAnswer> duration(const DiagnosisInput& input) {
  std::vector<KernelAnswer> out;
  if (input.timeline == nullptr) {
    for (const char* name : {"median duration", "share of device time"}) {
      out.push_back(unknown(name, "timeline", kNoTimeline));
    }
  } else {
    const KernelFacts& facts = *input.timeline;
    out.push_back(measured("launches", "timeline", static_cast<double>(facts.launches), ""));
    out.push_back(measured("total time", "timeline", static_cast<double>(facts.total_ns), "ns"));
    out.push_back(
        measured("median duration", "timeline", static_cast<double>(facts.median_ns), "ns"));
    out.push_back(measured("share of device time", "timeline", facts.share_of_device * 100, "%"));
    if (!facts.stage.stage.empty()) out.push_back(said("stage", "timeline", facts.stage.stage));
  }
  add_counters(*input.counters, "duration", &out);
  return out;
}

std::vector<KernelAnswer> memory(const DiagnosisInput& input) {
  std::vector<KernelAnswer> out;
  add_counters(*input.counters, "memory", &out);
  add_quotient(*input.counters, "sectors per global load", "load_sectors", "load_requests", &out);
  add_quotient(*input.counters, "sectors per global store", "store_sectors", "store_requests",
               &out);
  const Traffic traffic =
      compare_traffic(*input.counters, input.plan.ledger_bytes, *input.thresholds);
  out.push_back(traffic.ratio
                    ? said("DRAM bytes against the pass ledger", "plan", to_text(traffic))
                    : unknown("DRAM bytes against the pass ledger", "plan", traffic.reason));
  return out;
}

std::vector<KernelAnswer> occupancy(const DiagnosisInput& input) {
  std::vector<KernelAnswer> out;
  add_counters(*input.counters, "occupancy", &out);
  std::string limit;
  double smallest = 0;
  for (const char* key : {"limit_registers", "limit_shared_mem", "limit_warps", "limit_blocks"}) {
    const auto value = input.counters->value(key);
    if (value && (limit.empty() || *value < smallest)) {
      limit = std::string(key).substr(6);
      smallest = *value;
    }
  }
  out.push_back(limit.empty() ? unknown("limiting resource", "computed", "no limit has a value")
                              : said("limiting resource", "computed",
                                     limit + ", " + number_text(smallest) + " blocks"));
  return out;
}

std::vector<KernelAnswer> plain(const DiagnosisInput& input, const std::string& question) {
  std::vector<KernelAnswer> out;
  add_counters(*input.counters, question, &out);
  return out;
}

std::string shown_answer(const KernelAnswer& a) {
  if (!a.reason.empty()) return "unknown: " + a.reason;
  return a.value ? quantity_text(*a.value, a.unit) : a.text;
}

}  // namespace

KernelAnswers answer_kernel_questions(const DiagnosisInput& input, const std::string& input_shape) {
  return {input.counters->kernel,
          input_shape,
          {{"identity", "Which kernel, and how is it launched?", identity(input, input_shape)},
           {"duration", "How long does it take, and what part of device time?", duration(input)},
           {"memory", "What does it move, and from where?", memory(input)},
           {"arithmetic", "What does it execute?", plain(input, "arithmetic")},
           {"occupancy", "How many warps are there, and what limits them?", occupancy(input)},
           {"registers", "Do registers spill?", plain(input, "registers")},
           {"stalls", "What do warps wait for?", plain(input, "stalls")}}};
}

std::string to_text(const KernelAnswers& answers) {
  std::string text = answers.kernel + '\n';
  for (size_t i = 0; i < answers.questions.size(); ++i) {
    const AnsweredQuestion& q = answers.questions[i];
    text += '\n' + std::to_string(i + 1) + ". " + q.title + '\n';
    std::vector<std::vector<std::string>> rows;
    for (const KernelAnswer& a : q.answers) rows.push_back({a.name, shown_answer(a), a.source});
    text += stwo::format_table({"", ">", "source"}, rows);
  }
  return text;
}

std::string to_json(const KernelAnswers& answers) {
  using Json = nlohmann::json;
  Json questions = Json::array();
  for (const AnsweredQuestion& q : answers.questions) {
    Json list = Json::array();
    for (const KernelAnswer& a : q.answers) {
      const Json text = a.text.empty() ? Json(nullptr) : Json(a.text);
      list.push_back({{"name", a.name},
                      {"source", a.source},
                      {"value", a.value ? Json(*a.value) : text},
                      {"unit", a.unit == "count" ? "" : a.unit},
                      {"reason", a.reason.empty() ? Json(nullptr) : Json(a.reason)}});
    }
    questions.push_back({{"question", q.key}, {"title", q.title}, {"answers", std::move(list)}});
  }
  const Json root = {
      {"schema", "stwo_prof_kernel_v1"},
      {"kernel", answers.kernel},
      {"input_shape", answers.input_shape.empty() ? Json(nullptr) : Json(answers.input_shape)},
      {"questions", std::move(questions)}};
  return root.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace prof
