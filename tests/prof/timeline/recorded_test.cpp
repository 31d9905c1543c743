// What a capture says about itself.
#include "prof/timeline/recorded.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

std::set<std::string> missing(const std::string& key, const std::string& kinds) {
  Capture capture([&](TraceWriter& w) { w.meta(key, kinds); });
  return Recorded(capture.trace()).missing();
}

TEST(Recorded, KindsInEverySpelling) {
  using Kinds = std::set<std::string>;
  EXPECT_EQ(missing("missing_kinds", ""), Kinds{});
  EXPECT_EQ(missing("missing_kinds", "MEMCPY SYNCHRONIZATION"),
            (Kinds{"MEMCPY", "SYNCHRONIZATION"}));
  EXPECT_EQ(missing("missing_kinds", "concurrent_kernel memory2"),
            (Kinds{"CONCURRENT_KERNEL", "MEMORY2"}));
  EXPECT_EQ(missing("missing_kinds", "KERNEL MEMORY NVTX_EVENTS"),
            (Kinds{"CONCURRENT_KERNEL", "MARKER", "MEMORY2"}));
  EXPECT_EQ(missing("missing_kinds", "module_loaded context_created"),
            (Kinds{"CONTEXT", "MODULE"}));
  EXPECT_EQ(missing("kinds_not_exported", "MODULE JIT MEMORY_POOL RESOURCES"),
            (Kinds{"CONTEXT", "JIT", "MEMORY_POOL", "MODULE"}));
}

TEST(Recorded, WithoutTheLibraryNothingWasRecorded) {
  Capture capture([](TraceWriter& w) { w.meta("missing_kinds", "cupti"); });
  const Recorded recorded(capture.trace());
  EXPECT_FALSE(recorded.has_calls());
  for (const char* kind : {"CONCURRENT_KERNEL", "MEMCPY", "MEMORY2", "JIT", "MODULE", "OVERHEAD"}) {
    EXPECT_FALSE(recorded.has(kind)) << kind;
  }
}

TEST(Recorded, ReasonsNameOnlyWhatIsMissing) {
  Capture capture([](TraceWriter& w) {
    w.meta("missing_kinds", "MEMCPY RUNTIME");
    w.loss({"b", 2});
    w.loss({"a", 1});
  });
  const Recorded recorded(capture.trace());
  EXPECT_EQ(recorded.why_not({"MEMCPY", "MEMSET"}), "the capture has no records of kind MEMCPY");
  EXPECT_FALSE(recorded.why_not({"MEMSET"}));
  EXPECT_FALSE(recorded.why_no_calls());
  EXPECT_TRUE(recorded.lost_anything());
  EXPECT_EQ(recorded.losses().at(0).kind, "a");
  EXPECT_FALSE(recorded.truncated());
  EXPECT_EQ(recorded.fact("tool"), "stwo-prof");
  EXPECT_FALSE(recorded.fact("no such key"));
}

TEST(Names, KnowsEveryIdOfTheCapture) {
  Capture capture([](TraceWriter& w) { kernel(w, "k", {1}, span(1100, 1200)); });
  Names names(capture.trace());
  EXPECT_EQ(names.of(capture.trace().query_integer("SELECT name_id FROM kernel")), "k");
  EXPECT_EQ(code_of([&] { names.of(999); }), "CONTRACT");
}

}  // namespace
}  // namespace prof::test
