#include "prof/diagnose/kernel_questions.hpp"

#include <nlohmann/json.hpp>

#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

KernelAnswer answer(const KernelAnswers& answers, size_t question, const std::string& name) {
  for (const KernelAnswer& a : answers.questions.at(question).answers) {
    if (a.name == name) return a;
  }
  ADD_FAILURE() << "no answer " << name;
  return {};
}

TEST(KernelQuestions, SevenInTheOrderOfTheTable) {
  const KernelAnswers answers = answer_kernel_questions(Case().input(), "log_rows=20");
  ASSERT_EQ(answers.questions.size(), 7U);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(answers.questions[i].key, metric_table().questions[i]);
    EXPECT_FALSE(answers.questions[i].answers.empty());
    for (const KernelAnswer& a : answers.questions[i].answers) {
      const int given = (a.value ? 1 : 0) + (a.text.empty() ? 0 : 1) + (a.reason.empty() ? 0 : 1);
      EXPECT_EQ(given, 1) << a.name;
      EXPECT_FALSE(a.source.empty()) << a.name;
    }
  }
}

TEST(KernelQuestions, Answers) {
  Case c;
  c.plan.ledger_bytes = 1'000'000'000;
  const KernelAnswers answers = answer_kernel_questions(c.input(), "log_rows=20");
  EXPECT_EQ(answer(answers, 0, "input shape").text, "log_rows=20");
  EXPECT_EQ(answer(answers, 0, "grid, block, launches captured").text,
            "4096 x 1 x 1, 256 x 1 x 1, 3");
  EXPECT_EQ(answer(answers, 1, "share of device time").value, 50);
  EXPECT_EQ(answer(answers, 1, "median duration").value, 100000);
  EXPECT_EQ(answer(answers, 1, "stage").text, "trace_commit");
  EXPECT_EQ(answer(answers, 2, "sectors per global load").value, 4);
  EXPECT_EQ(answer(answers, 2, "DRAM bytes against the pass ledger").text,
            "measured 1.5 GB, pass ledger 1 GB: 1.5 times as much (rereads)");
  EXPECT_EQ(answer(answers, 3, "warp instructions executed").value, 6e6);
  EXPECT_EQ(answer(answers, 4, "limiting resource").text, "shared_mem, 4 blocks");
  EXPECT_EQ(answer(answers, 6, "cycles of a scheduler with an instruction issued").value, 0.8);
}

TEST(KernelQuestions, ReplayIsNeverTheDuration) {
  Case c;
  c.has_timeline = false;
  const KernelAnswers answers = answer_kernel_questions(c.input(), "");
  EXPECT_EQ(answer(answers, 1, "median duration").reason, "there is no timeline");
  EXPECT_EQ(answer(answers, 1, "share of device time").reason, "there is no timeline");
  bool replay = false;
  for (const KernelAnswer& a : answers.questions[1].answers) {
    if (!a.value) continue;
    EXPECT_NE(a.name.find("no production time"), std::string::npos) << a.name;
    replay = true;
  }
  EXPECT_TRUE(replay);
  EXPECT_EQ(answer(answers, 0, "input shape").reason, "no product report says it");
}

TEST(KernelQuestions, WhatIsMissingHasAReason) {
  Case c;
  c.drop("load_sectors").set("store_requests", 0);
  for (const char* key : {"limit_registers", "limit_shared_mem", "limit_warps", "limit_blocks"}) {
    c.drop(key);
  }
  const KernelAnswers answers = answer_kernel_questions(c.input(), "");
  EXPECT_EQ(answer(answers, 2, "sectors per global load").reason,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum: \"n/a\" in the report");
  EXPECT_EQ(answer(answers, 2, "sectors per global store").reason, "there are none");
  EXPECT_EQ(answer(answers, 4, "limiting resource").reason, "no limit has a value");
  EXPECT_EQ(answer(answers, 2, "DRAM bytes against the pass ledger").reason,
            "no plan tells the bytes of this kernel");
}

TEST(KernelQuestions, AsTextAndJson) {
  const KernelAnswers answers = answer_kernel_questions(Case().input(), "");
  const std::string text = to_text(answers);
  EXPECT_EQ(text.substr(0, 2), "k\n");
  for (const char* part : {"\n1. Which kernel", "\n7. What do warps wait for?", "100 us",
                           "unknown: no product report says it"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  const std::string json = to_json(answers);
  EXPECT_EQ(json, to_json(answers));
  const auto root = nlohmann::json::parse(json);
  EXPECT_EQ(root.at("schema"), "stwo_prof_kernel_v1");
  EXPECT_TRUE(root.at("input_shape").is_null());
  EXPECT_EQ(root.at("questions").size(), 7U);
  for (const auto& q : root.at("questions")) {
    for (const auto& a : q.at("answers")) {
      EXPECT_EQ(a.at("value").is_null(), !a.at("reason").is_null()) << a.dump();
    }
  }
}

}  // namespace
}  // namespace prof::test
