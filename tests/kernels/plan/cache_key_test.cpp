// What a prepared plan may be reused for.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/kernels/plan/plan_cases.hpp"

namespace stwo::gpu {
namespace {

struct Inputs {
  Statement statement = pair(7, 5, 6, 4);
  PcsConfig config = fast_config();
  PlanTarget target = test_target();
  PlanOptions options;
  std::string key() const {
    return plan_cache_key(*program_of(statement, config), target, options);
  }
};

using Change = std::pair<std::string, std::function<void(Inputs&)>>;

std::vector<Change> changes() {
  // A field that is added must get a line below.
  {
    const PlanTarget t;
    [[maybe_unused]] const auto& [sm, uuid, multiprocessors, memory, driver, toolkit, host,
                                  modules] = t;
    const PlanOptions o;
    [[maybe_unused]] const auto& [full_domain] = o;
    const Statement s;
    [[maybe_unused]] const auto& [air, channel, mix, parameters] = s;
    const PcsConfig c;
    [[maybe_unused]] const auto& [pow, fri, lifting] = c;
    [[maybe_unused]] const auto& [blowup, last, queries, fold] = fri;
  }
  std::vector<Change> out = {
      {"sm", [](Inputs& i) { i.target.sm = 80; }},
      {"device_uuid", [](Inputs& i) { i.target.device_uuid.back() = '2'; }},
      {"multiprocessors", [](Inputs& i) { ++i.target.multiprocessors; }},
      {"memory_bytes", [](Inputs& i) { i.target.memory_bytes = uint64_t{1} << 40; }},
      {"driver_version", [](Inputs& i) { i.target.driver_version = 13010; }},
      {"toolkit", [](Inputs& i) { i.target.toolkit = "13.0.89"; }},
      {"host_toolchain", [](Inputs& i) { i.target.host_toolchain += "2"; }},
      {"module_digest", [](Inputs& i) { i.target.module_digest[63] = '1'; }},
      {"full_domain_composition", [](Inputs& i) { i.options.full_domain_composition = true; }},
      {"pow", [](Inputs& i) { ++i.config.pow_bits; }},
      {"blowup", [](Inputs& i) { ++i.config.fri.log_blowup_factor; }},
      {"last", [](Inputs& i) { ++i.config.fri.log_last_layer_degree_bound; }},
      {"queries", [](Inputs& i) { ++i.config.fri.n_queries; }},
      {"fold", [](Inputs& i) { ++i.config.fri.fold_step; }},
      {"channel", [](Inputs& i) { i.statement.channel = HashVariant::kBlake2sM31; }},
      {"mix_config", [](Inputs& i) { i.statement.mix_config = true; }},
      {"air", [](Inputs& i) { i.statement = fibonacci(7, 5); }},
      {"sequence", [](Inputs& i) { i.statement = sequence(7, 5); }},
      {"sequence_unused", [](Inputs& i) { i.statement = sequence(7, 5, 3); }},
      {"lift", [](Inputs& i) {
         i.statement = sequence(7, 5);
         i.config.lifting_log_size = 10;
       }}};
  const size_t n_parameters = Inputs().statement.parameters.size();
  for (size_t k = 0; k < n_parameters; ++k) {
    const std::string name = Inputs().statement.parameters[k].first;
    out.emplace_back(name, [k](Inputs& i) {
      uint64_t& value = i.statement.parameters[k].second;
      value = i.statement.parameters[k].first == "second_enabled" ? 0 : value + 1;
    });
  }
  return out;
}

TEST(PlanCacheKey, EveryInputChangesIt) {
  std::map<std::string, std::string> keys{{Inputs().key(), "nothing"}};
  for (const auto& [name, change] : changes()) {
    Inputs inputs;
    change(inputs);
    const auto [at, is_new] = keys.emplace(inputs.key(), name);
    EXPECT_TRUE(is_new) << name << " has the key of " << at->second;
  }
  EXPECT_EQ(keys.size(), changes().size() + 1);
}

TEST(PlanCacheKey, EqualInputsHaveOne) {
  for (const auto& [name, change] : changes()) {
    Inputs a, b;
    change(a);
    change(b);
    EXPECT_EQ(a.key(), b.key()) << name;
  }
}

TEST(PlanCacheKey, IsADigest) {
  const std::string key = Inputs().key();
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
}

/// Texts next to each other must not run into one another.
TEST(PlanCacheKey, TextsKeepTheirLimits) {
  Inputs a, b;
  a.target.toolkit = "13";
  a.target.host_toolchain = "0";
  b.target.toolkit = "1";
  b.target.host_toolchain = "30";
  EXPECT_NE(a.key(), b.key());
  a = b = Inputs();
  a.target.toolkit = "13\nhost_toolchain=1:0";
  a.target.host_toolchain = "";
  b.target.toolkit = "13";
  b.target.host_toolchain = "0";
  EXPECT_NE(a.key(), b.key());
}

TEST(PlanCacheKey, IsThePlansOwn) {
  const Inputs i;
  const auto program = program_of(i.statement, i.config);
  EXPECT_EQ(compile_plan(program, i.target, i.options).cache_key, i.key());
}

}  // namespace
}  // namespace stwo::gpu
