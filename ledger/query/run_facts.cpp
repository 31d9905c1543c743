#include "ledger/query/run_facts.hpp"

#include "ledger/query/lookup.hpp"

namespace ledger {
namespace {

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

}  // namespace

RunFacts run_facts(Reader& reader, int64_t row) {
  RunFacts f;
  reader.for_each(
      "SELECT r.row, r.run_id, r.created_utc, r.product, p.product_id, r.environment, "
      "e.environment_id, coalesce(e.device_name, e.cpu_model), r.workload, w.workload_id, "
      "w.config, r.plan, l.plan_id, r.backend, r.execution_mode, r.semantic_sha256, "
      "r.proof_sha256, r.n_requests, r.n_steady "
      "FROM run AS r JOIN product AS p ON p.row = r.product "
      "JOIN environment AS e ON e.row = r.environment JOIN workload AS w ON w.row = r.workload "
      "LEFT JOIN plan AS l ON l.row = r.plan WHERE r.row = :row",
      {{"row", row}}, [&](const Statement& s) {
        int c = 0;
        f.row = s.integer(c++);
        f.run_id = s.string(c++);
        f.created_utc = s.string(c++);
        f.product = s.integer(c++);
        f.product_id = s.string(c++);
        f.environment = s.integer(c++);
        f.environment_id = s.string(c++);
        f.machine = s.value(c++);
        f.workload = s.integer(c++);
        f.workload_id = s.string(c++);
        f.config = s.string(c++);
        f.plan = s.optional_integer(c++);
        f.plan_id = s.value(c++);
        f.backend = s.string(c++);
        f.execution_mode = s.value(c++);
        f.semantic_sha256 = s.value(c++);
        f.proof_sha256 = s.string(c++);
        f.n_requests = s.integer(c++);
        f.n_steady = s.integer(c++);
      });
  STWO_CHECK(f.row == row, "a run's row refers to rows that are missing");
  return f;
}

std::vector<RunGroup> run_groups(Reader& reader, const RunFilter& filter) {
  std::optional<int64_t> environment;
  if (!filter.environment.empty()) {
    environment = require_id(reader, IdKind::kEnvironment, filter.environment).row;
  }
  std::vector<RunGroup> groups;
  for (const int64_t workload : require_workloads(reader, filter.workload, filter.config)) {
    std::string where = "r.workload = :workload";
    Parameters parameters = {{"workload", workload}};
    if (environment) {
      where += " AND r.environment = :environment";
      parameters.emplace_back("environment", *environment);
    }
    if (!filter.backend.empty()) {
      where += " AND r.backend = :backend";
      parameters.emplace_back("backend", filter.backend);
    }
    reader.for_each(
        "SELECT w.workload_id, w.config, g.environment, e.environment_id, "
        "coalesce(e.device_name, e.cpu_model), g.backend, g.execution_mode "
        "FROM (SELECT DISTINCT r.workload, r.environment, r.backend, r.execution_mode "
        "FROM run AS r WHERE " +
            where +
            ") AS g JOIN workload AS w ON w.row = g.workload "
            "JOIN environment AS e ON e.row = g.environment "
            "ORDER BY e.environment_id, g.backend, g.execution_mode",
        parameters, [&](const Statement& s) {
          groups.push_back({workload, s.string(0), s.string(1), s.integer(2), s.string(3),
                            s.value(4), s.string(5), s.value(6)});
        });
  }
  return groups;
}

std::string group_condition() {
  return "r.workload = :workload AND r.environment = :environment AND r.backend = :backend AND "
         "r.execution_mode IS :mode";
}

Parameters group_parameters(const RunGroup& group) {
  return {{"workload", group.workload},
          {"environment", group.environment},
          {"backend", group.backend},
          {"mode", group.execution_mode}};
}

Value ratio_of(const Value& a, const Value& b) {
  const auto from = number_of(a);
  const auto to = number_of(b);
  if (!from || !to || *from == 0) return std::monostate{};
  return *to / *from;
}

Value delta_of(const Value& a, const Value& b) {
  const auto* whole_a = std::get_if<int64_t>(&a);
  const auto* whole_b = std::get_if<int64_t>(&b);
  if (whole_a != nullptr && whole_b != nullptr) {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(*whole_b, *whole_a, &difference)) return difference;
  }
  const auto from = number_of(a);
  const auto to = number_of(b);
  if (!from || !to) return std::monostate{};
  return *to - *from;
}

std::string text_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

}  // namespace ledger
