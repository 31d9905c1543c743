#include "prof/report/run_facts.hpp"

#include <algorithm>
#include <functional>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/stage.hpp"

namespace prof {
namespace {

using Json = nlohmann::json;

constexpr const char* kNoSteady = "the run has no steady request";
constexpr const char* kNoDevice = "the backend has no device";

/// Accounting of memory, as the report's own checker sums it.
constexpr const char* kMemoryParts[] = {
    "persistent_runtime", "modules", "tables",  "cached_shapes", "graphs",
    "arena_high_water",   "scratch", "staging", "terminal_host"};
constexpr const char* kMemoryBounds[] = {"pool_reserved", "pool_used", "capacity",
                                         "peak_rss_bytes"};

Known<uint64_t> known(const Json& report, const std::string& path) {
  const Json& value = report.at(Json::json_pointer(path));
  return value.is_null() ? Known<uint64_t>::unknown(null_reason(report, path))
                         : Known<uint64_t>::of(value.get<uint64_t>());
}

SteadyNumber statistics(const std::string& name, std::vector<uint64_t> values,
                        const std::string& why_none) {
  if (values.empty()) {
    const auto none = Known<uint64_t>::unknown(why_none);
    return {name, none, none, none};
  }
  std::sort(values.begin(), values.end());
  return {name, Known<uint64_t>::of(values.front()),
          // Lower median: a value that was measured.
          Known<uint64_t>::of(values[(values.size() - 1) / 2]), Known<uint64_t>::of(values.back())};
}

class Reader {
 public:
  explicit Reader(ReportFile file) {
    out_.file = std::move(file);
    out_.cuda = json().at("backend") == "cuda";
  }

  RunFacts run() {
    read_requests();
    read_lifecycle();
    read_stages();
    read_vectors("transfers", out_.transfers);
    read_vectors("counters", out_.counters);
    read_memory();
    read_passes();
    return std::move(out_);
  }

 private:
  const Json& json() const { return out_.file.json; }

  std::vector<uint64_t> steady(const std::function<uint64_t(const Json&)>& value) const {
    std::vector<uint64_t> out;
    for (const Json& r : json().at("requests")) {
      if (r.at("role") == "steady") out.push_back(value(r));
    }
    return out;
  }

  void read_requests() {
    const auto of = [](const char* key) {
      return [key](const Json& r) { return r.at(key).get<uint64_t>(); };
    };
    out_.requests = json().at("requests").size();
    out_.steady_requests = steady(of("ordinal")).size();
    constexpr const char* kParts[] = {"resident_prove", "encode", "terminal_decode",
                                      "independent_verification"};
    out_.split.push_back(statistics("verified_request", steady(of("verified_request")), kNoSteady));
    for (const char* part : kParts) {
      out_.split.push_back(statistics(part, steady(of(part)), kNoSteady));
    }
    out_.split.push_back(statistics("other", steady([&](const Json& r) {
                                      uint64_t rest = r.at("verified_request").get<uint64_t>();
                                      for (const char* part : kParts) {
                                        rest -= r.at(part).get<uint64_t>();
                                      }
                                      return rest;
                                    }),
                                    kNoSteady));
    const std::string why = out_.cuda ? kNoSteady : kNoDevice;
    out_.device_elapsed = statistics(
        "device_elapsed", out_.cuda ? steady(of("device_elapsed")) : std::vector<uint64_t>{}, why);
    out_.host_gap = statistics("host_gap",
                               out_.cuda ? steady([](const Json& r) {
                                 return r.at("resident_prove").get<uint64_t>() -
                                        r.at("device_elapsed").get<uint64_t>();
                               })
                                         : std::vector<uint64_t>{},
                               why);
  }

  void read_lifecycle() {
    const auto add = [&](const char* name, Known<uint64_t> ns) {
      out_.lifecycle.push_back({name, std::move(ns)});
    };
    const auto sum_of = [&](const char* role) {
      uint64_t sum = 0;
      for (const Json& r : json().at("requests")) {
        if (r.at("role") == role) sum += r.at("verified_request").get<uint64_t>();
      }
      return Known<uint64_t>::of(sum);
    };
    add("process_start_to_main", known(json(), "/lifecycle_ns/process_start_to_main"));
    add("runtime_init", known(json(), "/lifecycle_ns/runtime_init"));
    add("shape_prepare", known(json(), "/lifecycle_ns/shape_prepare"));
    add("first_request", sum_of("first"));
    add("warmup_requests", sum_of("warmup"));
    add("steady_requests", sum_of("steady"));
    add("runtime_teardown", known(json(), "/lifecycle_ns/runtime_teardown"));
    out_.total = json().at("lifecycle_ns").at("total_before_publication").get<uint64_t>();
    uint64_t sum = 0;
    for (const LifecyclePart& part : out_.lifecycle) sum += part.ns.value.value_or(0);
    // The start of a process is known to a tick of some milliseconds only.
    add("other", sum <= out_.total ? Known<uint64_t>::of(out_.total - sum)
                                   : Known<uint64_t>::unknown("the parts exceed the total"));
  }

  void read_stages() {
    out_.stage_clock = out_.cuda ? "device" : "host";
    const Json& block = json().at(out_.cuda ? "device_stage_ns" : "stage_ns");
    out_.stages_are_steady = !block.at("median").is_null();
    const auto statistic = [&](const char* which, const std::string& stage) {
      return block.at(which).is_null()
                 ? Known<uint64_t>::unknown(kNoSteady)
                 : Known<uint64_t>::of(block.at(which).at(stage).get<uint64_t>());
    };
    for (size_t s = 0; s < stwo::kStageCount; ++s) {
      StageTime time;
      time.stage = stwo::stage_name(static_cast<stwo::Stage>(s));
      time.first = block.at("first").at(time.stage).get<uint64_t>();
      time.min = statistic("min", time.stage);
      time.median = statistic("median", time.stage);
      time.ranked = time.median.value.value_or(time.first);
      out_.stage_total += time.ranked;
      out_.stages.push_back(std::move(time));
    }
    std::stable_sort(out_.stages.begin(), out_.stages.end(),
                     [](const StageTime& a, const StageTime& b) { return a.ranked > b.ranked; });
    const Json& host = json().at("stage_ns").at("median");
    out_.submit = !out_.cuda       ? Known<uint64_t>::unknown(kNoDevice)
                  : host.is_null() ? Known<uint64_t>::unknown(kNoSteady)
                                   : Known<uint64_t>::of(host.at("total").get<uint64_t>());
  }

  void read_vectors(const char* block, Known<std::vector<RequestNumber>>& into) const {
    if (!out_.cuda) {
      into.reason = null_reason(json(), std::string("/") + block);
      return;
    }
    std::vector<RequestNumber> numbers;
    for (const auto& item : json().at(block).items()) {
      RequestNumber n{item.key(), item.value().front().get<uint64_t>(),
                      Known<uint64_t>::unknown(kNoSteady)};
      if (out_.steady_requests > 0) {
        n.steady = Known<uint64_t>::of(item.value().back().get<uint64_t>());
      }
      numbers.push_back(std::move(n));
    }
    into.value = std::move(numbers);
  }

  void read_memory() {
    for (const char* part : kMemoryParts) {
      out_.memory.push_back({part, known(json(), std::string("/memory/") + part)});
    }
    out_.accounted_peak = json().at("memory").at("accounted_peak").get<uint64_t>();
    for (const char* part : kMemoryBounds) {
      out_.pool.push_back({part, known(json(), std::string("/memory/") + part)});
    }
  }

  void read_passes() {
    if (!out_.cuda) {
      out_.passes.reason = null_reason(json(), "/pass_ledger");
      return;
    }
    std::vector<PassFacts> passes;
    for (const Json& p : json().at("pass_ledger")) {
      PassFacts facts{p.at("stage").get<std::string>(),
                      stwo::one_line(p.at("pass").get<std::string>()),
                      stwo::one_line(p.at("kernel").get<std::string>()),
                      p.at("launches").get<uint64_t>(),
                      p.at("barriers").get<uint64_t>(),
                      0,
                      p.at("temporary_bytes").get<uint64_t>()};
      for (const char* key : {"input_bytes", "output_bytes", "reread_bytes"}) {
        if (__builtin_add_overflow(facts.moved_bytes, p.at(key).get<uint64_t>(),
                                   &facts.moved_bytes)) {
          throw stwo::FormatError("REPORT_OVERFLOW",
                                  "report " + stwo::one_line(out_.file.name) + ": /pass_ledger/" +
                                      std::to_string(passes.size()) +
                                      ": bytes do not fit 64 bits; make the report again");
        }
      }
      passes.push_back(std::move(facts));
    }
    out_.passes.value = std::move(passes);
  }

  RunFacts out_;
};

}  // namespace

std::string null_reason(const Json& report, const std::string& path) {
  // The report names array elements with '*'.
  const Json& reasons = report.at("not_applicable");
  const auto found = reasons.find(path);
  return found == reasons.end() ? "the report gives no reason"
                                : stwo::one_line(found->get<std::string>());
}

const SteadyNumber& RunFacts::split_part(const std::string& name) const {
  for (const SteadyNumber& part : split) {
    if (part.name == name) return part;
  }
  throw stwo::ContractError("a verified request has no part " + name);
}

Known<uint64_t> RunFacts::counter(const std::string& name) const {
  if (!counters.has_value()) return Known<uint64_t>::unknown(counters.reason);
  for (const RequestNumber& n : *counters.value) {
    if (n.name == name) return Known<uint64_t>::of(n.steady.value.value_or(n.first));
  }
  throw stwo::ContractError("a request has no counter " + name);
}

RunFacts run_facts(ReportFile file) { return Reader(std::move(file)).run(); }

}  // namespace prof
