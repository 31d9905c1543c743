// The questions a ledger answers without SQL, one function each.
//
// A WHERE clause is made of the filters that were given and of nothing else, so that an index is
// there for each of them. Times of different environments never meet: neither in a mean nor in a
// quotient. Every function reads one consistent state, whatever writers do.
//
// Ids are unique prefixes of at least six characters, runs also answer to `last`; see lookup.hpp
// for the errors. All functions throw DatabaseError.
#pragma once

#include <string>
#include <string_view>

#include "ledger/query/result_table.hpp"

namespace ledger {

/// Filters; what is empty does not filter.
struct RunFilter {
  std::string workload;     ///< name
  std::string config;       ///< protocol configuration
  std::string backend;      ///< cpu or cuda
  std::string product;      ///< id
  std::string environment;  ///< id
  size_t limit = 20;        ///< runs(): rows; the others: runs per environment
};

/// Runs, newest first.
ResultTable ask_runs(Reader& reader, const RunFilter& filter);

/// Where the time of a run went: per clock the stages, longest first, then their total. Steady
/// requests' median; without steady requests the first request. Share of the clock's total.
ResultTable ask_stages(Reader& reader, const std::string& run);

/// The same over the newest `limit` runs of a workload, per environment, configuration, backend and
/// mode; stages ranked by their mean share. The clock is the device's where there is one.
ResultTable ask_stages_of_workload(Reader& reader, const RunFilter& filter);

/// Two runs side by side: what they are, then lifecycle, requests, stages, launches, memory. Ratios
/// are b / a. Times of different environments get neither difference nor ratio, and a note.
ResultTable ask_compare(Reader& reader, const std::string& a, const std::string& b);

/// Runs of a workload per environment, configuration, backend and mode, oldest first; ratio to the
/// run before.
ResultTable ask_history(Reader& reader, const RunFilter& filter);

/// What each pass of a plan moves and launches, predicted and measured, with a total per stage.
/// `id` is a run's or a plan's. Measured numbers are per request and come from captures of that
/// run, or of its workload and environment as long as their plan is not another one; NULL where no
/// capture tells.
ResultTable ask_passes(Reader& reader, const std::string& id);

/// The same for two runs or plans, pass by pass: before, after, difference, ratio.
ResultTable ask_passes_against(Reader& reader, const std::string& before, const std::string& after);

/// Experiments, or only those without a decision.
ResultTable ask_hypotheses(Reader& reader, bool open_only);

/// What is missing before a speed may be quoted, class by class.
ResultTable ask_gaps(Reader& reader);

struct VerdictFilter {
  bool all = false;         ///< also those that a later one corrects
  std::string outcome;      ///< keep, rejected, inconclusive, invalid or screen
  std::string product;      ///< id, in either arm
  std::string environment;  ///< id
  size_t limit = 20;
};
/// Verdicts, newest first.
ResultTable ask_verdicts(Reader& reader, const VerdictFilter& filter);

/// What an id names, and the main facts about it. Ids of runs, plans, products, environments,
/// captures, verdicts, calibrations, artifacts, experiments, briefs. Throws UsageError ID_FORMAT,
/// ID_NOT_FOUND, ID_AMBIGUOUS.
ResultTable show_id(Reader& reader, const std::string& id);

}  // namespace ledger
