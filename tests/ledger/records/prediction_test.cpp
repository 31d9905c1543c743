#include "ledger/records/prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

TEST(Prediction, ReadsEveryPart) {
  const Prediction p = parse_prediction(
      "bytes: trace_commit.input_bytes <= 0.75 ratio of baseline\n"
      "\n"
      "- share:  trace_commit.device_time@log20x100   >= 0.75 fraction\r\n"
      "  - launches: trace_commit.kernels = 6 +- 0 launches");
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0], (PredictionItem{PredictionKind::kBytes, "trace_commit.input_bytes", "",
                                  Relation::kLessOrEqual, 0.75, 0, "ratio", true}));
  EXPECT_EQ(p[1], (PredictionItem{PredictionKind::kShare, "trace_commit.device_time", "log20x100",
                                  Relation::kGreaterOrEqual, 0.75, 0, "fraction", false}));
  EXPECT_EQ(p[2], (PredictionItem{PredictionKind::kLaunches, "trace_commit.kernels", "",
                                  Relation::kWithin, 6, 0, "launches", false}));
  EXPECT_EQ(print_prediction(p),
            "bytes: trace_commit.input_bytes <= 0.75 ratio of baseline\n"
            "share: trace_commit.device_time@log20x100 >= 0.75 fraction\n"
            "launches: trace_commit.kernels = 6 +- 0 launches");
  EXPECT_TRUE(parse_prediction("").empty());
  EXPECT_TRUE(parse_prediction(" \n\t\n").empty());
}

TEST(Prediction, EveryKindAndRelation) {
  for (const char* kind : {"launches", "passes", "bytes", "counter", "time", "memory", "share"}) {
    for (const char* relation : {"< 1", "<= 1", "> 1", ">= 1", "= 1 +- 0.5"}) {
      const std::string line = std::string(kind) + ": q/r-s_t.u " + relation + " %";
      EXPECT_EQ(print_prediction(parse_prediction(line)), line);
    }
  }
  EXPECT_EQ(print_prediction(parse_prediction("time: a = 1 \xc2\xb1 2 ms")), "time: a = 1 +- 2 ms");
}

TEST(Prediction, NumbersPrintShortAndReadBack) {
  const auto printed = [](const std::string& number) {
    return print_prediction(parse_prediction("time: a < " + number + " ms"));
  };
  EXPECT_EQ(printed("2.5e9"), "time: a < 2500000000 ms");
  EXPECT_EQ(printed("0.750"), "time: a < 0.75 ms");
  EXPECT_EQ(printed("1e20"), "time: a < 1e+20 ms");
  EXPECT_EQ(printed("1e-9"), "time: a < 1e-09 ms");
  EXPECT_EQ(printed("-0"), "time: a < 0 ms");
  EXPECT_EQ(printed("-3.5"), "time: a < -3.5 ms");
  EXPECT_EQ(printed("0.1"), "time: a < 0.1 ms");
}

TEST(Prediction, RefusesWithLineAndMend) {
  const auto refused = [](const std::string& text, const std::string& code,
                          const std::string& line = "line 1") {
    std::string message;
    EXPECT_EQ(code_of([&] { parse_prediction(text); }, &message), code) << text;
    EXPECT_NE(message.find(line), std::string::npos) << message;
  };
  refused("faster", "PREDICTION_FORM");
  refused("- - time: a < 1 ms", "PREDICTION_FORM");
  refused("time:", "PREDICTION_FORM");
  refused("time: a", "PREDICTION_FORM");
  refused("time: a <", "PREDICTION_FORM");
  refused("time: a < 1", "PREDICTION_FORM");
  refused("time: a = 1 +-", "PREDICTION_FORM");
  refused("time: a < 1 ms of", "PREDICTION_FORM");
  refused("time: a < 1 ms of baseline now", "PREDICTION_FORM");
  refused("time: a < 1 ms or so", "PREDICTION_FORM");
  refused("speed: a < 1 ms", "PREDICTION_KIND");
  refused("Time: a < 1 ms", "PREDICTION_KIND");
  refused(": a < 1 ms", "PREDICTION_KIND");
  for (const char* q : {"1a", "a@", "@b", "a@b@c", "a,b", "\xc3\xa4", "_a"}) {
    refused("time: " + std::string(q) + " < 1 ms", "PREDICTION_QUANTITY");
  }
  refused("time: " + std::string(101, 'a') + " < 1 ms", "PREDICTION_QUANTITY");
  for (const char* r : {"<>", "==", "about", "=<", "!="}) {
    refused("time: a " + std::string(r) + " 1 ms", "PREDICTION_RELATION");
  }
  refused("time: a = 1 ms", "PREDICTION_RELATION");
  refused("time: a < 1 +- 2 ms", "PREDICTION_RELATION");
  for (const char* n :
       {"inf", "nan", "-inf", "1e999", "1e-999", "0x10", "1,5", "one", "+1", "1ms", "", "--1"}) {
    if (*n != '\0') refused("time: a < " + std::string(n) + " ms", "PREDICTION_NUMBER");
  }
  refused("time: a = 1 +- -1 ms", "PREDICTION_NUMBER");
  refused("time: a = 1 +- inf ms", "PREDICTION_NUMBER");
  for (const char* u : {"of", "1ms", "m,s", "\xc2\xb5s"}) {
    refused("time: a < 1 " + std::string(u), "PREDICTION_UNIT");
  }
  refused("time: a < 1 of baseline", "PREDICTION_UNIT");
  refused("time: a < 1 ms\n\ntime: b < 1", "PREDICTION_FORM", "line 3");
  refused("time: a < 1 ms\ntime:  a < 1.0 ms", "PREDICTION_REPEATED", "line 2");
  std::string message;
  code_of([] { parse_prediction("x", 41); }, &message);
  EXPECT_NE(message.find("line 41"), std::string::npos);
  // Two bounds of one quantity are no repetition.
  EXPECT_EQ(parse_prediction("time: a < 2 ms\ntime: a > 1 ms").size(), 2u);
}

TEST(Prediction, JsonBothWays) {
  const Prediction p = parse_prediction(
      "bytes: a@b <= 0.75 ratio of baseline\nlaunches: c = 6 +- 1 launches\ntime: d < 1e300 ms");
  const nlohmann::json json = prediction_to_json(p);
  EXPECT_EQ(json[0].dump(),
            R"({"kind":"bytes","of_baseline":true,"quantity":"a","relation":"<=","tolerance":null,)"
            R"("unit":"ratio","value":0.75,"where":"b"})");
  EXPECT_EQ(prediction_from_json(json), p);
  EXPECT_EQ(prediction_from_json_text(json.dump()), p);
  EXPECT_TRUE(prediction_from_json_text("[]").empty());
  // Whole numbers as JSON writers give them.
  nlohmann::json whole = json;
  whole[0]["value"] = 1;
  EXPECT_EQ(prediction_from_json(whole)[0].value, 1.0);
}

TEST(Prediction, JsonRefuses) {
  const nlohmann::json good = prediction_to_json(parse_prediction("time: a@b = 1 +- 2 ms"));
  const auto code = [](const nlohmann::json& j) {
    return code_of([&] { prediction_from_json(j); });
  };
  EXPECT_EQ(code(good), "");
  EXPECT_EQ(code_of([] { prediction_from_json_text("[{"); }), "PREDICTION_JSON");
  EXPECT_EQ(code(nlohmann::json::object()), "PREDICTION_JSON");
  EXPECT_EQ(code({1}), "PREDICTION_JSON");
  for (const auto& [key, value] : good[0].items()) {
    nlohmann::json missing = good;
    missing[0].erase(key);
    EXPECT_EQ(code(missing), "PREDICTION_JSON") << key;
    nlohmann::json other = good;
    other[0][key] = nlohmann::json::array();
    EXPECT_EQ(code(other), "PREDICTION_JSON") << key;
    if (value.is_string()) {
      for (const char* bad : {"", "a b", "a\nb", "x@y", "a < 1 ms of baseline"}) {
        nlohmann::json words = good;
        words[0][key] = bad;
        EXPECT_EQ(code(words), "PREDICTION_JSON") << key << " " << bad;
      }
    }
  }
  nlohmann::json more = good;
  more[0]["more"] = 1;
  EXPECT_EQ(code(more), "PREDICTION_JSON");
  nlohmann::json kind = good;
  kind[0]["kind"] = "speed";
  EXPECT_EQ(code(kind), "PREDICTION_KIND");
  nlohmann::json tolerance = good;
  tolerance[0]["tolerance"] = nullptr;
  EXPECT_EQ(code(tolerance), "PREDICTION_RELATION");
  nlohmann::json twice = good;
  twice.push_back(good[0]);
  EXPECT_EQ(code(twice), "PREDICTION_REPEATED");
}

TEST(Prediction, RefutedAtTheEdges) {
  const auto item = [](const std::string& rest) {
    return parse_prediction("time: a " + rest + " ms").front();
  };
  EXPECT_FALSE(refuted(item("< 1"), 0.999));
  EXPECT_TRUE(refuted(item("< 1"), 1));
  EXPECT_FALSE(refuted(item("<= 1"), 1));
  EXPECT_TRUE(refuted(item("<= 1"), 1.001));
  EXPECT_TRUE(refuted(item("> 1"), 1));
  EXPECT_FALSE(refuted(item("> 1"), 1.001));
  EXPECT_FALSE(refuted(item(">= 1"), 1));
  EXPECT_TRUE(refuted(item(">= 1"), 0.999));
  EXPECT_FALSE(refuted(item("= 10 +- 2"), 8));
  EXPECT_FALSE(refuted(item("= 10 +- 2"), 12));
  EXPECT_TRUE(refuted(item("= 10 +- 2"), 12.5));
  EXPECT_FALSE(refuted(item("= 6 +- 0"), 6));
  EXPECT_TRUE(refuted(item("= 6 +- 0"), 7));
  for (const double missing : {std::nan(""), std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(code_of([&] { refuted(item("< 1"), missing); }), "PREDICTION_OBSERVED");
  }
}

TEST(Prediction, RandomItemsRoundTrip) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto word = [&](std::string_view first, std::string_view rest) {
    std::string out(1, first[pick(first.size())]);
    for (size_t n = pick(12); n > 0; --n) out += rest[pick(rest.size())];
    return out;
  };
  constexpr std::string_view kLetters = "abcXYZ";
  constexpr std::string_view kName = "abcXYZ019_./-";
  for (int round = 0; round < 2000; ++round) {
    Prediction p;
    for (size_t n = 1 + pick(4); n > 0; --n) {
      PredictionItem item;
      item.kind = static_cast<PredictionKind>(pick(7));
      item.quantity = word(kLetters, kName);
      if (pick(2) == 0) item.where = word(kName, kName);
      item.relation = static_cast<Relation>(pick(5));
      const auto number = [&] {
        double d = 0;
        do {
          const uint64_t bits = random();
          std::memcpy(&d, &bits, sizeof d);
        } while (!std::isfinite(d));
        return d == 0 ? 0.0 : pick(2) == 0 ? d : static_cast<double>(pick(1000)) / 8;
      };
      item.value = number();
      if (item.relation == Relation::kWithin) item.tolerance = std::abs(number());
      item.unit = word("abc%", "abc%/^*19");
      if (item.unit == "of") item.unit = "ms";
      item.of_baseline = pick(2) == 0;
      if (std::find(p.begin(), p.end(), item) == p.end()) p.push_back(item);
    }
    const std::string text = print_prediction(p);
    ASSERT_EQ(parse_prediction(text), p) << text;
    ASSERT_EQ(print_prediction(parse_prediction(text)), text);
    ASSERT_EQ(prediction_from_json_text(prediction_to_json(p).dump()), p) << text;
  }
}

}  // namespace
}  // namespace ledger
