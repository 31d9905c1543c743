// The page: the answer first, then one block per question.
#include <algorithm>

#include "prof/timeline/text_answers.hpp"
#include "tests/ledger/trace/trace_files.hpp"
#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(ToText, TheAnswerComesFirst) {
  Capture capture(write_example);
  const std::string text = to_text(capture.analyze());
  std::string answer = text.substr(0, text.find("\n\n"));
  for (size_t begin = 0; begin < answer.size();) {
    const size_t end = std::min(answer.find('\n', begin), answer.size());
    EXPECT_LE(end - begin, 96U);
    begin = end + 1;
  }
  std::replace(answer.begin(), answer.end(), '\n', ' ');
  EXPECT_EQ(
      answer,
      "The window is request 2 of the product report, the median of 3 steady requests; it is "
      "10.000 us long. A device works in 65.0% of it. Most device time goes to stage "
      "fri_commit: 3.500 us, 53.8% of busy time. The longest kernel is hash: 4.000 us in 2 "
      "launches. Between operations devices are idle for 1.700 us (host late 1.000 us, launch "
      "latency 700 ns), before the first and after the last for 1.800 us.");
  EXPECT_NE(text.find("\nEvidence: complete\n"), std::string::npos);
  size_t last = 0;
  for (const char* title :
       {"\nStages\n", "\nKernels\n", "\n1. Contexts and modules\n",
        "\n2. Kernels and launch gaps\n", "\n3. Streams, concurrency, waits\n",
        "\n4. Synchronisation\n", "\n5. Transfers\n", "\n6. Allocation\n", "\n7. Graphs\n",
        "\n8. Submitting thread\n", "\n9. Active fraction\n", "\nPerturbation\n"}) {
    const size_t at_title = text.find(title);
    ASSERT_NE(at_title, std::string::npos) << title;
    EXPECT_GT(at_title, last) << title;
    last = at_title;
  }
  EXPECT_EQ(text.find("Against the product report"), std::string::npos);
}

TEST(ToText, NumbersOfTheBlocks) {
  Capture capture(write_example);
  const std::string text = to_text(capture.analyze());
  for (const char* line : {
           "  kernel time with a stage: 100.00%\n",
           "  kernels: 4; idle between operations: 1.700 us, 17.00% of the window\n",
           "    host late 1.000 us, launch latency 700 ns, between graph nodes 0 ns\n",
           "concurrency 1.20, at least two kernels for 1.000 us, at most 2 at once",
           "  waits of the host: 1; one wait, after all work: yes\n",
           "  one copy to the host, after the last kernel: yes\n",
           "  nothing allocated or released: yes (0 allocations of 0 B, 0 releases)\n",
           "4 launches in 7 calls; starved (no call, device idle) 1.310 us, 13.1% of the window",
           "  active 65.0% of the window (6.500 us), kernels alone 50.0%\n",
           "  overhead in the window: 150 ns, of it the recorder's 150 ns\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(ToText, SaysWhatIsUnknownAndWhy) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "MEMCPY MEMORY2");
  });
  const std::string text = to_text(capture.analyze());
  EXPECT_NE(text.find("Evidence: degraded\n  not recorded: MEMCPY\n"), std::string::npos);
  EXPECT_NE(text.find("\n5. Transfers\n  unknown: the capture has no records of kind MEMCPY\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n6. Allocation\n  unknown: the capture has no records of kind MEMORY2\n"),
            std::string::npos);
  EXPECT_NE(text.find("works in at least "), std::string::npos);
}

TEST(ToText, ComparisonShowsWhatDiffers) {
  Capture capture(write_example);
  Timeline t = capture.analyze();
  ReportRequest report;
  report.counts = {{"kernel_launches", 5}, {"h2d_bytes", 1000}};
  t.comparison = compare_with_report(t.counts, report);
  const std::string text = to_text(t);
  EXPECT_NE(text.find("Against the product report: 1 of 2 counts are equal, 17 unknown\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("DIFFERENT"), std::string::npos);
}

TEST(ToText, IntermediateCopiesAndPerturbation) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    copy(w, 2, 8, {200}, span(12400, 12410));
  });
  TimelineOptions options;
  options.uninstrumented_ns = 8000;
  const std::string text = to_text(capture.analyze(options));
  EXPECT_NE(text.find("no (INTERMEDIATE_D2H: 1 before it)"), std::string::npos);
  EXPECT_NE(text.find("inflation 1.250; perturbed: do not quote durations"), std::string::npos);
}

TEST(ToText, Durations) {
  EXPECT_EQ(detail::duration_text(0), "0 ns");
  EXPECT_EQ(detail::duration_text(999), "999 ns");
  EXPECT_EQ(detail::duration_text(1000), "1.000 us");
  EXPECT_EQ(detail::duration_text(1'234'567), "1.235 ms");
}

TEST(ToText, LongNamesAreCutBetweenCharacters) {
  EXPECT_EQ(detail::short_name("abc\ndef", 20), "abc def");
  EXPECT_EQ(detail::short_name("abcdefghij", 8), "abcde...");
  EXPECT_EQ(detail::short_name("abcd\xc3\xa4xyzuvw", 8), "abcd...");
}

}  // namespace
}  // namespace prof::test
