// stwo_plan_v1: the plan of a statement on a device, as `stwo inspect plan --json` prints it.

#include <map>
#include <set>
#include <tuple>

#include "ledger/documents/kinds.hpp"

namespace ledger::documents {
namespace {

constexpr std::string_view kCompositions[] = {"half_domain", "full_domain"};
constexpr std::string_view kRegions[] = {"tables", "shape", "constants", "arena", "terminal"};
constexpr std::string_view kLifetimes[] = {"persistent", "shape", "request", "terminal_host"};

DocumentSchema make_schema() {
  const Rule rules[] = {
      text("/schema"),
      sha256("/cache_key_sha256"),
      sha256("/program_sha256"),
      sha256("/semantic_sha256"),
      uint("/schedule_version"),
      object("/target"),
      uint("/target/sm"),
      text("/target/device_uuid"),  // empty: planned without a device
      uint("/target/multiprocessors"),
      uint("/target/memory_bytes"),
      uint("/target/driver_version"),
      text("/target/toolkit"),
      text("/target/host_toolchain"),
      sha256("/target/module_sha256"),
      choice("/composition", kCompositions),
      uint("/transcript_barriers"),
      object("/memory"),
      uint("/memory/tables"),
      uint("/memory/shape"),
      uint("/memory/constants"),
      uint("/memory/arena"),
      uint("/memory/arena_live_peak"),
      uint("/memory/terminal"),
      array("/launches"),
      object("/launches/*"),
      uint("/launches/*/ordinal"),
      choice("/launches/*/stage", stage_names()),
      name("/launches/*/kernel"),
      name("/launches/*/pass"),
      array("/launches/*/grid", 2, 2),
      uint("/launches/*/grid/*", 1),
      uint("/launches/*/threads", 1),
      uint("/launches/*/shared_bytes"),
      name("/launches/*/stream"),
      uint("/launches/*/transcript_operations"),
      array("/launches/*/program_nodes"),
      uint("/launches/*/program_nodes/*"),
      array("/launches/*/uses"),
      object("/launches/*/uses/*"),
      name("/launches/*/uses/*/buffer"),
      uint("/launches/*/uses/*/read_bytes"),
      uint("/launches/*/uses/*/written_bytes"),
      array("/pass_ledger"),
      object("/pass_ledger/*"),
      choice("/pass_ledger/*/stage", stage_names()),
      name("/pass_ledger/*/pass"),
      name("/pass_ledger/*/kernel"),
      uint("/pass_ledger/*/input_bytes"),
      uint("/pass_ledger/*/output_bytes"),
      uint("/pass_ledger/*/reread_bytes"),
      uint("/pass_ledger/*/temporary_bytes"),
      uint("/pass_ledger/*/launches"),
      uint("/pass_ledger/*/barriers"),
      nullable(name("/pass_ledger/*/retained_consumer")),
      array("/resources"),
      object("/resources/*"),
      name("/resources/*/name"),
      choice("/resources/*/region", kRegions),
      uint("/resources/*/offset"),
      uint("/resources/*/bytes"),
      uint("/resources/*/alignment"),
      choice("/resources/*/lifetime", kLifetimes),
      // Null in plans of early writers: what no launch writes, or reads, was not named.
      nullable(name("/resources/*/producer")),
      nullable(name("/resources/*/last_consumer")),
      boolean("/resources/*/mutable"),
      boolean("/resources/*/alias_eligible"),
      name("/resources/*/owner"),
      name("/resources/*/unwind_path"),
      name("/resources/*/stream"),
      uint("/resources/*/first_launch"),
      uint("/resources/*/last_use_event"),
      sha256("/resources/*/cache_key"),
      name("/resources/*/eviction_rule"),
  };
  return DocumentSchema(rules);
}

/// Stage, pass and kernel: a row of the pass ledger.
using Row = std::tuple<std::string, std::string, std::string>;
Row row_of(const Json& value) {
  return {value.at("stage").get<std::string>(), value.at("pass").get<std::string>(),
          value.at("kernel").get<std::string>()};
}
struct RowCount {
  uint64_t launched = 0;
  uint64_t predicted = 0;
  bool overflow = false;
  std::string path;  ///< where the row is met first
};

void check_memory(const Json& root, Problems& problems) {
  const Json& memory = root.at("memory");
  const auto peak = memory.at("arena_live_peak").get<uint64_t>();
  const auto arena = memory.at("arena").get<uint64_t>();
  if (peak > arena) {
    problems.add("PLAN_ARENA", "/memory/arena_live_peak",
                 "expected at most the arena's " + std::to_string(arena) + " bytes, found " +
                     std::to_string(peak));
  }
}

void check_launches(const Json& root, Problems& problems) {
  std::set<std::string> resources;
  for (const Json& r : root.at("resources")) resources.insert(r.at("name").get<std::string>());
  const Json& launches = root.at("launches");
  for (size_t i = 0; i < launches.size(); ++i) {
    const std::string path = at_index("/launches", i);
    if (const auto ordinal = launches[i].at("ordinal").get<uint64_t>(); ordinal != i) {
      problems.add("PLAN_ORDINALS", path + "/ordinal",
                   "expected " + std::to_string(i) + ", found " + std::to_string(ordinal));
    }
    const Json& uses = launches[i].at("uses");
    for (size_t u = 0; u < uses.size(); ++u) {
      const auto buffer = uses[u].at("buffer").get<std::string>();
      if (resources.count(buffer) == 0) {
        problems.add("PLAN_USES", at_index(path + "/uses", u) + "/buffer",
                     "expected the name of a resource, found " + shown(buffer));
      }
    }
  }
}

void check_pass_ledger(const Json& root, Problems& problems) {
  std::map<Row, RowCount> rows;
  const auto count = [&](const Json& value, const std::string& path) -> RowCount& {
    RowCount& row = rows[row_of(value)];
    if (row.path.empty()) row.path = path;
    return row;
  };
  const Json& ledger = root.at("pass_ledger");
  for (size_t i = 0; i < ledger.size(); ++i) {
    RowCount& row = count(ledger[i], at_index("/pass_ledger", i) + "/launches");
    row.overflow |= __builtin_add_overflow(row.predicted, ledger[i].at("launches").get<uint64_t>(),
                                           &row.predicted);
  }
  const Json& launches = root.at("launches");
  for (size_t i = 0; i < launches.size(); ++i) {
    ++count(launches[i], at_index("/launches", i)).launched;
  }
  for (const auto& [key, row] : rows) {
    if (row.predicted == row.launched && !row.overflow) continue;
    const auto& [stage, pass, kernel] = key;
    problems.add("PLAN_PASS_LEDGER", row.path,
                 "stage " + stage + ", pass " + shown_name(pass) + ", kernel " +
                     shown_name(kernel) +
                     ": expected as many launches in the pass ledger as in "
                     "the plan, " +
                     std::to_string(row.launched) + ", found " +
                     (row.overflow ? "more than 2^64" : std::to_string(row.predicted)));
  }
}

void cross_check(const Json& root, Problems& problems) {
  check_memory(root, problems);
  check_launches(root, problems);
  check_pass_ledger(root, problems);
}

}  // namespace

KindRules plan_rules() {
  static const DocumentSchema schema = make_schema();
  return {schema, cross_check};
}

}  // namespace ledger::documents
