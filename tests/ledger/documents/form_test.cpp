// Every key of every sample, broken in every way: refused with the right code at the right path.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/ledger/documents/samples.hpp"

namespace ledger::test {
namespace {

using Pointer = Json::json_pointer;
using List = std::vector<std::string>;

List problems(const std::string& text) {
  List out;
  for (const Problem& p : check_document(text)) out.push_back(p.code + ' ' + p.path);
  return out;
}

/// Path with '*' for array indices.
std::string pattern_of(const Pointer& pointer) {
  std::string out;
  for (Pointer p = pointer; !p.empty(); p.pop_back()) {
    const std::string& token = p.back();
    const bool index = token.find_first_not_of("0123456789") == std::string::npos;
    out = '/' + (index ? "*" : token) + out;
  }
  return out;
}

using Visit = std::function<void(const Pointer&, const Json&)>;
/// Every member and element below `value`. Of arrays, the first and the last element: the others
/// would only repeat them.
void walk(const Json& value, const Pointer& at, const Visit& visit) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      visit(at / key, child);
      walk(child, at / key, visit);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (i != 0 && i + 1 != value.size()) continue;
      visit(at / i, value[i]);
      walk(value[i], at / i, visit);
    }
  }
}

/// Text of `value` in which the member at `twice` is given a second time.
std::string dump_twice(const Json& value, const Pointer& twice, const Pointer& at = Pointer()) {
  if (!value.is_structured()) return value.dump();
  std::string out;
  size_t i = 0;
  for (const auto& [key, child] : value.items()) {
    const Pointer here = value.is_array() ? at / i++ : at / key;
    const std::string text =
        (value.is_array() ? "" : Json(key).dump() + ':') + dump_twice(child, twice, here);
    out += (out.empty() ? "" : ",") + text + (here == twice ? ',' + text : "");
  }
  return value.is_array() ? '[' + out + ']' : '{' + out + '}';
}

struct Sample {
  std::string name;
  Json json;
  std::set<std::string> nullable;
};

void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.name; }

std::vector<Sample> samples() {
  const std::set<std::string> environment = {"/environment/device_uuid", "/environment/device_name",
                                             "/environment/sm", "/environment/driver_version"};
  Sample verdict{"verdict",
                 sample_verdict(),
                 {"/tool/source_commit", "/supersedes", "/arms/B", "/arms/A/source_commit",
                  "/arms/B/source_commit", "/estimates/*/ratio", "/estimates/*/low",
                  "/estimates/*/high", "/theta", "/reasons/*/scope", "/reasons/*/scope/round",
                  "/reasons/*/scope/slot", "/reasons/*/observed", "/reasons/*/allowed"}};
  verdict.nullable.insert(environment.begin(), environment.end());
  Sample calibration{"calibration", sample_calibration(), {"/product/source_commit"}};
  calibration.nullable.insert(environment.begin(), environment.end());
  return {
      {"plan",
       sample_plan(),
       {"/pass_ledger/*/retained_consumer", "/resources/*/producer", "/resources/*/last_consumer"}},
      {"counters",
       sample_counters(),
       {"/product/identity_sha256", "/workload", "/report_sha256", "/launches/*/stage",
        "/launches/*/registers_per_thread", "/launches/*/metrics/*/value",
        "/launches/*/metrics/*/reason", "/diagnoses/*/margin", "/diagnoses/*/evidence/*/value",
        "/diagnoses/*/evidence/*/threshold", "/diagnoses/*/prediction"}},
      std::move(verdict),
      std::move(calibration)};
}

class Form : public testing::TestWithParam<Sample> {
 protected:
  const Json& sample() const { return GetParam().json; }
  /// The sample with the value at `at` replaced.
  std::string with(const Pointer& at, const Json& value) const {
    Json j = sample();
    j[at] = value;
    return j.dump();
  }
  /// What a broken value is refused with; without a schema nothing else is known.
  static List refused(const std::string& code, const Pointer& at) {
    if (at.to_string() == "/schema") return {"DOCUMENT_SCHEMA /schema"};
    return {code + ' ' + at.to_string()};
  }
};

TEST_P(Form, SampleIsValid) { EXPECT_EQ(problems(sample().dump()), List{}); }

TEST_P(Form, EveryKeyMustBeThere) {
  walk(sample(), Pointer(), [&](const Pointer& at, const Json&) {
    if (!sample().at(at.parent_pointer()).is_object()) return;
    Json j = sample();
    j[at.parent_pointer()].erase(at.back());
    EXPECT_EQ(problems(j.dump()), refused("DOCUMENT_KEY_MISSING", at));
  });
}

TEST_P(Form, NoOtherKeyMayBeThere) {
  const auto check = [&](const Pointer& at, const Json& value) {
    if (!value.is_object()) return;
    for (const char* key : {"unknown", "*", "0", ""}) {
      EXPECT_EQ(problems(with(at / key, 1)),
                List{"DOCUMENT_KEY_UNKNOWN " + (at / key).to_string()});
    }
  };
  check(Pointer(), sample());
  walk(sample(), Pointer(), check);
}

TEST_P(Form, NoKeyTwice) {
  walk(sample(), Pointer(), [&](const Pointer& at, const Json&) {
    if (!sample().at(at.parent_pointer()).is_object()) return;
    EXPECT_EQ(problems(dump_twice(sample(), at)), List{"DOCUMENT_DUPLICATE_KEY " + at.to_string()});
  });
}

TEST_P(Form, TypesAreExact) {
  const Json kinds[] = {Json::object(), Json::array(), "text", 1, 1.5, true};
  const auto kind = [](const Json& j) {
    return j.is_number() ? Json::value_t::number_float : j.type();
  };
  walk(sample(), Pointer(), [&](const Pointer& at, const Json& value) {
    if (value.is_null()) return;
    for (const Json& other : kinds) {
      if (kind(other) == kind(value)) continue;
      EXPECT_EQ(problems(with(at, other)), refused("DOCUMENT_TYPE", at)) << other;
    }
  });
}

TEST_P(Form, NullOnlyWhereSaid) {
  std::set<std::string> met;
  walk(sample(), Pointer(), [&](const Pointer& at, const Json&) {
    const std::string pattern = pattern_of(at);
    const List found = problems(with(at, nullptr));
    if (GetParam().nullable.count(pattern) == 0) {
      EXPECT_EQ(found, refused("DOCUMENT_TYPE", at));
    } else {
      met.insert(pattern);
      // A cross check may still refuse it.
      for (const std::string& problem : found) EXPECT_NE(problem.rfind("DOCUMENT_", 0), 0u);
    }
  });
  EXPECT_EQ(met, GetParam().nullable);
}

TEST_P(Form, WholeNumbersAreInRange) {
  walk(sample(), Pointer(), [&](const Pointer& at, const Json& value) {
    if (!value.is_number_integer()) return;
    // Numbers with a fraction elsewhere, written without one here.
    const std::string pattern = pattern_of(at);
    const bool is_real = pattern.find("/value") == pattern.size() - 6 ||
                         pattern.find("/threshold") != std::string::npos;
    if (is_real) return;
    for (const char* text : {"-1", "1.0", "1e2", "9223372036854775808", "18446744073709551615",
                             "18446744073709551616"}) {
      const Json other = Json::parse(text);
      EXPECT_EQ(problems(with(at, other)), refused("DOCUMENT_VALUE", at)) << text;
    }
  });
}

TEST_P(Form, NumbersAreFinite) {
  const std::string mark = "\"the number\"";
  walk(sample(), Pointer(), [&](const Pointer& at, const Json& value) {
    if (!value.is_number()) return;
    std::string text = with(at, "the number");
    text.replace(text.find(mark), mark.size(), "1e999");
    EXPECT_EQ(problems(text), refused("DOCUMENT_VALUE", at));
    for (const char* word : {"NaN", "Infinity", "-inf"}) {
      std::string bad = with(at, "the number");
      bad.replace(bad.find(mark), mark.size(), word);
      EXPECT_EQ(problems(bad).front().substr(0, 14), "DOCUMENT_JSON ");
    }
  });
}

TEST_P(Form, DigestsAreLowercaseHex) {
  size_t n = 0;
  walk(sample(), Pointer(), [&](const Pointer& at, const Json& value) {
    if (!value.is_string()) return;
    const auto text = value.get<std::string>();
    if (text.size() != 64) return;
    ++n;
    std::string upper = text;
    upper[5] = 'A';
    std::string other = text;
    other[63] = 'g';
    for (const std::string& bad : {upper, other, text.substr(1), text + "0", std::string()}) {
      EXPECT_EQ(problems(with(at, bad)), refused("DOCUMENT_VALUE", at)) << bad;
    }
  });
  EXPECT_GT(n, 3u);
}

TEST_P(Form, StringsHaveNoZero) {
  walk(sample(), Pointer(), [&](const Pointer& at, const Json& value) {
    if (!value.is_string()) return;
    EXPECT_EQ(problems(with(at, std::string("a\0b", 3))), List{"DOCUMENT_VALUE " + at.to_string()});
  });
}

INSTANTIATE_TEST_SUITE_P(Samples, Form, testing::ValuesIn(samples()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(FormOfReports, EveryKeyMustBeThereOnce) {
  for (const std::string& text : {sample_cpu_report_text(), sample_cuda_report_text()}) {
    const Json report = Json::parse(text);
    walk(report, Pointer(), [&](const Pointer& at, const Json&) {
      if (!report.at(at.parent_pointer()).is_object()) return;
      EXPECT_EQ(problems(dump_twice(report, at)), List{"REPORT_DUPLICATE_KEY " + at.to_string()});
      Json j = report;
      j[at.parent_pointer()].erase(at.back());
      EXPECT_FALSE(problems(j.dump()).empty()) << at;
    });
  }
}

List values_refused(Json document, const char* path, std::initializer_list<const char*> values) {
  List accepted;
  for (const char* value : values) {
    document[Pointer(path)] = value;
    if (problems(document.dump()) != List{std::string("DOCUMENT_VALUE ") + path}) {
      accepted.push_back(value);
    }
  }
  return accepted;
}

TEST(FormOfValues, ListsAreClosed) {
  const std::pair<Json, std::vector<const char*>> cases[] = {
      {sample_plan(),
       {"/composition", "/launches/0/stage", "/pass_ledger/1/stage", "/resources/0/region",
        "/resources/1/lifetime"}},
      {sample_counters(),
       {"/source/format", "/launches/0/stage", "/diagnoses/0/diagnosis",
        "/diagnoses/1/confidence"}},
      {sample_verdict(),
       {"/kind", "/profile", "/spec/workloads/0/structural_class", "/environment/kind",
        "/sessions/0/phase", "/sessions/0/arm", "/estimates/0/scope", "/outcome",
        "/classes_missing/0/structural_class"}},
      {sample_calibration(), {"/structural_class", "/environment/kind"}}};
  for (const auto& [document, paths] : cases) {
    for (const char* path : paths) {
      EXPECT_EQ(values_refused(document, path, {"", "other", "Wide", " wide", "keep,"}), List{})
          << path;
    }
  }
}

TEST(FormOfValues, Times) {
  const char* path = "/created_utc";
  EXPECT_EQ(values_refused(sample_counters(), path,
                           {"",
                            "2026-03-04",
                            "2026-03-04T05:06:07",
                            "2026-03-04T05:06:07+00:00",
                            "2026-03-04 05:06:07Z",
                            "2026-03-04t05:06:07z",
                            "2026-3-04T05:06:07Z",
                            "2026-13-04T05:06:07Z",
                            "2026-00-04T05:06:07Z",
                            "2026-04-31T05:06:07Z",
                            "2026-04-00T05:06:07Z",
                            "2026-02-29T05:06:07Z",
                            "1900-02-29T05:06:07Z",
                            "2026-03-04T24:06:07Z",
                            "2026-03-04T05:60:07Z",
                            "2026-03-04T05:06:60Z",
                            "2026-03-04T05:06:07.Z",
                            "2026-03-04T05:06:07.1Z",
                            "2026-03-04T05:06:07.1234Z",
                            "2026-03-04T05:06:07.12aZ",
                            "2026-03-04T05:06:07Z ",
                            "+026-03-04T05:06:07Z"}),
            List{});
  for (const char* time :
       {"2024-02-29T23:59:59Z", "2000-02-29T00:00:00.999Z", "2026-12-31T00:00:00.000Z"}) {
    Json j = sample_counters();
    j["created_utc"] = time;
    EXPECT_EQ(problems(j.dump()), List{}) << time;
  }
}

TEST(FormOfValues, Ulids) {
  EXPECT_EQ(values_refused(sample_verdict(), "/judge_id",
                           {"", "01JNFKZ3X8Q2V5W7Y9A0B1C2D", "01JNFKZ3X8Q2V5W7Y9A0B1C2D34",
                            "81JNFKZ3X8Q2V5W7Y9A0B1C2D3", "01jnfkz3x8q2v5w7y9a0b1c2d3",
                            "01JNFKZ3X8Q2V5W7Y9A0B1C2DI", "01JNFKZ3X8Q2V5W7Y9A0B1C2DL",
                            "01JNFKZ3X8Q2V5W7Y9A0B1C2DO", "01JNFKZ3X8Q2V5W7Y9A0B1C2DU"}),
            List{});
}

TEST(FormOfValues, ReasonCodes) {
  EXPECT_EQ(
      values_refused(sample_verdict(), "/reasons/0/code",
                     {"", "thermal", "Thermal", "1THERMAL", "_THERMAL", "CO TENANT", "CO-TENANT"}),
      List{});
}

TEST(FormOfValues, NamesAreNotEmpty) {
  EXPECT_EQ(values_refused(sample_counters(), "/launches/0/kernel", {"", "a\nb", "\x7f", "\x1b["}),
            List{});
  EXPECT_EQ(values_refused(sample_verdict(), "/spec/workloads/0/config", {"", "a\tb"}), List{});
}

TEST(FormOfValues, Bounds) {
  const std::tuple<Json, const char*, Json> cases[] = {
      {sample_plan(), "/launches/0/grid", {1}},
      {sample_plan(), "/launches/0/grid", {1, 1, 1}},
      {sample_plan(), "/launches/0/grid/0", 0},
      {sample_counters(), "/launches/0/grid", {1, 1}},
      {sample_counters(), "/launches/0/block", {1, 1, 1, 1}},
      {sample_counters(), "/launches/0/block/2", 0},
      {sample_verdict(), "/sessions/0/slot", 4},
      {sample_verdict(), "/sessions/0/value_ns", 0},
      {sample_verdict(), "/sessions/0/samples_ns/0", 0},
      {sample_verdict(), "/reasons/1/scope/slot", 4},
      {sample_verdict(), "/spec/workloads", Json::array()}};
  for (const auto& [document, path, value] : cases) {
    Json j = document;
    j[Pointer(path)] = value;
    EXPECT_EQ(problems(j.dump()), List{std::string("DOCUMENT_VALUE ") + path});
  }
}

TEST(FormOfValues, RealNumbersMayBeWrittenWithoutFraction) {
  Json j = sample_calibration();
  j["low"] = 0;
  j["high"] = 0;
  j["delta"] = 0;
  j["theta"] = 0.01;
  EXPECT_EQ(problems(j.dump()), List{});
}

}  // namespace
}  // namespace ledger::test
