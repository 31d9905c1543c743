// A plan as people and tools see it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/kernels/plan/plan_cases.hpp"

namespace stwo::gpu {
namespace {

using Json = nlohmann::json;

class PlanText : public testing::TestWithParam<PlanCase> {
 protected:
  const CudaPlan plan = compile_case(GetParam());
};

TEST_P(PlanText, JsonHasTheWholePlan) {
  const Json j = Json::parse(plan_to_json(plan));
  EXPECT_EQ(j.at("schema"), "stwo_plan_v1");
  EXPECT_EQ(j.at("cache_key_sha256"), plan.cache_key);
  EXPECT_EQ(j.at("program_sha256"), plan.program->digest());
  EXPECT_EQ(j.at("semantic_sha256"), plan.program->semantic_digest());
  EXPECT_EQ(j.at("schedule_version"), kScheduleVersion);
  EXPECT_EQ(j.at("composition"), plan.half_domain ? "half_domain" : "full_domain");
  EXPECT_EQ(j.at("transcript_barriers"), plan.transcript_barriers());
  EXPECT_EQ(j.at("target").at("sm"), plan.target.sm);
  EXPECT_EQ(j.at("target").at("module_sha256"), plan.target.module_digest);
  EXPECT_EQ(j.at("memory").at("arena"), plan.arena_bytes);
  EXPECT_EQ(j.at("memory").at("terminal"), plan.terminal_bytes);

  const Json& launches = j.at("launches");
  ASSERT_EQ(launches.size(), plan.launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const PlanLaunch& l = plan.launches[i];
    EXPECT_EQ(launches[i].at("ordinal"), i);
    EXPECT_EQ(launches[i].at("stage"), stage_name(l.stage));
    EXPECT_EQ(launches[i].at("kernel"), l.kernel);
    EXPECT_EQ(launches[i].at("pass"), l.pass);
    EXPECT_EQ(launches[i].at("grid"), Json({l.grid_x, l.grid_y}));
    EXPECT_EQ(launches[i].at("threads"), l.threads);
    EXPECT_EQ(launches[i].at("shared_bytes"), l.shared_bytes);
    EXPECT_EQ(launches[i].at("program_nodes"), Json(l.nodes));
    EXPECT_EQ(launches[i].at("transcript_operations"), l.transcript_ops);
    EXPECT_EQ(launches[i].at("uses").size(), l.uses.size());
  }
}

TEST_P(PlanText, JsonHasEveryColumnOfThePassLedger) {
  const Json j = Json::parse(plan_to_json(plan));
  const auto ledger = plan.pass_ledger();
  ASSERT_EQ(j.at("pass_ledger").size(), ledger.size());
  for (size_t i = 0; i < ledger.size(); ++i) {
    const Json& row = j.at("pass_ledger")[i];
    EXPECT_EQ(row.at("stage"), stage_name(ledger[i].stage));
    EXPECT_EQ(row.at("pass"), ledger[i].pass);
    EXPECT_EQ(row.at("kernel"), ledger[i].kernel);
    EXPECT_EQ(row.at("input_bytes"), ledger[i].input_bytes);
    EXPECT_EQ(row.at("output_bytes"), ledger[i].output_bytes);
    EXPECT_EQ(row.at("reread_bytes"), ledger[i].reread_bytes);
    EXPECT_EQ(row.at("temporary_bytes"), ledger[i].temporary_bytes);
    EXPECT_EQ(row.at("launches"), ledger[i].launches);
    EXPECT_EQ(row.at("barriers"), ledger[i].barriers);
    const Json& consumer = row.at("retained_consumer");
    EXPECT_EQ(consumer, ledger[i].retained_consumer ? Json(*ledger[i].retained_consumer) : Json());
  }
}

TEST_P(PlanText, JsonHasEveryFieldOfAResource) {
  const std::set<std::string> lifetimes = {"persistent", "shape", "request", "terminal_host"};
  const Json j = Json::parse(plan_to_json(plan));
  ASSERT_EQ(j.at("resources").size(), plan.buffers.size());
  std::set<std::string> names;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& b = plan.buffers[i];
    const Json& r = j.at("resources")[i];
    SCOPED_TRACE(r.dump());
    EXPECT_EQ(r.at("name"), b.name);
    names.insert(b.name);
    EXPECT_EQ(r.at("region"), region_name(b.region));
    EXPECT_EQ(r.at("bytes"), b.bytes);
    EXPECT_EQ(r.at("alignment"), b.alignment);
    EXPECT_TRUE(lifetimes.contains(r.at("lifetime").get<std::string>()));
    EXPECT_EQ(r.at("cache_key"), plan.cache_key);
    EXPECT_EQ(r.at("last_use_event"), b.last_launch);
    for (const char* text : {"producer", "last_consumer", "owner", "unwind_path", "stream",
                             "eviction_rule", "lifetime"}) {
      ASSERT_TRUE(r.at(text).is_string()) << text;
      EXPECT_FALSE(r.at(text).get<std::string>().empty()) << text;
    }
    // Only what a request writes can be aliased, and only within a request.
    const bool request = b.region == Region::kArena;
    EXPECT_EQ(r.at("alias_eligible"), request);
    EXPECT_EQ(r.at("mutable"), request || b.region == Region::kTerminal);
    EXPECT_EQ(r.at("lifetime") == "request", request);
    EXPECT_EQ(r.at("lifetime") == "terminal_host", b.region == Region::kTerminal);
    EXPECT_EQ(r.at("lifetime") == "persistent", b.region == Region::kTables);
    if (b.region == Region::kTables) {
      EXPECT_EQ(r.at("producer"), "make_tables");
    } else if (b.region == Region::kConstants) {
      EXPECT_EQ(r.at("producer"), "host");
    }
  }
  EXPECT_EQ(names.size(), plan.buffers.size()) << "two buffers have one name";
}

TEST_P(PlanText, TextHasALinePerLaunchAndBuffer) {
  const std::string text = plan_to_text(plan);
  EXPECT_NE(text.find(plan.cache_key), std::string::npos);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto table = [&](std::string_view title) {
    size_t i = 0;
    while (i < lines.size() && !lines[i].starts_with(title)) ++i;
    return i + 1;
  };
  size_t at = table("stage  ");
  ASSERT_LE(at + plan.launches.size(), lines.size());
  for (const PlanLaunch& l : plan.launches) {
    const std::string& line = lines[at++];
    EXPECT_TRUE(line.starts_with(std::string(stage_name(l.stage)) + " ")) << line;
    EXPECT_NE(line.find(" " + l.kernel + " "), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("  " + l.pass)) << line;
  }
  EXPECT_EQ(lines[at], "");
  at = table("region  ");
  ASSERT_LE(at + plan.buffers.size(), lines.size());
  for (const PlanBuffer& b : plan.buffers) {
    const std::string& line = lines[at++];
    EXPECT_TRUE(line.starts_with(std::string(region_name(b.region)) + " ")) << line;
    EXPECT_NE(line.find(" " + std::to_string(b.bytes) + " "), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with(b.name)) << line;
  }
  EXPECT_EQ(lines[at], "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PlanText,
    testing::Values(PlanCase{"small", fibonacci(4, 3), fast_config()},
                    PlanCase{"large", fibonacci(20, 100), fast_config()},
                    PlanCase{"full_domain", fibonacci(9, 5), fast_config(), {true}},
                    PlanCase{"pair", pair(9, 4, 7, 3), parse_config("fold=3,queries=20")},
                    PlanCase{"sequence", sequence(6, 5, 8), parse_config("queries=9")}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stwo::gpu
