// Calls of the program itself.
#include "prof/timeline/outer_call.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

std::vector<std::string> outer(Capture& capture, int64_t from, int64_t to) {
  Window w;
  w.begin_ns = at(from);
  w.end_ns = at(to);
  Names names(capture.trace());
  std::vector<std::string> out;
  for_each_outer_call(capture.trace(), w, names, [&](const OuterCall& c) {
    out.push_back(std::to_string(c.pid) + "/" + std::to_string(c.tid) + " " + names.of(c.name));
  });
  return out;
}

TEST(OuterCall, ThreadByThreadWithoutInnerCalls) {
  Capture capture([](TraceWriter& w) {
    call(w, "b", 2, 1100, 1200, 71);
    call(w, "a", 1, 1000, 1500, 70);
    call(w, "inside a", 1, 1000, 1400, 70);
    call(w, "also inside a", 1, 1450, 1500, 70);
    call(w, "after a", 3, 1500, 1510, 70);
    call(w, "outside of the window", 4, 3000, 3010, 70);
    call(w, "reaches into it", 5, 500, 1050, 72);
    call(w, "over before it", 6, 500, 900, 72);
    ledger::ApiRow row;
    row.pid = 8;  // another process whose thread has the same number
    row.tid = 70;
    row.name = w.intern("other process");
    row.time = span(1100, 1150);
    w.api(row);
    row.domain = ledger::ApiDomain::kInternalLaunch;
    row.name = w.intern("internal");
    row.time = span(1600, 1650);
    w.api(row);
    row.domain = ledger::ApiDomain::kDriver;
    row.name = w.intern("untimed");
    row.time = {};
    w.api(row);
  });
  EXPECT_EQ(outer(capture, 1000, 2000),
            (std::vector<std::string>{"7/70 a", "8/70 other process", "7/70 after a", "7/71 b",
                                      "7/72 reaches into it"}));
}

}  // namespace
}  // namespace prof::test
