// What a run is, read once for the questions that need it. Internal to the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/query/questions.hpp"

namespace ledger {

struct RunFacts {
  int64_t row = 0;
  std::string run_id;
  std::string created_utc;
  int64_t product = 0;
  std::string product_id;
  int64_t environment = 0;
  std::string environment_id;
  Value machine;
  int64_t workload = 0;
  std::string workload_id;
  std::string config;
  std::optional<int64_t> plan;
  Value plan_id;
  std::string backend;
  Value execution_mode;
  Value semantic_sha256;
  std::string proof_sha256;
  int64_t n_requests = 0;
  int64_t n_steady = 0;
};

RunFacts run_facts(Reader& reader, int64_t row);

/// Runs that may be compared with each other: one workload in one environment, proven the same way.
struct RunGroup {
  int64_t workload = 0;
  std::string workload_id;
  std::string config;
  int64_t environment = 0;
  std::string environment_id;
  Value machine;
  std::string backend;
  Value execution_mode;
};

/// Groups of the runs of `filter.workload`, in its configuration, environment and backend if they
/// are given; per workload in order of environments.
std::vector<RunGroup> run_groups(Reader& reader, const RunFilter& filter);

/// Condition and parameters for the runs of a group, table run being `r`.
std::string group_condition();
Parameters group_parameters(const RunGroup& group);

/// b / a; NULL if there is none.
Value ratio_of(const Value& a, const Value& b);
/// b - a; NULL if one is missing or no number.
Value delta_of(const Value& a, const Value& b);

std::string text_of(const Value& value);

}  // namespace ledger
