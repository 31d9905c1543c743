// What to look at next: the order of attribution, with the numbers that speak for each step.

#include <cstdio>
#include <map>

#include "prof/report/report.hpp"
#include "prof/target/command_line.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

/// A first request this much slower than a steady one is worth a look of its own.
constexpr double kColdFactor = 2;
/// Share of the resident time without the device from which the host is the first suspect.
constexpr double kGapShare = 0.10;
/// Device time per launch below which launches are as long as what separates them.
constexpr uint64_t kShortLaunchNs = 10'000;
/// This close to the traffic floor only fewer bytes help.
constexpr double kNearFloor = 1.25;

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Steps {
 public:
  explicit Steps(const ReportAnalysis& analysis) : a_(analysis), run_(analysis.run) {}

  std::vector<NextStep> all() {
    gates();
    if (!run_.cuda) {
      add("NEXT_DEVICE",
          "this run had no device: its stages are host times and say nothing about "
          "the CUDA backend; prove with --backend cuda");
      return std::move(steps_);
    }
    lifecycle();
    stage();
    timeline();
    kernel();
    add("NEXT_VERDICT",
        "a changed program is judged without any profiler, in alternation with "
        "this one; one report is no verdict",
        "judge run SPEC");
    return std::move(steps_);
  }

 private:
  void add(const char* code, const std::string& message, const std::string& command = "") {
    steps_.push_back({code, message, command});
  }

  void gates() {
    for (const Gate& gate : a_.gates) {
      if (gate.state == GateState::kFail) {
        add("NEXT_GATE", gate.code + " fails: " + gate.mend + ", before any number below counts");
      } else if (gate.state == GateState::kUnknown && run_.cuda) {
        add("NEXT_GATE", gate.code + " is unknown: " + gate.mend);
      }
    }
  }

  void lifecycle() {
    if (run_.steady_requests == 0) {
      add("NEXT_STEADY",
          "no request was steady: what follows is about the first one, which also "
          "pays for loading; measure again with --warmup 5 --repeat 25");
      return;
    }
    const uint64_t verified = *run_.split_part("verified_request").median.value;
    const uint64_t resident = *run_.split_part("resident_prove").median.value;
    if (2 * resident < verified) {
      add("NEXT_HOST_PART", "proving is " + stwo::format_percent(resident, verified) +
                                " of a verified request; the rest is encoding, decoding and "
                                "verification on the host, which no kernel makes faster");
    }
    const uint64_t first = run_.file.json.at("lifecycle_ns").at("first_request").get<uint64_t>();
    if (ratio(first, verified) >= kColdFactor) {
      add("NEXT_FIRST_REQUEST", "the first request takes " +
                                    number("%.1f", ratio(first, verified)) +
                                    " times a steady one: see what it loads and allocates");
    }
  }

  void stage() {
    const StageTime& top = run_.stages.front();
    std::string text = top.stage + " takes " + stwo::format_ms(top.ranked) + " ms, " +
                       stwo::format_percent(top.ranked, run_.stage_total) + " of device time";
    const Known<uint64_t> floor = a_.floor_ns(top.stage);
    if (floor.value.value_or(0) > 0) {
      const double times = ratio(top.ranked, *floor.value);
      text += ", " + number("%.2f", times) + " times the floor of its traffic";
      text += times < kNearFloor ? ": only a pass less, or fewer bytes, makes it faster"
                                 : ": look there first";
    } else {
      text += ": look there first";
    }
    add("NEXT_STAGE", text);
  }

  void timeline() {
    std::string why;
    const auto because = [&](const std::string& reason) {
      why += (why.empty() ? "" : "; ") + reason;
    };
    if (run_.host_gap.median.has_value()) {
      const uint64_t gap = *run_.host_gap.median.value;
      const uint64_t resident = *run_.split_part("resident_prove").median.value;
      if (ratio(gap, resident) >= kGapShare) {
        because("the device is not in use for " + stwo::format_percent(gap, resident) +
                " of proving");
      }
      const uint64_t launches = *run_.counter("kernel_launches").value;
      const uint64_t device = *run_.device_elapsed.median.value;
      if (launches > 0 && device / launches < kShortLaunchNs) {
        because("a launch takes " + number("%.1f", ratio(device, launches) / 1000) +
                " us of device time on average, as short as the gaps between launches");
      }
    }
    for (const auto& [name, allowed] : {std::pair<const char*, uint64_t>{"sync_calls", 1},
                                        {"device_synchronizes", 0},
                                        {"allocations", 0},
                                        {"frees", 0},
                                        {"module_loads", 0},
                                        {"graph_instantiations", 0}}) {
      const uint64_t value = *run_.counter(name).value;
      if (value > allowed) because(std::string(name) + " is " + std::to_string(value));
    }
    add("NEXT_TIMELINE",
        why.empty() ? "nothing here points at the host; a timeline shows whether kernels overlap "
                      "and what separates them"
                    : why + ": a timeline shows where",
        "stwo-prof cuda systems --output proof.sptrace -- CMD");
  }

  void kernel() {
    const std::string& stage = run_.stages.front().stage;
    std::map<std::string, double> bytes;
    for (const PassFacts& p : *run_.passes.value) {
      if (p.stage == stage) bytes[p.kernel] += static_cast<double>(p.moved_bytes);
    }
    if (bytes.empty()) return;
    auto top = bytes.begin();
    for (auto it = bytes.begin(); it != bytes.end(); ++it) {
      if (it->second > top->second) top = it;
    }
    add("NEXT_KERNEL",
        "of the kernels of " + stage + ", " + top->first +
            " moves most bytes; count it once the "
            "timeline shows that it is on the critical path",
        shell_line({"stwo-prof", "cuda", "compute", "--output", stage + ".ncu-rep", "--kernel",
                    top->first}) +
            " -- CMD");
  }

  const ReportAnalysis& a_;
  const RunFacts& run_;
  std::vector<NextStep> steps_;
};

}  // namespace

std::vector<NextStep> next_steps(const ReportAnalysis& analysis) { return Steps(analysis).all(); }

}  // namespace prof
