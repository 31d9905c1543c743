#include "prof/export/identity.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

const Identity kKnown = {{"device", "H200 GPU-1"},    {"driver_version", "580.1"},
                         {"workload_id", "wf"},       {"config", "c"},
                         {"statement_sha256", "s"},   {"product", "p"},
                         {"recorder", "stwo-prof 1"}, {"evidence", "complete"}};

TEST(Identity, TheSame) {
  const IdentityDiff diff = compare_identities(kKnown, kKnown);
  EXPECT_EQ(diff.comparability, Comparability::kComparable);
  EXPECT_EQ(comparability_line(diff), "Comparable: same device, driver and workload");
  for (const FieldDrift& d : diff.fields) {
    EXPECT_EQ(d.agreement, Agreement::kSame) << d.field;
    EXPECT_TRUE(d.meaning.empty()) << d.field;
  }
}

TEST(Identity, EachFieldThatMustMatch) {
  for (const char* field :
       {"device", "driver_version", "workload_id", "config", "statement_sha256"}) {
    Identity other = kKnown;
    other[field] = "different";
    IdentityDiff diff = compare_identities(kKnown, other);
    EXPECT_EQ(diff.comparability, Comparability::kNotComparable) << field;
    EXPECT_EQ(comparability_line(diff), std::string("NOT COMPARABLE: differs in ") + field +
                                            "; the numbers below say nothing about the product");
    other.erase(field);
    diff = compare_identities(kKnown, other);
    EXPECT_EQ(diff.comparability, Comparability::kUnknown) << field;
    EXPECT_EQ(comparability_line(diff),
              std::string("NOT SHOWN TO BE COMPARABLE: not known of both: ") + field);
    Identity neither = kKnown;
    neither.erase(field);
    // Not known of either side is not known to be the same.
    EXPECT_EQ(compare_identities(neither, other).comparability, Comparability::kUnknown) << field;
  }
}

TEST(Identity, ADifferenceOutweighsAnUnknown) {
  Identity other = kKnown;
  other.erase("config");
  other["device"] = "different";
  EXPECT_EQ(compare_identities(kKnown, other).comparability, Comparability::kNotComparable);
}

TEST(Identity, OtherDifferencesAreNamed) {
  Identity other = kKnown;
  other["product"] = "q";
  other["evidence"] = "truncated";
  other["requests"] = "5";
  const IdentityDiff diff = compare_identities(kKnown, other);
  EXPECT_EQ(diff.comparability, Comparability::kComparable);
  std::map<std::string, FieldDrift> fields;
  for (const FieldDrift& d : diff.fields) fields[d.field] = d;
  EXPECT_EQ(fields.at("product").agreement, Agreement::kDifferent);
  EXPECT_FALSE(fields.at("product").meaning.empty());
  EXPECT_EQ(fields.at("evidence").agreement, Agreement::kDifferent);
  EXPECT_EQ(fields.at("requests").agreement, Agreement::kUnknown);
  EXPECT_EQ(fields.at("requests").meaning, "known on one side only");
  EXPECT_EQ(fields.count("replayed"), 0U);  // known of neither, and it need not match
}

TEST(Identity, OfACapture) {
  const ledger::test::TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  ledger::test::write_trace(path, [](ledger::TraceWriter& w) {
    w.meta("driver_version", "580.1");
    w.meta("workload_id", "wf");
    w.device({.id = 0, .uuid = "GPU-1", .name = "H200"});
    w.device({.id = 1, .uuid = "GPU-2", .name = "idle"});
    ledger::test::write_kernel(w, "k", 1, ledger::test::span(1, 2));
    for (const char digit : {'b', 'a', 'b'}) {
      ledger::ResEventRow module;
      module.kind = ledger::ResKind::kModuleLoaded;
      module.ts_ns = 1;
      module.sha256 = std::string(64, digit);
      w.res_event(module);
    }
  });
  const Identity identity = capture_identity(*ledger::open_trace(path));
  EXPECT_EQ(identity.at("device"), "H200 GPU-1");
  EXPECT_EQ(identity.at("driver_version"), "580.1");
  EXPECT_EQ(identity.at("workload_id"), "wf");
  EXPECT_EQ(identity.at("recorder"), "stwo-prof 0.1.0");
  EXPECT_EQ(identity.at("evidence"), "complete");
  // printf 'a%.0s' {1..64} and 'b' likewise, through sha256sum.
  EXPECT_EQ(identity.at("modules"),
            "2 modules, fa0dafbf43f1f551e536353e9d1a942a8e86e41a0b58dfeaf264ef217f6b862a");
  EXPECT_EQ(identity.count("config"), 0U);
  EXPECT_EQ(identity.count("requests"), 0U);
}

TEST(Identity, ADeviceThatIsNotDescribedIsNotKnown) {
  const ledger::test::TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  ledger::test::write_trace(path, [](ledger::TraceWriter& w) {
    w.device({.id = 0, .uuid = "GPU-1", .name = "H200"});
    ledger::test::write_kernel(w, "k", 1, ledger::test::span(1, 2), 1, 0);
    ledger::test::write_kernel(w, "k", 1, ledger::test::span(1, 2), 1, 1);
  });
  EXPECT_EQ(capture_identity(*ledger::open_trace(path)).count("device"), 0U);
}

}  // namespace
}  // namespace prof
