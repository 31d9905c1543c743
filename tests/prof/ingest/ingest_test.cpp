// Record logs of every kind of run, and the captures that they become.
#include "prof/ingest/ingest.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/prof/ingest/log_builder.hpp"

namespace prof {
namespace {

using ledger::TraceEvidence;
using test::at;
using test::ingest;
using test::make_dead_log;
using test::make_log;
using test::options_for;
using test::Rows;
using test::sample_call;
using test::sample_kernel;
using test::sample_op;
using test::TemporaryFolder;

MarkerRow marker(int64_t id, MarkerRow::Phase phase, int64_t ts, ledger::StrId domain,
                 ledger::StrId name) {
  MarkerRow row;
  row.pid = 7;
  row.id = id;
  row.phase = phase;
  row.ts_ns = at(ts);
  row.tid = 8;
  if (domain != 0) row.domain = domain;
  if (name != 0) row.name = name;
  return row;
}

/// Two launches in a stage, a copy, a fill, a module and a fact.
void write_run(LogWriter& w) {
  const auto launch = w.intern("cuLaunchKernel");
  const auto kernel = w.intern("_ZN2ns3addIiEEvPi");
  const auto domain = w.intern("stwo.prover");
  const auto stage = w.intern("trace_commit");
  w.write(LogFact{"driver_version", "13.0"});
  w.write(ledger::ContextRow{7, 1, 0, 7, std::nullopt, false});
  w.write(ledger::ResEventRow{7, ledger::ResKind::kContextCreated, at(1), 1, {}, {}, {}});
  w.write(marker(1, MarkerRow::Phase::kStart, 5, domain, stage));
  w.write(MarkerDataRow{1, 2, 77});
  w.write(sample_call(launch, 10, 20, 1));
  w.write(sample_call(launch, 30, 40, 2));
  w.write(marker(1, MarkerRow::Phase::kEnd, 50, 0, 0));
  w.write(sample_kernel(kernel, 100, 200, 1));
  w.write(sample_kernel(kernel, 200, 400, 2));
  CopyOp copy;
  copy.op = sample_op(500, 600, 3);
  copy.copy = {2, 3, 2, true, 4096, {}, {}, {}, {}, {}};
  w.write(copy);
  w.write(FillOp{sample_op(700, 710, 4), {0, 64, 3}});
  w.write(ledger::ClockPairRow{at(1'000'000'000), 1'000'001'000});
}

TEST(Ingest, ARunBecomesACompleteCapture) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, write_run)});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kComplete);
  EXPECT_TRUE(out.result.reasons.empty());
  EXPECT_EQ(out.result.pids, std::vector<int64_t>{7});
  EXPECT_EQ(out.summary.count("kernel").rows, 2);
  EXPECT_EQ(out.summary.count("api").rows, 2);
  EXPECT_EQ(out.summary.count("nvtx").rows, 1);
  ASSERT_EQ(out.summary.kernels.size(), 1U);
  EXPECT_EQ(out.summary.kernels[0].kernel, "void ns::add<int>(int*)");
  EXPECT_EQ(out.summary.kernels[0].stage, "trace_commit");
  EXPECT_EQ(out.summary.kernels[0].total_ns, 300);
  EXPECT_EQ(out.rows("SELECT s.value, m.value FROM kernel k JOIN str s ON s.id = short_id JOIN str "
                     "m ON m.id = mangled_id LIMIT 1"),
            Rows{"add|_ZN2ns3addIiEEvPi"});
  EXPECT_EQ(out.rows("SELECT category, payload FROM nvtx"), Rows{"2|77"});
  // The header's pair and the log's.
  EXPECT_EQ(out.rows("SELECT COUNT(*) FROM clock_pair"), Rows{"2"});
  const auto& meta = out.summary.meta;
  EXPECT_EQ(meta.at("tool"), "stwo-prof");
  EXPECT_EQ(meta.at("session_start_ns"), std::to_string(at(0)));
  EXPECT_EQ(meta.at("created_utc"), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(meta.at("driver_version"), "13.0");
  EXPECT_EQ(meta.at("process_name.7"), "prover");
  EXPECT_EQ(meta.at("command.7"), "prover --size 'a b'");
  EXPECT_EQ(meta.at("graphs"), "node");
}

TEST(Ingest, TheSameLogsGiveTheSameBytes) {
  const TemporaryFolder folder;
  const std::string log = make_log(folder, write_run);
  ingest(options_for(folder, {log}), folder.file("a.sptrace"));
  ingest(options_for(folder, {log}), folder.file("b.sptrace"));
  EXPECT_EQ(test::read_file(folder.file("a.sptrace")), test::read_file(folder.file("b.sptrace")));
}

TEST(Ingest, TheOrderOfRecordsIsIrrelevant) {
  const TemporaryFolder folder;
  const std::string log = make_log(folder, [](LogWriter& w) {
    write_run(w);
    // Names, duplicates, a bad duration and an end without start are in it as well.
    const auto other = w.intern("other");
    w.write(sample_kernel(other, 2000, 9000, 5));
    w.write(sample_kernel(other, 3000, 4000, 6));
    w.write(sample_kernel(other, 3000, 4000, 6));
    w.write(marker(9, MarkerRow::Phase::kEnd, 60, 0, 0));
  });
  auto parts = test::parts_of(log);
  const auto expected = ingest(options_for(folder, {log}), folder.file("a.sptrace"));
  const auto content = test::content_of(*expected.trace);
  EXPECT_EQ(expected.result.duplicates, 1U);
  EXPECT_EQ(expected.result.corrupt_durations, 1U);
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::shuffle(parts.frames.begin(), parts.frames.end(), std::mt19937(seed));
    test::write_file(log, parts.joined());
    const auto out =
        ingest(options_for(folder, {log}), folder.file("s" + std::to_string(seed) + ".sptrace"));
    EXPECT_EQ(test::content_of(*out.trace), content) << seed;
  }
}

TEST(Ingest, TruncationAtEveryByteGivesATruncatedCapture) {
  const TemporaryFolder folder;
  const std::string whole = test::read_file(make_log(folder, write_run));
  const std::string log = folder.file("cut.stwolog");
  int64_t last = 0;
  size_t captures = 0;
  for (size_t n = 0; n < whole.size(); ++n) {
    test::write_file(log, whole.substr(0, n));
    const std::string output = folder.file("x.sptrace");
    Ingest in(options_for(folder, {log}));
    if (in.scan().logs.empty()) {
      EXPECT_EQ(test::code_of([&] { in.write(output); }), "INGEST_EMPTY") << n;
      continue;
    }
    // Some as a whole capture: writing one takes longer than everything else.
    const auto records = static_cast<int64_t>(in.scan().records);
    EXPECT_GE(records, last);
    last = records;
    if (n % 37 != 0) continue;
    const IngestResult result = in.write(output);
    EXPECT_EQ(result.evidence, TraceEvidence::kTruncated) << n;
    ++captures;
    std::filesystem::remove(output);
  }
  EXPECT_GT(captures, 10U);
  // All but the reading of the clocks, which is no record.
  EXPECT_EQ(last, 11);
}

TEST(Ingest, AProcessThatDiedLeavesLowerBounds) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_dead_log(folder, write_run)});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kTruncated);
  EXPECT_EQ(out.summary.count("kernel").rows, 2);
  EXPECT_EQ(out.result.reasons,
            std::vector<std::string>{
                "7.stwolog: truncated: no trailer: the recorder did not reach its end"});
}

TEST(Ingest, DroppedRecordsAndLossesAreCounted) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(
                                      folder,
                                      [](LogWriter& w) {
                                        write_run(w);
                                        w.write(ledger::LossRow{"names_cut", 1});
                                        w.write(ledger::LossRow{"names_cut", 2});
                                      },
                                      7, 5)});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(out.result.losses,
            (std::vector<ledger::LossRow>{{"cupti_dropped", 5}, {"names_cut", 3}}));
}

TEST(Ingest, UntimedRecordsAreStoredAndCounted) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, [](LogWriter& w) {
                            const auto name = w.intern("k");
                            KernelOp kernel = sample_kernel(name, 1, 2, 1);
                            kernel.op.time = {};
                            // Two nodes of a graph that look alike: both are there.
                            w.write(kernel);
                            w.write(kernel);
                            w.write(sample_kernel(name, 10, 20, 2));
                          })});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kComplete);
  EXPECT_EQ(out.result.untimed, (std::map<std::string, int64_t>{{"kernel", 2}}));
  EXPECT_EQ(out.summary.count("kernel").rows, 3);
  EXPECT_EQ(out.summary.count("kernel").untimed, 2);
}

TEST(Ingest, DuplicatesAreStoredOnce) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, [](LogWriter& w) {
                            const auto name = w.intern("k");
                            for (int i = 0; i < 3; ++i) {
                              w.write(sample_call(name, 1, 2, 1));
                              w.write(sample_kernel(name, 10, 5000, 1));
                            }
                            w.write(sample_kernel(name, 5000, 6000, 2));
                          })});
  EXPECT_EQ(out.result.duplicates, 4U);
  EXPECT_EQ(out.result.corrupt_durations, 0U);
  EXPECT_EQ(out.summary.count("kernel").rows, 2);
  EXPECT_EQ(out.summary.count("api").rows, 1);
  EXPECT_EQ(out.result.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(out.rows("SELECT DISTINCT reason FROM quarantine ORDER BY 1"),
            (Rows{"DUPLICATE: api record that is there already",
                  "DUPLICATE: kernel record that is there already"}));
}

TEST(Ingest, AWrongDurationLosesItsTimesOnly) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, [](LogWriter& w) {
                            const auto name = w.intern("k");
                            w.write(sample_kernel(name, 1000, 9000, 1));
                            w.write(sample_kernel(name, 2000, 3000, 2));
                          })});
  EXPECT_EQ(out.result.corrupt_durations, 1U);
  EXPECT_EQ(out.rows("SELECT corr, start_ns IS NULL FROM gpu_op ORDER BY corr"),
            (Rows{"1|1", "2|0"}));
  EXPECT_EQ(out.rows("SELECT substr(reason, 1, 16), length(bytes) > 40 FROM quarantine"),
            Rows{"DURATION_CORRUPT|1"});
}

TEST(Ingest, KernelsOfAGraphLaunchShareTheirCall) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, [](LogWriter& w) {
                            const auto name = w.intern("k");
                            w.write(sample_call(w.intern("cuGraphLaunch"), 1, 2, 5));
                            for (uint64_t node = 1; node <= 3; ++node) {
                              KernelOp kernel = sample_kernel(name, 100, 90'000, 5);
                              kernel.op.graph_id = 2;
                              kernel.op.graph_node_id = node;
                              w.write(kernel);
                            }
                          })});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kComplete);
  EXPECT_EQ(out.rows("SELECT graph_node_id FROM gpu_op WHERE corr = 5 ORDER BY 1"),
            (Rows{"1", "2", "3"}));
}

TEST(Ingest, TwoProcessesKeepTheirOwnNumbers) {
  const TemporaryFolder folder;
  const auto child = [](LogWriter& w) {
    // The same correlation id and stream at the same time, and names numbered otherwise.
    w.intern("first");
    KernelOp kernel = sample_kernel(w.intern("_Z5childv"), 100, 200, 1);
    kernel.op.pid = 9;
    w.write(kernel);
  };
  const auto out = ingest(folder, {make_log(folder, child, 9), make_log(folder, write_run, 7)});
  EXPECT_EQ(out.result.pids, (std::vector<int64_t>{7, 9}));
  EXPECT_EQ(out.result.evidence, TraceEvidence::kComplete);
  EXPECT_EQ(out.rows("SELECT o.pid, s.value FROM kernel k JOIN gpu_op o ON o.id = op_id JOIN str s "
                     "ON s.id = name_id WHERE corr = 1 ORDER BY o.pid"),
            (Rows{"7|void ns::add<int>(int*)", "9|child()"}));
  EXPECT_EQ(out.rows("SELECT pid, name FROM PROCESSES ORDER BY pid"),
            (Rows{"7|prover", "9|prover"}));
}

TEST(Ingest, OneProcessThatDiedMakesTheRunTruncated) {
  const TemporaryFolder folder;
  const auto out =
      ingest(folder, {make_log(folder, write_run, 7), make_dead_log(
                                                          folder, [](LogWriter&) {}, 9)});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kTruncated);
}

TEST(Ingest, TwoProgramsOfOneProcessIdAreRefused) {
  const TemporaryFolder folder;
  const std::string first = make_log(folder, write_run);
  const std::string second = make_log(folder, write_run);
  const auto failure = test::failure_of([&] { Ingest in(options_for(folder, {first, second})); });
  EXPECT_EQ(failure.code, "INGEST_PID_TWICE");
  EXPECT_NE(failure.message.find("process 7"), std::string::npos);
}

TEST(Ingest, DamageGoesIntoQuarantine) {
  const TemporaryFolder folder;
  const std::string log = make_log(folder, write_run);
  auto parts = test::parts_of(log);
  parts.frames[10][20] = static_cast<char>(parts.frames[10][20] ^ 4);
  test::write_file(log, parts.joined());
  const auto out = ingest(folder, {log});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(out.result.quarantined, 1U);
  EXPECT_EQ(out.result.losses, (std::vector<ledger::LossRow>{{"log_api", 1}}));
  const Rows reasons = out.rows("SELECT reason FROM quarantine");
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].rfind("RECORD_DAMAGED: frame with a wrong checksum, 7.stwolog at byte ", 0),
            0U)
      << reasons[0];
}

TEST(Ingest, RowsThatMakeNoSenseGoIntoQuarantine) {
  const TemporaryFolder folder;
  const auto out =
      ingest(folder, {make_log(folder, [](LogWriter& w) {
               const auto name = w.intern("k");
               w.write(sample_call(name, 20, 10, 1));      // ends before it starts
               w.write(sample_call(name + 5, 10, 20, 2));  // a name that is not there
               CopyOp copy;
               copy.op = sample_op(1, 2, 3);
               copy.copy.src_kind = 9;  // no memory kind
               w.write(copy);
               w.write(UnknownRow{46, {1, 2}});
               w.write(ledger::ResEventRow{7, ledger::ResKind::kModuleLoaded, 0, {}, {}, {}, {}});
               w.write(sample_call(name, 30, 40, 4));
             })});
  EXPECT_EQ(out.summary.count("api").rows, 1);
  EXPECT_EQ(out.result.quarantined, 5U);
  EXPECT_EQ(out.rows("SELECT substr(reason, 1, instr(reason, ':') - 1) FROM quarantine"),
            (Rows{"RECORD_ROW", "RECORD_NAME", "RECORD_ROW", "RECORD_KIND", "RECORD_ROW"}));
  // One line each, without the name of the file.
  EXPECT_EQ(out.rows("SELECT COUNT(*) FROM quarantine WHERE instr(reason, 'sptrace') > 0"),
            Rows{"0"});
}

TEST(Ingest, ProblemsOfTheSetUpAreMissingKinds) {
  const TemporaryFolder folder;
  const auto out =
      ingest(folder, {make_log(folder, [](LogWriter& w) {
               write_run(w);
               w.write(LogProblem{LogProblem::Kind::kEnable, "memory2", 21, "INVALID_KIND", true});
               w.write(LogProblem{LogProblem::Kind::kEnable, "jit", 21, "INVALID_KIND", true});
               w.write(LogProblem{LogProblem::Kind::kEnable, "name", 21, "INVALID_KIND", false});
             })});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(out.summary.meta.at("missing_kinds"), "jit memory2");
  EXPECT_EQ(out.result.problems.size(), 3U);
}

TEST(Ingest, ASecondSubscriberLeavesNoActivity) {
  const TemporaryFolder folder;
  Ingest in(options_for(folder, {make_log(folder, [](LogWriter& w) {
                          w.write(LogProblem{LogProblem::Kind::kSubscribe, "subscriber",
                                             kCuptiMultipleSubscribers, "Nsight Systems", true});
                        })}));
  EXPECT_FALSE(in.has_activity());
  ASSERT_EQ(in.problems().size(), 1U);
  EXPECT_EQ(in.problems()[0].pid, 7);
  EXPECT_EQ(in.problems()[0].problem.text, "Nsight Systems");
}

TEST(Ingest, AStepOfTheClockIsNamed) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_log(folder, [](LogWriter& w) {
                            write_run(w);
                            w.write(ledger::ClockPairRow{at(2'000'060'000), 2'000'001'000});
                          })});
  ASSERT_EQ(out.result.clock_steps.size(), 1U);
  EXPECT_EQ(out.result.clock_steps[0].jump_ns, 60'000);
  EXPECT_EQ(out.result.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(out.rows("SELECT substr(reason, 1, 11) FROM quarantine"), Rows{"CLOCK_STEP:"});
}

TEST(Ingest, AFactDoesNotReplaceWhatDecides) {
  const TemporaryFolder folder;
  const auto out = ingest(folder, {make_dead_log(folder, [](LogWriter& w) {
                            write_run(w);
                            w.write(LogFact{"trailer", "1"});
                            w.write(LogFact{"tool", "other"});
                            w.write(LogFact{"thread_name.7.8", "submit"});
                          })});
  EXPECT_EQ(out.result.evidence, TraceEvidence::kTruncated);
  EXPECT_EQ(out.summary.meta.at("tool"), "stwo-prof");
  EXPECT_EQ(out.summary.meta.at("thread_name.7.8"), "submit");
}

TEST(Ingest, NoLogsAreAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(test::code_of([&] { Ingest in(options_for(folder, {})); }), "INGEST_NO_LOG");
  test::write_file(folder.file("x.stwolog"), "something else");
  EXPECT_EQ(test::code_of([&] { Ingest in(options_for(folder, {folder.file("x.stwolog")})); }),
            "LOG_FOREIGN");
}

TEST(Ingest, ProgressGoesUpToItsEnd) {
  const TemporaryFolder folder;
  auto options = options_for(folder, {make_log(folder, write_run)});
  uint64_t last = 0;
  uint64_t whole = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, total);
    last = done;
    whole = total;
  };
  ingest(options, folder.file("x.sptrace"));
  EXPECT_EQ(last, whole);
  EXPECT_EQ(whole, 2 * std::filesystem::file_size(options.logs[0]));
}

TEST(Ingest, MemoryDoesNotGrowWithTheLog) {
  const TemporaryFolder folder;
  const std::string log = make_log(folder, [](LogWriter& w) {
    const auto name = w.intern("k");
    for (int64_t i = 0; i < 300'000; ++i) {
      w.write(sample_kernel(name, 1 + 10 * i, 5 + 10 * i, i));
      w.write(marker(i, MarkerRow::Phase::kStart, 1 + i, 0, name));
      w.write(marker(i, MarkerRow::Phase::kEnd, 1 + i, 0, 0));
    }
  });
  // 300 000 records that a sorter holds are 14 MB, and 57 MB of parts of ranges. The scan may take
  // its buffers and a little per sorter. In a child: a limit of the address space lasts.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto used = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    auto options = options_for(folder, {log});
    options.memory_bytes = 64 << 10;
    const long before = used();
    const Ingest in(options);
    const bool all = in.scan().records == 900'000 && in.scan().markers->count() == 600'000;
    ::_exit(all && used() - before < (24 << 10) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace prof
