#include "prof/diagnose/thresholds.hpp"

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace prof {

extern const std::string_view kThresholdsJson;

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "stwo_prof_thresholds_v1";
constexpr size_t kMaxBytes = 64 << 10;

struct Field {
  const char* block;
  const char* key;
  double Thresholds::*member;
  double min;
  double max;
};

constexpr Field kFields[] = {
    {"minimum", "share", &Thresholds::min_share, 0, 1},
    {"minimum", "launches", &Thresholds::min_launches, 1, 1e6},
    {"launch_fragmentation", "kernel_ns", &Thresholds::fragment_kernel_ns, 1, 1e9},
    {"launch_fragmentation", "gap_share", &Thresholds::fragment_gap_share, 0.001, 1},
    {"launch_fragmentation", "host_share", &Thresholds::fragment_host_share, 0.001, 1},
    {"launch_fragmentation", "launches", &Thresholds::fragment_launches, 2, 1e9},
    {"launch_fragmentation", "duration_per_gap", &Thresholds::fragment_duration_per_gap, 0.001,
     1000},
    {"dependency_serialization", "concurrency", &Thresholds::dependency_concurrency, 1, 1000},
    {"dependency_serialization", "streams", &Thresholds::dependency_streams, 2, 1e6},
    {"dependency_serialization", "wait_share", &Thresholds::dependency_wait_share, 0.001, 1},
    {"dependency_serialization", "chain_waves", &Thresholds::chain_waves, 0.001, 1000},
    {"dependency_serialization", "chain_launches", &Thresholds::chain_launches, 2, 1e9},
    {"bandwidth", "dram_pct", &Thresholds::dram_pct, 1, 100},
    {"bandwidth", "l2_pct", &Thresholds::l2_pct, 1, 100},
    {"bandwidth", "over_sm", &Thresholds::over_sm, 1, 100},
    {"bandwidth", "sectors_per_request", &Thresholds::sectors_per_request, 1, 32},
    {"bandwidth", "l2_hit_pct", &Thresholds::l2_hit_pct, 0, 100},
    {"bandwidth", "reread", &Thresholds::reread, 1, 1000},
    {"compute", "sm_pct", &Thresholds::sm_pct, 1, 100},
    {"compute", "pipe_pct", &Thresholds::pipe_pct, 1, 100},
    {"compute", "over_memory", &Thresholds::over_memory, 1, 100},
    {"occupancy", "busy_pct", &Thresholds::occupancy_busy_pct, 1, 100},
    {"occupancy", "eligible_warps", &Thresholds::eligible_warps, 0.001, 64},
    {"occupancy", "waves", &Thresholds::waves, 0.001, 1000},
    {"occupancy", "theoretical_pct", &Thresholds::theoretical_pct, 1, 100},
    {"occupancy", "near_points", &Thresholds::near_points, 0.001, 100},
    {"latency", "busy_pct", &Thresholds::latency_busy_pct, 1, 100},
    {"latency", "issue_active", &Thresholds::issue_active, 0.001, 1},
    {"latency", "local_share", &Thresholds::local_share, 0, 1},
    {"confidence", "high_margin", &Thresholds::high_margin, 0, 10},
    {"prediction", "gain_of_half", &Thresholds::gain_of_half, 0.001, 0.5},
    {"prediction", "occupancy_gain", &Thresholds::occupancy_gain, 0.001, 1},
};

std::string plain(double value) {
  char text[40];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  return {text, end};
}

[[noreturn]] void fail(const std::string& code, const std::string& name, const std::string& what) {
  throw stwo::FormatError(code,
                          name + ": " + what + "; start from prof/diagnose/thresholds_v1.json");
}

/// The parser keeps the last of two equal keys, so that they have to be seen while it reads.
Json parse(const std::string& name, std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto see = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
    }
    return true;
  };
  Json root;
  try {
    root = Json::parse(text, see);
  } catch (const Json::exception&) {
    fail("THRESHOLDS_JSON", name, "it is no JSON text");
  }
  if (!root.is_object()) fail("THRESHOLDS_JSON", name, "it is no JSON object");
  if (!twice.empty()) fail("THRESHOLDS_KEY", name, "key " + stwo::one_line(twice) + " comes twice");
  return root;
}

std::string path_of(const Field& field) { return std::string("/") + field.block + '/' + field.key; }

void check_keys(const std::string& name, const Json& root) {
  std::set<std::string> known{"/schema"};
  for (const Field& field : kFields) known.insert(path_of(field));
  for (const auto& block : root.items()) {
    if (!block.value().is_object()) {
      if (known.count('/' + block.key()) == 0) {
        fail("THRESHOLDS_KEY", name, "key /" + stwo::one_line(block.key()) + " is not known");
      }
      continue;
    }
    for (const auto& entry : block.value().items()) {
      const std::string path = '/' + block.key() + '/' + entry.key();
      if (known.count(path) == 0) {
        fail("THRESHOLDS_KEY", name, "key " + stwo::one_line(path) + " is not known");
      }
    }
  }
}

}  // namespace

Thresholds parse_thresholds(const std::string& name, std::string_view json) {
  if (json.size() > kMaxBytes) fail("THRESHOLDS_JSON", name, "it is larger than 64 KiB");
  const Json root = parse(name, json);
  if (!root.contains("schema") || root.at("schema") != kSchema) {
    fail("THRESHOLDS_SCHEMA", name, "/schema is not " + std::string(kSchema));
  }
  check_keys(name, root);
  Thresholds out;
  out.sha256 = stwo::sha256_hex(json);
  for (const Field& field : kFields) {
    const Json::json_pointer path(path_of(field));
    if (!root.contains(path)) {
      fail("THRESHOLDS_KEY", name, "key " + path_of(field) + " is missing");
    }
    const Json& value = root.at(path);
    const bool in_range =
        value.is_number() && value.get<double>() >= field.min && value.get<double>() <= field.max;
    if (!in_range) {
      fail("THRESHOLDS_RANGE", name,
           path_of(field) + " is no number from " + plain(field.min) + " to " + plain(field.max));
    }
    out.*field.member = value.get<double>();
  }
  return out;
}

Thresholds load_thresholds(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    throw stwo::UsageError("THRESHOLDS_FILE",
                           "thresholds " + path + " cannot be read; check the name");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return parse_thresholds(path, text);
}

const Thresholds& default_thresholds() {
  static const Thresholds thresholds = parse_thresholds("thresholds_v1.json", kThresholdsJson);
  return thresholds;
}

}  // namespace prof
