// The nine questions about a timeline, answered from a capture. Nothing but the capture and the
// options goes in: the same capture gives the same answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/db/database.hpp"
#include "prof/timeline/activity.hpp"
#include "prof/timeline/allocation.hpp"
#include "prof/timeline/concurrency.hpp"
#include "prof/timeline/counts.hpp"
#include "prof/timeline/graphs.hpp"
#include "prof/timeline/kernel_table.hpp"
#include "prof/timeline/launch_gaps.hpp"
#include "prof/timeline/loading.hpp"
#include "prof/timeline/perturbation.hpp"
#include "prof/timeline/stage_table.hpp"
#include "prof/timeline/submit_thread.hpp"
#include "prof/timeline/synchronisation.hpp"
#include "prof/timeline/transfers.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

inline constexpr std::string_view kSystemsSchema = "stwo_prof_systems_v1";

/// How far the answers can be trusted. The worst that applies.
enum class TimelineEvidence : uint8_t {
  kComplete,
  kDegraded,   ///< records are lost, untimed or missing; some answers are unknown or lower bounds
  kPerturbed,  ///< the recorder slowed the program down: do not quote durations
  kTruncated,  ///< the recorder did not reach its end; everything is a lower bound
};
/// "complete", "degraded", "perturbed", "truncated".
std::string_view evidence_name(TimelineEvidence evidence);

struct TimelineOptions {
  std::optional<int64_t> request;            ///< ordinal; unset: see choose_window
  std::optional<int64_t> uninstrumented_ns;  ///< see perturbation()
  /// Text of the product report of the captured run, to compare counts with.
  std::optional<std::string> report;
};

struct DeviceName {
  int64_t id = 0;
  std::string uuid;
  std::string name;
};

struct Timeline {
  std::string tool;  ///< the recorder
  std::string tool_version;
  std::string created_utc;
  std::optional<std::string> report_sha256;
  std::optional<std::string> workload_id;
  std::vector<DeviceName> devices;

  Window window;
  TimelineEvidence evidence = TimelineEvidence::kComplete;
  std::vector<std::string> reasons;  ///< why it is not complete, one line each
  std::vector<std::string> missing;  ///< what could not be answered: "key: reason"

  Answer<Loading> loading;                  ///< 1
  Answer<LaunchGaps> launch_gaps;           ///< 2
  Answer<Concurrency> concurrency;          ///< 3
  Answer<Synchronisation> synchronisation;  ///< 4
  Answer<Transfers> transfers;              ///< 5
  Answer<Allocation> allocation;            ///< 6
  Answer<Graphs> graphs;                    ///< 7
  Answer<SubmitThread> submit_thread;       ///< 8
  Answer<Activity> activity;                ///< 9

  Answer<StageTable> stages;
  Answer<std::vector<KernelFacts>> kernels;  ///< longest total first
  Perturbation perturbation;
  std::vector<Count> counts;
  std::optional<std::vector<CountRow>> comparison;  ///< set exactly when a report was given
};

/// Answers all questions about a window of a capture that ledger::open_trace opened. Memory grows
/// with the operations of the window (about 40 bytes each) and with what is allocated at the same
/// time; everything else is read in order.
///
/// Throws what choose_window, read_report_request and perturbation throw.
Timeline analyze_timeline(ledger::Database& trace, const TimelineOptions& options = {});

/// The timeline's part of a diagnosis: every kernel of the window, longest total first. Throws like
/// choose_window, and FormatError TIMELINE_KERNELS if the capture has no kernel records.
std::vector<KernelFacts> kernel_facts(ledger::Database& trace,
                                      std::optional<int64_t> request = std::nullopt);

/// One JSON object, schema stwo_prof_systems_v1 (prof/timeline/README.md lists its keys): indented,
/// keys in a fixed order, one newline at the end. What is unknown is null, and its path stands in
/// `not_applicable` with the reason.
std::string to_json(const Timeline& timeline);
/// A page for a terminal: first the answer in one paragraph, then a block per question.
std::string to_text(const Timeline& timeline);

}  // namespace prof
