#include "prover/report/product_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_file.hpp"
#include "prover/proof/proof_json.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoDevice = "the CPU backend has no device";
constexpr const char* kIneligible = "a CPU run says nothing about the CUDA backend's speed";

/// Collects the reasons of all nulls while the report is built.
class Reasons {
 public:
  Json null(const std::string& path, const std::string& reason) {
    reasons_[path] = reason;
    return nullptr;
  }
  template <class T>
  Json value_or(const std::optional<T>& value, const std::string& path, const std::string& reason) {
    if (value) return *value;
    return null(path, reason);
  }
  Json take() const {
    Json out = Json::object();
    for (const auto& [path, reason] : reasons_) out[path] = reason;
    return out;
  }

 private:
  std::map<std::string, std::string> reasons_;
};

/// SHA-256 of the canonical JSON (sorted keys, compact) of everything but the digest itself.
std::string identity_digest(const Json& identity) {
  nlohmann::json sorted = nlohmann::json::object();
  for (const auto& [key, value] : identity.items()) {
    if (key != "identity_sha256") sorted[key] = value;
  }
  return sha256_hex(sorted.dump());
}

Json identity_block(const ProductReport& r, Reasons& reasons) {
  const std::string no_checkout = "built outside a version-controlled checkout";
  Json j;
  j["binary_sha256"] = r.binary_sha256;
  j["source_commit"] =
      reasons.value_or(r.build.source_commit, "/identity/source_commit", no_checkout);
  j["source_tree"] = reasons.value_or(r.build.source_tree, "/identity/source_tree", no_checkout);
  j["dirty"] = reasons.value_or(r.build.dirty, "/identity/dirty", no_checkout);
  j["dirty_sha256"] = reasons.value_or(r.build.dirty_sha256, "/identity/dirty_sha256",
                                       r.build.dirty ? "the working tree was clean" : no_checkout);
  j["build_type"] = r.build.build_type;
  j["host_compiler"] = r.build.host_compiler;
  j["nvcc_version"] = reasons.null("/identity/nvcc_version", "built without CUDA");
  j["cuda_arch_list"] = reasons.null("/identity/cuda_arch_list", "built without CUDA");
  j["protocol_manifest_sha256"] = protocol_manifest_sha256(r.shape->statement, r.shape->config);
  j["identity_sha256"] = identity_digest(j);
  return j;
}

Json parameters_object(const Statement& s) {
  Json j = Json::object();
  for (const auto& [name, value] : s.parameters) j[name] = value;
  return j;
}

Json plan_block(const ProofShape& shape, Reasons& reasons) {
  // The program is what a device would compile; its digest lets both backends' reports be compared.
  Sha256 hasher;
  uint64_t n_nodes = 0;
  for (const auto& component : shape.instance->components()) {
    const ConstraintProgram program = component->record();
    hasher.update(program.digest());
    n_nodes += program.nodes.size();
  }
  Json j;
  j["program_sha256"] = to_hex(hasher.finalize());
  for (const char* key : {"semantic_sha256", "cache_key_sha256", "schedule_version",
                          "compiled_once", "reuse_count"}) {
    j[key] = reasons.null(std::string("/plan/") + key, "the CPU backend compiles no plan");
  }
  j["node_count"] = n_nodes;
  for (const char* key :
       {"predicted_minimum_launches", "transcript_barriers", "request_bytes", "persistent_bytes"}) {
    j[key] = reasons.null(std::string("/plan/") + key, "the CPU backend compiles no plan");
  }
  return j;
}

Json stage_object(const StageTimes& times) {
  Json j;
  for (size_t s = 0; s < kStageCount; ++s) {
    j[std::string(stage_name(static_cast<Stage>(s)))] = times.ns[s];
  }
  j["total"] = times.total();
  return j;
}

/// Lower median, so that the value is one that was measured.
uint64_t median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

Json stage_block(const std::vector<RequestRecord>& requests, Reasons& reasons) {
  std::vector<const RequestRecord*> steady;
  for (const RequestRecord& r : requests) {
    if (r.role == RequestRole::kSteady) steady.push_back(&r);
  }
  Json j;
  j["first"] = requests.empty() ? reasons.null("/stage_ns/first", "no request")
                                : stage_object(requests.front().stages);
  if (steady.empty()) {
    for (const char* key : {"last", "min", "median"}) {
      j[key] = reasons.null(std::string("/stage_ns/") + key, "no steady request was asked for");
    }
    return j;
  }
  j["last"] = stage_object(steady.back()->stages);
  // Per key over the steady requests: the keys of these two need not sum to their total.
  Json min;
  Json med;
  const auto add = [&](const std::string& key, auto value_of) {
    std::vector<uint64_t> values;
    for (const RequestRecord* r : steady) values.push_back(value_of(r->stages));
    min[key] = *std::min_element(values.begin(), values.end());
    med[key] = median(values);
  };
  for (size_t s = 0; s < kStageCount; ++s) {
    add(std::string(stage_name(static_cast<Stage>(s))),
        [s](const StageTimes& t) { return t.ns[s]; });
  }
  add("total", [](const StageTimes& t) { return t.total(); });
  j["min"] = min;
  j["median"] = med;
  return j;
}

Json request_objects(const std::vector<RequestRecord>& requests, Reasons& reasons) {
  Json list = Json::array();
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestRecord& r = requests[i];
    Json j;
    j["ordinal"] = i;
    j["role"] = request_role_name(r.role);
    j["begin_ns"] = r.begin_ns;
    j["resident_begin_ns"] = r.resident_begin_ns;
    j["resident_end_ns"] = r.resident_end_ns;
    j["end_ns"] = r.end_ns;
    j["resident_prove"] = r.resident_prove;
    j["encode"] = r.encode;
    j["terminal_decode"] = r.terminal_decode;
    j["independent_verification"] = r.independent_verification;
    j["verified_request"] = r.verified_request;
    j["device_elapsed"] = reasons.null("/requests/*/device_elapsed", kNoDevice);
    j["canonical_sha256"] = r.canonical_sha256;
    list.push_back(std::move(j));
  }
  return list;
}

Json memory_block(const ProductReport& r, Reasons& reasons) {
  const std::string host_only = "the CPU backend keeps tables, one arena and scratch only";
  Json j;
  for (const char* key : {"persistent_runtime", "modules"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["tables"] = r.memory.tables_bytes;
  for (const char* key : {"cached_shapes", "graphs"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["arena_high_water"] = r.memory.arena_bytes;
  j["scratch"] = r.memory.scratch_bytes;
  for (const char* key : {"staging", "terminal_host", "pool_reserved", "pool_used"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["accounted_peak"] = r.memory.total();
  j["peak_rss_bytes"] =
      reasons.value_or(r.host.peak_rss_bytes, "/memory/peak_rss_bytes", "the kernel did not say");
  j["in_flight_multiplier"] = 1;
  j["capacity"] =
      reasons.value_or(r.host.memory_bytes, "/memory/capacity", "the kernel did not say");
  j["admitted"] = true;
  return j;
}

// ---- Checking ----------------------------------------------------------------------------------

enum class Kind : uint8_t { kString, kSha256, kUint, kBool, kObject, kArray };

/// One key of the schema. '*' stands for an array index or a free key.
struct Rule {
  const char* path;
  Kind kind;
  bool nullable = false;
};

constexpr Rule kRules[] = {
    {"/schema", Kind::kString},
    {"/product", Kind::kString},
    {"/backend", Kind::kString},
    {"/application", Kind::kString},
    {"/protocol", Kind::kString},
    {"/execution_mode", Kind::kString, true},
    {"/created_utc", Kind::kString},
    {"/eligible_for_cuda_verdict", Kind::kBool},
    {"/ineligible_reason", Kind::kString, true},
    {"/not_applicable", Kind::kObject},
    {"/not_applicable/*", Kind::kString},
    {"/identity", Kind::kObject},
    {"/identity/binary_sha256", Kind::kSha256},
    {"/identity/source_commit", Kind::kString, true},
    {"/identity/source_tree", Kind::kString, true},
    {"/identity/dirty", Kind::kBool, true},
    {"/identity/dirty_sha256", Kind::kSha256, true},
    {"/identity/build_type", Kind::kString},
    {"/identity/host_compiler", Kind::kString},
    {"/identity/nvcc_version", Kind::kString, true},
    {"/identity/cuda_arch_list", Kind::kString, true},
    {"/identity/protocol_manifest_sha256", Kind::kSha256},
    {"/identity/identity_sha256", Kind::kSha256},
    {"/modules", Kind::kArray, true},
    {"/aot", Kind::kObject, true},
    {"/device", Kind::kObject, true},
    {"/cpu", Kind::kObject},
    {"/cpu/model_name", Kind::kString},
    {"/cpu/instruction_set", Kind::kString},
    {"/cpu/threads", Kind::kUint},
    {"/cpu/logical_cpus", Kind::kUint},
    {"/statement", Kind::kObject},
    {"/statement/workload_id", Kind::kString},
    {"/statement/structural_class", Kind::kString},
    {"/statement/air", Kind::kString},
    {"/statement/channel", Kind::kString},
    {"/statement/mix_config", Kind::kBool},
    {"/statement/parameters", Kind::kObject},
    {"/statement/parameters/*", Kind::kUint},
    {"/statement/config", Kind::kString},
    {"/statement/security_bits_heuristic", Kind::kUint},
    {"/statement/security_bits_proven", Kind::kUint},
    {"/statement/trace_rows", Kind::kUint},
    {"/statement/trace_cells", Kind::kUint},
    {"/statement/statement_sha256", Kind::kSha256},
    {"/plan", Kind::kObject},
    {"/plan/program_sha256", Kind::kSha256},
    {"/plan/semantic_sha256", Kind::kSha256, true},
    {"/plan/cache_key_sha256", Kind::kSha256, true},
    {"/plan/schedule_version", Kind::kUint, true},
    {"/plan/compiled_once", Kind::kBool, true},
    {"/plan/reuse_count", Kind::kUint, true},
    {"/plan/node_count", Kind::kUint},
    {"/plan/predicted_minimum_launches", Kind::kUint, true},
    {"/plan/transcript_barriers", Kind::kUint, true},
    {"/plan/request_bytes", Kind::kUint, true},
    {"/plan/persistent_bytes", Kind::kUint, true},
    {"/proof", Kind::kObject},
    {"/proof/path", Kind::kString},
    {"/proof/canonical_bytes", Kind::kUint},
    {"/proof/canonical_sha256", Kind::kSha256},
    {"/proof/verified", Kind::kBool},
    {"/proof/oracle", Kind::kObject, true},
    {"/proof/oracle/name", Kind::kString},
    {"/proof/oracle/accepted", Kind::kBool},
    {"/proof/oracle/receipt_sha256", Kind::kSha256},
    {"/lifecycle_ns", Kind::kObject},
    {"/lifecycle_ns/process_start_to_main", Kind::kUint, true},
    {"/lifecycle_ns/runtime_init", Kind::kUint},
    {"/lifecycle_ns/shape_prepare", Kind::kUint},
    {"/lifecycle_ns/first_request", Kind::kUint},
    {"/lifecycle_ns/runtime_teardown", Kind::kUint},
    {"/lifecycle_ns/total_before_publication", Kind::kUint},
    {"/requests", Kind::kArray},
    {"/requests/*", Kind::kObject},
    {"/requests/*/ordinal", Kind::kUint},
    {"/requests/*/role", Kind::kString},
    {"/requests/*/begin_ns", Kind::kUint},
    {"/requests/*/resident_begin_ns", Kind::kUint},
    {"/requests/*/resident_end_ns", Kind::kUint},
    {"/requests/*/end_ns", Kind::kUint},
    {"/requests/*/resident_prove", Kind::kUint},
    {"/requests/*/encode", Kind::kUint},
    {"/requests/*/terminal_decode", Kind::kUint},
    {"/requests/*/independent_verification", Kind::kUint},
    {"/requests/*/verified_request", Kind::kUint},
    {"/requests/*/device_elapsed", Kind::kUint, true},
    {"/requests/*/canonical_sha256", Kind::kSha256},
    {"/stage_ns", Kind::kObject},
    {"/stage_ns/first", Kind::kObject},
    {"/stage_ns/last", Kind::kObject, true},
    {"/stage_ns/min", Kind::kObject, true},
    {"/stage_ns/median", Kind::kObject, true},
    // The ten stages and "total" below each of the four: added by rules().
    {"/counters", Kind::kObject, true},
    {"/transfers", Kind::kObject, true},
    {"/pass_ledger", Kind::kArray, true},
    {"/memory", Kind::kObject},
    {"/memory/persistent_runtime", Kind::kUint, true},
    {"/memory/modules", Kind::kUint, true},
    {"/memory/tables", Kind::kUint},
    {"/memory/cached_shapes", Kind::kUint, true},
    {"/memory/graphs", Kind::kUint, true},
    {"/memory/arena_high_water", Kind::kUint},
    {"/memory/scratch", Kind::kUint},
    {"/memory/staging", Kind::kUint, true},
    {"/memory/terminal_host", Kind::kUint, true},
    {"/memory/pool_reserved", Kind::kUint, true},
    {"/memory/pool_used", Kind::kUint, true},
    {"/memory/accounted_peak", Kind::kUint},
    {"/memory/peak_rss_bytes", Kind::kUint, true},
    {"/memory/in_flight_multiplier", Kind::kUint},
    {"/memory/capacity", Kind::kUint, true},
    {"/memory/admitted", Kind::kBool},
    {"/resources", Kind::kArray, true},
};

using RuleMap = std::map<std::string, Rule, std::less<>>;

const RuleMap& rules() {
  static const RuleMap map = [] {
    RuleMap m;
    for (const Rule& r : kRules) m.emplace(r.path, r);
    for (const char* which : {"first", "last", "min", "median"}) {
      for (size_t s = 0; s <= kStageCount; ++s) {
        std::string path = std::string("/stage_ns/") + which + "/";
        path += s < kStageCount ? stage_name(static_cast<Stage>(s)) : "total";
        m.emplace(path, Rule{"", Kind::kUint});
      }
    }
    return m;
  }();
  return map;
}

bool is_sha256(const std::string& s) {
  return s.size() == 64 && std::all_of(s.begin(), s.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Escapes a key for a JSON pointer.
std::string pointer_token(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

/// Parser callback that sees what a finished value can't show any more: keys given twice. Nesting
/// is bounded because building and destroying a deep value recurses.
class DuplicateFinder {
 public:
  static constexpr int kMaxDepth = 32;

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) too_deep_ = true;
    switch (event) {
      case Json::parse_event_t::object_start: open_.emplace_back(); break;
      case Json::parse_event_t::object_end: open_.pop_back(); break;
      case Json::parse_event_t::key:
        if (!open_.back().insert(value.get<std::string>()).second) {
          duplicates_.push_back(value.get<std::string>());
        }
        break;
      default: break;
    }
    return true;
  }
  const std::vector<std::string>& duplicates() const { return duplicates_; }
  bool too_deep() const { return too_deep_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::vector<std::string> duplicates_;
  bool too_deep_ = false;
};

/// Is the nesting of brackets within bounds? Counted on the raw text, before a parser recurses.
bool nesting_is_bounded(std::string_view text, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  std::vector<ReportViolation> run() {
    if (!root_.is_object()) {
      add("REPORT_TYPE", "", "expected an object");
      return std::move(violations_);
    }
    const Json* schema = find("/schema");
    if (schema == nullptr || *schema != std::string(kProductReportSchema)) {
      add("REPORT_SCHEMA", "/schema", "expected \"" + std::string(kProductReportSchema) + "\"");
      return std::move(violations_);
    }
    const Json* backend = find("/backend");
    if (backend == nullptr || *backend != "cpu") {
      add("REPORT_BACKEND", "/backend", "expected \"cpu\"; other backends are not known yet");
      return std::move(violations_);
    }
    check_form(root_, "", "");
    check_nulls();
    // Cross checks read numbers by path; with a broken form they would only repeat its errors.
    if (violations_.empty()) {
      check_identity();
      check_statement();
      check_requests();
      check_stages();
      check_lifecycle();
      check_memory();
      check_eligibility();
    }
    return std::move(violations_);
  }

 private:
  void add(std::string code, std::string path, std::string message) {
    violations_.push_back({std::move(code), std::move(path), std::move(message)});
  }
  const Json* find(const std::string& path) const {
    const Json::json_pointer pointer(path);
    return root_.contains(pointer) ? &root_.at(pointer) : nullptr;
  }
  /// Value of an unsigned number that check_form has accepted.
  uint64_t number(const std::string& path) const {
    return root_.at(Json::json_pointer(path)).get<uint64_t>();
  }
  std::string text(const std::string& path) const {
    return root_.at(Json::json_pointer(path)).get<std::string>();
  }

  void check_form(const Json& value, const std::string& path, const std::string& pattern) {
    if (!pattern.empty()) {
      const auto rule = rules().find(pattern);
      if (rule == rules().end()) {
        add("REPORT_UNKNOWN_KEY", path, "this key is not part of the schema");
        return;
      }
      if (!check_value(value, path, rule->second)) return;
    }
    if (value.is_object()) {
      const bool free_keys = rules().count(pattern + "/*") != 0;
      if (!free_keys) check_keys(value, path, pattern);
      for (const auto& [key, child] : value.items()) {
        check_form(child, path + '/' + pointer_token(key),
                   pattern + '/' + (free_keys ? "*" : pointer_token(key)));
      }
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        check_form(value[i], path + '/' + std::to_string(i), pattern + "/*");
      }
    } else if (value.is_null()) {
      nulls_.emplace(pattern, path);
    }
  }

  void check_keys(const Json& object, const std::string& path, const std::string& pattern) {
    const std::string prefix = pattern + '/';
    for (auto it = rules().lower_bound(prefix);
         it != rules().end() && it->first.compare(0, prefix.size(), prefix) == 0; ++it) {
      const std::string key = it->first.substr(prefix.size());
      if (key.find('/') == std::string::npos && !object.contains(key)) {
        add("REPORT_MISSING_KEY", path + '/' + key, "this key is missing");
      }
    }
  }

  bool check_value(const Json& value, const std::string& path, const Rule& rule) {
    if (value.is_null()) {
      if (!rule.nullable) add("REPORT_TYPE", path, "must not be null");
      return rule.nullable;
    }
    bool ok = false;
    const char* expected = "";
    switch (rule.kind) {
      case Kind::kString: ok = value.is_string(), expected = "a string"; break;
      case Kind::kSha256: ok = value.is_string(), expected = "a SHA-256 in hex"; break;
      case Kind::kUint: ok = value.is_number(), expected = "a whole number"; break;
      case Kind::kBool: ok = value.is_boolean(), expected = "true or false"; break;
      case Kind::kObject: ok = value.is_object(), expected = "an object"; break;
      case Kind::kArray: ok = value.is_array(), expected = "an array"; break;
    }
    if (!ok) {
      add("REPORT_TYPE", path, std::string("expected ") + expected);
      return false;
    }
    if (rule.kind == Kind::kSha256 && !is_sha256(value.get_ref<const std::string&>())) {
      add("REPORT_RANGE", path, "expected 64 lowercase hex digits");
      return false;
    }
    if (rule.kind == Kind::kUint &&
        (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{INT64_MAX})) {
      add("REPORT_RANGE", path, "expected a whole number between 0 and 2^63-1");
      return false;
    }
    return true;
  }

  void check_nulls() {
    const Json* reasons = find("/not_applicable");
    if (reasons == nullptr || !reasons->is_object()) return;  // reported by the form check
    for (const auto& [pattern, path] : nulls_) {
      if (!reasons->contains(pattern)) {
        add("REPORT_NULL_WITHOUT_REASON", path, "null without a reason in /not_applicable");
      }
    }
    for (const auto& [pattern, reason] : reasons->items()) {
      if (nulls_.count(pattern) == 0) {
        add("REPORT_REASON_WITHOUT_NULL", "/not_applicable/" + pointer_token(pattern),
            "gives a reason for a value that is not null");
      }
    }
  }

  void check_identity() {
    const Json& identity = root_.at("identity");
    const bool dirty = identity.at("dirty").is_boolean() && identity.at("dirty").get<bool>();
    if (dirty == identity.at("dirty_sha256").is_null()) {
      add("REPORT_DIRTY", "/identity/dirty_sha256", "must be set exactly when dirty is true");
    }
    if (identity_digest(identity) != identity.at("identity_sha256").get<std::string>()) {
      add("REPORT_IDENTITY_DIGEST", "/identity/identity_sha256",
          "is not the digest of the other identity fields");
    }
  }

  void check_statement() {
    Statement s;
    s.air = text("/statement/air");
    const std::string channel = text("/statement/channel");
    if (channel != "blake2s" && channel != "blake2s_m31") {
      add("REPORT_RANGE", "/statement/channel", "expected blake2s or blake2s_m31");
      return;
    }
    s.channel = parse_channel(channel);
    s.mix_config = root_.at("statement").at("mix_config").get<bool>();
    for (const auto& [name, value] : root_.at("statement").at("parameters").items()) {
      s.parameters.emplace_back(name, value.get<uint64_t>());
    }
    if (sha256_hex(write_statement_json(s)) != text("/statement/statement_sha256")) {
      add("REPORT_STATEMENT_DIGEST", "/statement/statement_sha256",
          "is not the digest of the statement");
    }
  }

  void check_requests() {
    const Json& requests = root_.at("requests");
    if (requests.empty()) add("REPORT_REQUESTS", "/requests", "has no request");
    // first, then warm-ups, then steady requests.
    int phase = -1;
    for (size_t i = 0; i < requests.size(); ++i) {
      const std::string path = "/requests/" + std::to_string(i);
      if (number(path + "/ordinal") != i) {
        add("REPORT_ORDINALS", path + "/ordinal", "expected " + std::to_string(i));
      }
      const std::string role = text(path + "/role");
      const int at = role == "first" ? 0 : role == "warmup" ? 1 : role == "steady" ? 2 : -1;
      if (at < 0) {
        add("REPORT_RANGE", path + "/role", "expected first, warmup or steady");
      } else {
        if (at < phase || (at == 0) != (i == 0)) {
          add("REPORT_ROLES", path + "/role", "roles must be first once, then warmup, then steady");
        }
        phase = at;
      }
      check_request_times(path);
      if (text(path + "/canonical_sha256") != text("/proof/canonical_sha256")) {
        add("REPORT_DIGESTS", path + "/canonical_sha256", "differs from the proof's digest");
      }
    }
  }

  void check_request_times(const std::string& path) {
    const uint64_t verified = number(path + "/verified_request");
    uint64_t parts = 0;
    bool overflow = false;
    for (const char* key :
         {"resident_prove", "encode", "terminal_decode", "independent_verification"}) {
      overflow |= __builtin_add_overflow(parts, number(path + '/' + key), &parts);
    }
    if (overflow || verified < parts) {
      add("REPORT_VERIFIED_SUM", path + "/verified_request",
          "is below resident_prove + encode + terminal_decode + independent_verification");
    }
    if (number(path + "/begin_ns") > number(path + "/resident_begin_ns") ||
        number(path + "/resident_begin_ns") > number(path + "/resident_end_ns") ||
        number(path + "/resident_end_ns") > number(path + "/end_ns")) {
      add("REPORT_STAMPS", path + "/begin_ns",
          "stamps are out of order; begin, resident begin, resident end, end must not decrease");
    }
  }

  void check_stages() {
    for (const char* which : {"first", "last"}) {
      const std::string path = std::string("/stage_ns/") + which;
      if (find(path)->is_null()) continue;
      uint64_t sum = 0;
      bool overflow = false;
      for (size_t s = 0; s < kStageCount; ++s) {
        overflow |= __builtin_add_overflow(
            sum, number(path + '/' + std::string(stage_name(static_cast<Stage>(s)))), &sum);
      }
      if (overflow || sum != number(path + "/total")) {
        add("REPORT_STAGE_SUM", path + "/total", "is not the sum of the stages");
      }
    }
    const Json& requests = root_.at("requests");
    if (requests.empty()) return;
    const std::string last = "/requests/" + std::to_string(requests.size() - 1);
    const bool steady = text(last + "/role") == "steady";
    for (const char* which : {"last", "min", "median"}) {
      if (find(std::string("/stage_ns/") + which)->is_null() == steady) {
        add("REPORT_STAGE_SET", std::string("/stage_ns/") + which,
            "must be set exactly when there are steady requests");
      }
    }
    check_stage_bound("/stage_ns/first/total", "/requests/0/resident_prove");
    if (steady && !find("/stage_ns/last")->is_null()) {
      check_stage_bound("/stage_ns/last/total", last + "/resident_prove");
    }
  }

  void check_stage_bound(const std::string& total, const std::string& resident) {
    if (number(total) > number(resident)) {
      add("REPORT_STAGE_RESIDENT", total, "exceeds " + resident);
    }
  }

  void check_lifecycle() {
    uint64_t sum = 0;
    bool overflow = false;
    for (const char* key : {"runtime_init", "shape_prepare", "runtime_teardown"}) {
      overflow |= __builtin_add_overflow(sum, number(std::string("/lifecycle_ns/") + key), &sum);
    }
    const Json& requests = root_.at("requests");
    for (size_t i = 0; i < requests.size(); ++i) {
      overflow |= __builtin_add_overflow(
          sum, number("/requests/" + std::to_string(i) + "/verified_request"), &sum);
    }
    if (overflow || number("/lifecycle_ns/total_before_publication") < sum) {
      add("REPORT_TOTAL", "/lifecycle_ns/total_before_publication",
          "is below init + prepare + requests + teardown");
    }
    if (!requests.empty() &&
        number("/lifecycle_ns/first_request") != number("/requests/0/verified_request")) {
      add("REPORT_FIRST_REQUEST", "/lifecycle_ns/first_request",
          "differs from the first request's verified_request");
    }
  }

  void check_memory() {
    uint64_t sum = 0;
    bool overflow = false;
    for (const char* key : {"persistent_runtime", "modules", "tables", "cached_shapes", "graphs",
                            "arena_high_water", "scratch", "staging", "terminal_host"}) {
      const std::string path = std::string("/memory/") + key;
      if (find(path)->is_null()) continue;
      overflow |= __builtin_add_overflow(sum, number(path), &sum);
    }
    if (overflow || sum != number("/memory/accounted_peak")) {
      add("REPORT_MEMORY_SUM", "/memory/accounted_peak", "is not the sum of its parts");
    }
  }

  void check_eligibility() {
    if (root_.at("eligible_for_cuda_verdict").get<bool>()) {
      add("REPORT_ELIGIBLE", "/eligible_for_cuda_verdict", "a CPU run must not be eligible");
    }
    if (root_.at("ineligible_reason").is_null()) {
      add("REPORT_ELIGIBLE", "/ineligible_reason", "a run that is not eligible needs a reason");
    }
  }

  const Json& root_;
  std::vector<ReportViolation> violations_;
  /// Pattern and first path of every null.
  std::map<std::string, std::string> nulls_;
};

}  // namespace

std::string_view request_role_name(RequestRole role) {
  switch (role) {
    case RequestRole::kFirst: return "first";
    case RequestRole::kWarmup: return "warmup";
    case RequestRole::kSteady: return "steady";
  }
  return "unknown";
}

uint64_t StageTimes::total() const {
  uint64_t sum = 0;
  for (const uint64_t v : ns) sum += v;
  return sum;
}

std::string workload_id(const ProofShape& shape) {
  const Statement& s = shape.statement;
  const auto ends_with = [](const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  std::string out = s.air;
  const std::vector<AirParameter>& declared = shape.air->parameters();
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const auto& [name, value] = s.parameters[i];
    if (i < declared.size() && declared[i].default_value == value) continue;
    if (name == "log_n_rows" || name == "second_log_n_rows") {
      out += "_log" + std::to_string(value);
    } else if (ends_with(name, "sequence_len")) {
      out += "x" + std::to_string(value);
    } else {
      out += "_" + name + std::to_string(value);
    }
  }
  if (s.channel == HashVariant::kBlake2sM31) out += "_m31";
  return out;
}

std::string protocol_manifest_sha256(const Statement& statement, const PcsConfig& config) {
  std::string text = "stwo protocol manifest 1\ncrate=";
  text += kProtocolCrate;
  text += "\nchannel=";
  text += channel_name(statement.channel);
  text += statement.mix_config ? "\nmix_config=1" : "\nmix_config=0";
  text += "\nconfig=" + config_to_string(config) + "\n";
  return sha256_hex(text);
}

std::string write_product_report(const ProductReport& r) {
  const ProofShape& shape = *r.shape;
  Reasons reasons;
  Json j;
  j["schema"] = kProductReportSchema;
  j["product"] = "stwo-cuda " + r.build.product_version;
  j["backend"] = "cpu";
  j["application"] = shape.statement.air;
  j["protocol"] = kProtocolCrate;
  j["execution_mode"] = reasons.null("/execution_mode", kNoDevice);
  j["created_utc"] = r.created_utc;
  j["eligible_for_cuda_verdict"] = false;
  j["ineligible_reason"] = kIneligible;
  j["not_applicable"] = nullptr;  // filled in below, once all reasons are known
  j["identity"] = identity_block(r, reasons);
  for (const char* key : {"modules", "aot", "device"}) {
    j[key] = reasons.null(std::string("/") + key, kNoDevice);
  }
  j["cpu"] = {{"model_name", r.host.model_name},
              {"instruction_set", r.host.instruction_set},
              {"threads", r.host.threads},
              {"logical_cpus", r.host.logical_cpus}};
  Json statement;
  statement["workload_id"] = workload_id(shape);
  statement["structural_class"] = shape.air->structural_class(shape.statement);
  statement["air"] = shape.statement.air;
  statement["channel"] = channel_name(shape.statement.channel);
  statement["mix_config"] = shape.statement.mix_config;
  statement["parameters"] = parameters_object(shape.statement);
  statement["config"] = config_to_string(shape.config);
  statement["security_bits_heuristic"] = shape.config.heuristic_security_bits();
  statement["security_bits_proven"] = shape.config.proven_security_bits();
  statement["trace_rows"] = shape.trace_rows();
  statement["trace_cells"] = shape.trace_cells();
  statement["statement_sha256"] = sha256_hex(write_statement_json(shape.statement));
  j["statement"] = std::move(statement);
  j["plan"] = plan_block(shape, reasons);
  Json proof;
  proof["path"] = r.proof_path;
  proof["canonical_bytes"] = r.proof_bytes;
  proof["canonical_sha256"] = r.requests.empty() ? "" : r.requests.front().canonical_sha256;
  proof["verified"] = r.verified;
  if (r.oracle) {
    proof["oracle"] = {{"name", r.oracle->name},
                       {"accepted", r.oracle->accepted},
                       {"receipt_sha256", r.oracle->receipt_sha256}};
  } else {
    proof["oracle"] = reasons.null("/proof/oracle", "no receipt was given");
  }
  j["proof"] = std::move(proof);
  j["lifecycle_ns"] = {
      {"process_start_to_main",
       reasons.value_or(r.lifecycle.process_start_to_main, "/lifecycle_ns/process_start_to_main",
                        "the kernel did not say when the process started")},
      {"runtime_init", r.lifecycle.runtime_init},
      {"shape_prepare", r.lifecycle.shape_prepare},
      {"first_request", r.lifecycle.first_request},
      {"runtime_teardown", r.lifecycle.runtime_teardown},
      {"total_before_publication", r.lifecycle.total_before_publication}};
  j["requests"] = request_objects(r.requests, reasons);
  j["stage_ns"] = stage_block(r.requests, reasons);
  for (const char* key : {"counters", "transfers", "pass_ledger"}) {
    j[key] = reasons.null(std::string("/") + key, kNoDevice);
  }
  j["memory"] = memory_block(r, reasons);
  j["resources"] = reasons.null("/resources", kNoDevice);
  j["not_applicable"] = reasons.take();
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<ReportViolation> check_report(std::string_view text) {
  if (text.size() > kMaxReportBytes) {
    return {{"REPORT_TOO_LARGE", "", "more than " + std::to_string(kMaxReportBytes) + " bytes"}};
  }
  if (!nesting_is_bounded(text, DuplicateFinder::kMaxDepth)) {
    return {{"REPORT_JSON", "", "nested too deeply"}};
  }
  DuplicateFinder duplicates;
  Json root;
  try {
    root = Json::parse(text.begin(), text.end(), std::ref(duplicates));
  } catch (const Json::exception& e) {
    return {{"REPORT_JSON", "", "not JSON: " + std::string(e.what())}};
  }
  std::vector<ReportViolation> out;
  for (const std::string& key : duplicates.duplicates()) {
    out.push_back({"REPORT_DUPLICATE_KEY", pointer_token(key), "this key is given twice"});
  }
  if (!out.empty()) return out;
  return Checker(root).run();
}

}  // namespace stwo
