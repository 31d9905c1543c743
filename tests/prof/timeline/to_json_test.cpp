// The document: its keys, its nulls, its bytes.
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

TEST(ToJson, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const std::string text = to_json(t);
  EXPECT_EQ(text.back(), '\n');
  const Json j = Json::parse(text);
  EXPECT_EQ(keys(j), (std::vector<std::string>{"schema",
                                               "capture",
                                               "window",
                                               "evidence",
                                               "evidence_reasons",
                                               "missing",
                                               "context_and_modules",
                                               "launch_gaps",
                                               "concurrency",
                                               "synchronisation",
                                               "transfers",
                                               "allocation",
                                               "graphs",
                                               "submit_thread",
                                               "activity",
                                               "stages",
                                               "kernels",
                                               "perturbation",
                                               "counts",
                                               "comparison",
                                               "not_applicable"}));
  EXPECT_EQ(j["schema"], "stwo_prof_systems_v1");
  EXPECT_EQ(j["window"]["source"], "report");
  EXPECT_EQ(j["window"]["request"], 2);
  EXPECT_EQ(j["window"]["begin_ns"], at(10000));
  EXPECT_EQ(j["evidence"], "complete");
  EXPECT_EQ(j["launch_gaps"]["devices"][0]["gaps"]["sum_ns"], 1700);
  EXPECT_EQ(j["launch_gaps"]["devices"][0]["top"][0]["stage"], "proof_assembly");
  EXPECT_EQ(j["concurrency"]["devices"][0]["at_least_ns"], Json::array({5000, 1000}));
  EXPECT_EQ(j["concurrency"]["waits"]["waits"], 0);
  EXPECT_EQ(j["synchronisation"]["stream"]["wasted_ns"], 780);
  EXPECT_EQ(j["transfers"]["directions"][1]["direction"], "D2H");
  EXPECT_EQ(j["allocation"]["live_device_bytes"]["peak"], 65536);
  EXPECT_EQ(j["submit_thread"]["starved_ns"], 1310);
  EXPECT_EQ(j["activity"]["active"], 0.65);
  EXPECT_EQ(j["stages"]["attributed"], 1.0);
  EXPECT_EQ(j["stages"]["stages"][1]["stage"], "fri_commit");
  EXPECT_EQ(j["kernels"][0]["kernel"], "hash");
  EXPECT_EQ(j["counts"]["kernel_launches"], 4);
  EXPECT_TRUE(j["comparison"].is_null());
  EXPECT_EQ(text, to_json(capture.analyze()));
}

/// Every null has a reason under its path, and every reason a null.
void check_nulls(const Json& document) {
  std::vector<std::string> nulls;
  const std::function<void(const Json&, const std::string&)> walk = [&](const Json& value,
                                                                        const std::string& path) {
    if (value.is_null()) nulls.push_back(path);
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) walk(member, path + "/" + key);
    }
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) walk(value[i], path + "/" + std::to_string(i));
    }
  };
  walk(document, "");
  std::vector<std::string> reasons = keys(document["not_applicable"]);
  std::sort(nulls.begin(), nulls.end());
  std::sort(reasons.begin(), reasons.end());
  EXPECT_EQ(nulls, reasons);
  for (const auto& [path, reason] : document["not_applicable"].items()) {
    EXPECT_FALSE(reason.get<std::string>().empty()) << path;
  }
}

TEST(ToJson, EveryNullHasItsReason) {
  const std::vector<std::function<void(TraceWriter&)>> captures = {
      write_example,
      [](TraceWriter& w) { kernel(w, "k", {1}, span(1100, 1200)); },
      [](TraceWriter& w) {
        write_example(w);
        w.meta("missing_kinds",
               "CONCURRENT_KERNEL MEMCPY MEMSET RUNTIME DRIVER SYNCHRONIZATION CUDA_EVENT MEMORY2 "
               "MEMORY_POOL CONTEXT MODULE JIT OVERHEAD MARKER");
      },
      [](TraceWriter& w) {
        write_example(w);
        w.meta("missing_kinds", "CUDA_EVENT MEMORY_POOL JIT");
        resource(w, ledger::ResKind::kModuleLoaded, 15000);
        memory(w, ledger::MemOp::kAllocation, 1, 2, 15100, 999);
        ledger::JitRow jit;
        jit.pid = 7;
        w.jit(jit);
      },
      [](TraceWriter& w) {
        one_window(w, 1000, 2000);
        call(w, "cuGraphLaunch", 5, 1000, 1050);
        w.graph(op_row({5, 13, 0, 9}, span(1100, 1500)));
        copy(w, 10, 40, {4}, span(1400, 1400));
      },
  };
  for (const auto& fill_capture : captures) {
    Capture capture(fill_capture);
    check_nulls(Json::parse(to_json(capture.analyze())));
  }
}

TEST(ToJson, NamesThatAreNotText) {
  Capture capture([](TraceWriter& w) { kernel(w, "k\xff\"\n", {1}, span(1100, 1200)); });
  const Json j = Json::parse(to_json(capture.analyze()));
  EXPECT_EQ(j["kernels"][0]["kernel"], "k\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace prof::test
