// Rules a report must keep, and the contract a production run must keep beyond them.

#include "prover/report/report_check.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "prover/hash/sha256.hpp"
#include "prover/report/report_fields.hpp"
#include "prover/stage.hpp"

namespace stwo {
namespace {

enum class Kind : uint8_t { kString, kSha256, kUint, kBool, kObject, kArray };

/// One key of the schema. '*' stands for an array index or a free key.
struct Rule {
  const char* path;
  Kind kind;
  bool nullable = false;
};

/// Keys of every report, as a CPU run fills them.
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

/// What a CUDA report has besides, or fills where a CPU report is null.
constexpr Rule kCudaRules[] = {
    {"/execution_mode", Kind::kString},
    {"/identity/nvcc_version", Kind::kString},
    {"/identity/cuda_arch_list", Kind::kString},
    {"/modules", Kind::kArray},
    {"/modules/*", Kind::kObject},
    {"/modules/*/name", Kind::kString},
    {"/modules/*/sha256", Kind::kSha256},
    {"/modules/*/bytes", Kind::kUint},
    {"/modules/*/kind", Kind::kString},
    {"/modules/*/sm", Kind::kUint},
    {"/modules/*/load_ordinal", Kind::kUint},
    {"/modules/*/loaded_in", Kind::kString},
    {"/aot", Kind::kObject},
    {"/aot/entries", Kind::kUint},
    {"/aot/loads", Kind::kUint},
    {"/aot/cache_hits", Kind::kUint},
    {"/aot/misses", Kind::kUint},
    {"/aot/launches", Kind::kUint},
    {"/aot/launch_failures", Kind::kUint},
    {"/aot/build_identity_sha256", Kind::kSha256},
    {"/aot/strict", Kind::kBool},
    {"/device", Kind::kObject},
    {"/device/uuid", Kind::kString},
    {"/device/name", Kind::kString},
    {"/device/ordinal", Kind::kUint},
    {"/device/sm_major", Kind::kUint},
    {"/device/sm_minor", Kind::kUint},
    {"/device/driver_version", Kind::kString},
    {"/device/runtime_version", Kind::kString, true},
    {"/device/toolkit_version", Kind::kString},
    {"/device/global_memory_bytes", Kind::kUint},
    {"/device/multiprocessors", Kind::kUint},
    {"/device/mig", Kind::kBool},
    {"/plan/semantic_sha256", Kind::kSha256},
    {"/plan/cache_key_sha256", Kind::kSha256},
    {"/plan/schedule_version", Kind::kUint},
    {"/plan/compiled_once", Kind::kBool},
    {"/plan/reuse_count", Kind::kUint},
    {"/plan/predicted_minimum_launches", Kind::kUint},
    {"/plan/transcript_barriers", Kind::kUint},
    {"/plan/request_bytes", Kind::kUint},
    {"/plan/persistent_bytes", Kind::kUint},
    {"/requests/*/device_elapsed", Kind::kUint},
    {"/device_stage_ns", Kind::kObject},
    {"/device_stage_ns/first", Kind::kObject},
    {"/device_stage_ns/last", Kind::kObject, true},
    {"/device_stage_ns/min", Kind::kObject, true},
    {"/device_stage_ns/median", Kind::kObject, true},
    // The vectors below these two: added by rules().
    {"/counters", Kind::kObject},
    {"/transfers", Kind::kObject},
    {"/pass_ledger", Kind::kArray},
    {"/pass_ledger/*", Kind::kObject},
    {"/pass_ledger/*/stage", Kind::kString},
    {"/pass_ledger/*/pass", Kind::kString},
    {"/pass_ledger/*/kernel", Kind::kString},
    {"/pass_ledger/*/input_bytes", Kind::kUint},
    {"/pass_ledger/*/output_bytes", Kind::kUint},
    {"/pass_ledger/*/reread_bytes", Kind::kUint},
    {"/pass_ledger/*/temporary_bytes", Kind::kUint},
    {"/pass_ledger/*/launches", Kind::kUint},
    {"/pass_ledger/*/barriers", Kind::kUint},
    {"/pass_ledger/*/retained_consumer", Kind::kString, true},
    {"/memory/cached_shapes", Kind::kUint},
    {"/memory/scratch", Kind::kUint, true},
    {"/memory/staging", Kind::kUint},
    {"/memory/terminal_host", Kind::kUint},
    {"/memory/pool_reserved", Kind::kUint},
    {"/memory/pool_used", Kind::kUint},
    {"/memory/capacity", Kind::kUint},
    {"/resources/*", Kind::kObject},
    {"/resources/*/name", Kind::kString},
    {"/resources/*/bytes", Kind::kUint},
    {"/resources/*/alignment", Kind::kUint},
    {"/resources/*/lifetime", Kind::kString},
    {"/resources/*/producer", Kind::kString},
    {"/resources/*/last_consumer", Kind::kString},
    {"/resources/*/mutable", Kind::kBool},
    {"/resources/*/alias_eligible", Kind::kBool},
    {"/resources/*/owner", Kind::kString},
    {"/resources/*/unwind_path", Kind::kString},
    {"/resources/*/stream", Kind::kString, true},
    {"/resources/*/last_use_event", Kind::kString, true},
    {"/resources/*/cache_key", Kind::kString, true},
    {"/resources/*/eviction_rule", Kind::kString, true},
};

using RuleMap = std::map<std::string, Rule, std::less<>>;

void add_stage_rules(RuleMap& m, const std::string& block) {
  for (const char* which : {"/first/", "/last/", "/min/", "/median/"}) {
    for (size_t s = 0; s < kStageCount; ++s) {
      m.emplace(block + which + std::string(stage_name(static_cast<Stage>(s))),
                Rule{"", Kind::kUint});
    }
    m.emplace(block + which + "total", Rule{"", Kind::kUint});
  }
}

template <class T, size_t N>
void add_vector_rules(RuleMap& m, const std::string& block, const Field<T> (&fields)[N]) {
  for (const Field<T>& field : fields) {
    m.emplace(block + field.key, Rule{"", Kind::kArray});
    m.emplace(block + field.key + "/*", Rule{"", Kind::kUint});
  }
}

const RuleMap& cpu_rules() {
  static const RuleMap map = [] {
    RuleMap m;
    for (const Rule& r : kRules) m.emplace(r.path, r);
    add_stage_rules(m, "/stage_ns");
    return m;
  }();
  return map;
}

const RuleMap& cuda_rules() {
  static const RuleMap map = [] {
    RuleMap m = cpu_rules();
    for (const Rule& r : kCudaRules) m.insert_or_assign(r.path, r);
    add_stage_rules(m, "/device_stage_ns");
    add_vector_rules(m, "/counters/", kCounterFields);
    add_vector_rules(m, "/transfers/", kTransferFields);
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
    if (backend == nullptr || (*backend != "cpu" && *backend != "cuda")) {
      add("REPORT_BACKEND", "/backend", "expected \"cpu\" or \"cuda\"");
      return std::move(violations_);
    }
    cuda_ = *backend == "cuda";
    check_form(root_, "", "");
    check_nulls();
    if (violations_.empty() && cuda_) check_names();
    // Cross checks read numbers by path; with a broken form they would only repeat its errors.
    if (violations_.empty()) {
      check_identity();
      check_statement();
      check_requests();
      check_stages();
      check_lifecycle();
      check_memory();
      if (cuda_) check_device();
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

  const RuleMap& rules() const { return cuda_ ? cuda_rules() : cpu_rules(); }

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
    const Json& statement = root_.at("statement");
    const std::string channel = text("/statement/channel");
    if (channel != "blake2s" && channel != "blake2s_m31") {
      add("REPORT_RANGE", "/statement/channel", "expected blake2s or blake2s_m31");
      return;
    }
    // The text a proof file has for this statement.
    const Json canonical = {{"air", statement.at("air")},
                            {"channel", channel},
                            {"mix_config", statement.at("mix_config")},
                            {"parameters", statement.at("parameters")}};
    if (sha256_hex(canonical.dump()) != text("/statement/statement_sha256")) {
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

  /// Do the stages of one request sum to their total? `prefix` names the violation.
  void check_stage_sum(const std::string& path, const std::string& prefix) {
    uint64_t sum = 0;
    bool overflow = false;
    for (size_t s = 0; s < kStageCount; ++s) {
      overflow |= __builtin_add_overflow(
          sum, number(path + '/' + std::string(stage_name(static_cast<Stage>(s)))), &sum);
    }
    if (overflow || sum != number(path + "/total")) {
      add(prefix + "_SUM", path + "/total", "is not the sum of the stages");
    }
  }

  /// Sums, and the presence of the steady parts. Returns whether those are there to be checked.
  bool check_stage_block(const std::string& block, const std::string& prefix) {
    for (const char* which : {"/first", "/last"}) {
      if (!find(block + which)->is_null()) check_stage_sum(block + which, prefix);
    }
    const Json& requests = root_.at("requests");
    const bool steady = !requests.empty() && requests.back().at("role") == "steady";
    bool complete = steady;
    for (const char* which : {"/last", "/min", "/median"}) {
      if (find(block + which)->is_null() == steady) {
        add(prefix + "_SET", block + which, "must be set exactly when there are steady requests");
        complete = false;
      }
    }
    return complete;
  }

  void check_stages() {
    const size_t n_requests = root_.at("requests").size();
    const bool steady = check_stage_block("/stage_ns", "REPORT_STAGE");
    if (n_requests == 0) return;
    check_stage_bound("/stage_ns/first/total", "/requests/0/resident_prove");
    if (steady) {
      check_stage_bound("/stage_ns/last/total",
                        "/requests/" + std::to_string(n_requests - 1) + "/resident_prove");
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
    for (const char* key : kMemoryParts) {
      const std::string path = std::string("/memory/") + key;
      if (find(path)->is_null()) continue;
      overflow |= __builtin_add_overflow(sum, number(path), &sum);
    }
    if (overflow || sum != number("/memory/accounted_peak")) {
      add("REPORT_MEMORY_SUM", "/memory/accounted_peak", "is not the sum of its parts");
    }
  }

  void check_eligibility() {
    const bool eligible = root_.at("eligible_for_cuda_verdict").get<bool>();
    const std::optional<std::string> reason = ineligibility(root_);
    if (eligible && reason) {
      add("REPORT_ELIGIBLE", "/eligible_for_cuda_verdict", "must be false: " + *reason);
    }
    if (eligible != root_.at("ineligible_reason").is_null()) {
      add("REPORT_ELIGIBLE", "/ineligible_reason",
          "must be set exactly when the run is not eligible");
    }
  }

  // -- CUDA only --

  void check_device() {
    check_module_order();
    check_device_stages();
    check_device_bounds();
    if (check_vector_lengths()) {
      check_graph_counters();
      check_topology();
      check_vector_sums();
    }
    check_pool();
  }

  void check_name(const std::string& path, std::initializer_list<std::string_view> allowed) {
    const std::string value = text(path);
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::string names;
    for (const std::string_view name : allowed) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    add("REPORT_RANGE", path, "expected one of " + names);
  }

  void check_names() {
    check_name("/execution_mode", {execution_mode_name(ExecutionMode::kGraphs),
                                   execution_mode_name(ExecutionMode::kDirect)});
    for (size_t i = 0; i < root_.at("modules").size(); ++i) {
      const std::string path = "/modules/" + std::to_string(i);
      check_name(path + "/kind",
                 {module_kind_name(ModuleKind::kCubin), module_kind_name(ModuleKind::kPtx),
                  module_kind_name(ModuleKind::kNvrtc)});
      check_name(path + "/loaded_in",
                 {load_phase_name(LoadPhase::kInit), load_phase_name(LoadPhase::kPrepare),
                  load_phase_name(LoadPhase::kRequest)});
    }
    for (size_t i = 0; i < root_.at("pass_ledger").size(); ++i) {
      const std::string path = "/pass_ledger/" + std::to_string(i) + "/stage";
      const std::string stage = text(path);
      bool known = false;
      for (size_t s = 0; s < kStageCount; ++s) known |= stage == stage_name(static_cast<Stage>(s));
      if (!known) add("REPORT_RANGE", path, "expected the name of a stage");
    }
    for (size_t i = 0; i < root_.at("resources").size(); ++i) {
      check_name("/resources/" + std::to_string(i) + "/lifetime",
                 {resource_lifetime_name(ResourceLifetime::kPersistent),
                  resource_lifetime_name(ResourceLifetime::kShape),
                  resource_lifetime_name(ResourceLifetime::kRequest),
                  resource_lifetime_name(ResourceLifetime::kTerminalHost)});
    }
  }

  void check_module_order() {
    for (size_t i = 0; i < root_.at("modules").size(); ++i) {
      const std::string path = "/modules/" + std::to_string(i) + "/load_ordinal";
      if (number(path) != i) add("REPORT_MODULE_ORDER", path, "expected " + std::to_string(i));
    }
  }

  uint64_t device_elapsed(size_t request) const {
    return number("/requests/" + std::to_string(request) + "/device_elapsed");
  }

  void check_device_stages() {
    const Json& requests = root_.at("requests");
    const bool steady = check_stage_block("/device_stage_ns", "REPORT_DEVICE_STAGE");
    if (requests.empty()) return;
    const auto check_equal = [&](const std::string& total, size_t request) {
      if (number(total) != device_elapsed(request)) {
        add("REPORT_DEVICE_ELAPSED", total,
            "differs from /requests/" + std::to_string(request) + "/device_elapsed");
      }
    };
    check_equal("/device_stage_ns/first/total", 0);
    if (!steady) return;
    check_equal("/device_stage_ns/last/total", requests.size() - 1);
    std::vector<uint64_t> values;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].at("role") == "steady") values.push_back(device_elapsed(i));
    }
    if (number("/device_stage_ns/min/total") != *std::min_element(values.begin(), values.end())) {
      add("REPORT_DEVICE_STATISTICS", "/device_stage_ns/min/total",
          "is not the minimum of the steady requests' device_elapsed");
    }
    if (number("/device_stage_ns/median/total") != median(values)) {
      add("REPORT_DEVICE_STATISTICS", "/device_stage_ns/median/total",
          "is not the lower median of the steady requests' device_elapsed");
    }
  }

  void check_device_bounds() {
    for (size_t i = 0; i < root_.at("requests").size(); ++i) {
      const std::string path = "/requests/" + std::to_string(i);
      if (device_elapsed(i) > number(path + "/resident_prove")) {
        add("REPORT_DEVICE_RESIDENT", path + "/device_elapsed", "exceeds resident_prove");
      }
    }
  }

  bool check_vector_lengths() {
    const size_t n_requests = root_.at("requests").size();
    bool ok = true;
    for (const char* block : {"counters", "transfers"}) {
      for (const auto& [key, values] : root_.at(block).items()) {
        if (values.size() == n_requests) continue;
        ok = false;
        add("REPORT_VECTOR_LENGTH", std::string("/") + block + '/' + key,
            "has " + std::to_string(values.size()) + " entries for " + std::to_string(n_requests) +
                " requests");
      }
    }
    return ok;
  }

  void check_graph_counters() {
    const bool graphs = text("/execution_mode") == execution_mode_name(ExecutionMode::kGraphs);
    for (size_t i = 0; i < root_.at("requests").size(); ++i) {
      const std::string at = '/' + std::to_string(i);
      if (graphs) {
        const uint64_t launches = number("/counters/graph_launches" + at);
        // Both are below 2^63, so the sum can't overflow.
        const uint64_t lookups =
            number("/counters/graph_cache_hits" + at) + number("/counters/graph_cache_misses" + at);
        if (launches == 0 || lookups != launches) {
          add("REPORT_GRAPH_LAUNCHES", "/counters/graph_launches" + at,
              "must be graph_cache_hits + graph_cache_misses and not 0 in graphs mode");
        }
        continue;
      }
      for (const Field<RequestCounters>& field : kCounterFields) {
        const std::string key = field.key;
        if (key.rfind("graph_", 0) == 0 && number("/counters/" + key + at) != 0) {
          add("REPORT_DIRECT_GRAPHS", "/counters/" + key + at, "must be 0 in direct mode");
        }
      }
    }
  }

  void check_topology() {
    const Json& requests = root_.at("requests");
    size_t first = 0;
    while (first < requests.size() && requests[first].at("role") != "steady") ++first;
    for (const std::string key : kTopologyKeys) {
      for (size_t i = first + 1; i < requests.size(); ++i) {
        if (number(key + '/' + std::to_string(i)) != number(key + '/' + std::to_string(first))) {
          add("REPORT_TOPOLOGY", key + '/' + std::to_string(i),
              "differs from the first steady request's, /" + std::to_string(first));
        }
      }
    }
  }

  void check_vector_sums() {
    for (size_t i = 0; i < root_.at("requests").size(); ++i) {
      const auto at = [&](const std::string& key) { return key + '/' + std::to_string(i); };
      if (number(at("/transfers/terminal_d2h_operations")) +
                  number(at("/transfers/intermediate_d2h_operations")) !=
              number(at("/transfers/d2h_operations")) ||
          number(at("/transfers/terminal_d2h_bytes")) > number(at("/transfers/d2h_bytes"))) {
        add("REPORT_D2H_SUM", at("/transfers/d2h_operations"),
            "must be terminal_d2h_operations + intermediate_d2h_operations, and terminal_d2h_bytes "
            "part of d2h_bytes");
      }
      if (number(at("/counters/cpu_fallbacks_completed")) >
          number(at("/counters/cpu_fallback_attempts"))) {
        add("REPORT_FALLBACKS", at("/counters/cpu_fallbacks_completed"),
            "exceeds cpu_fallback_attempts");
      }
    }
  }

  void check_pool() {
    const uint64_t reserved = number("/memory/pool_reserved");
    if (number("/memory/pool_used") > reserved) {
      add("REPORT_POOL_USED", "/memory/pool_used", "exceeds pool_reserved");
    }
    if (number("/memory/arena_high_water") > reserved) {
      add("REPORT_POOL_ARENA", "/memory/arena_high_water", "exceeds pool_reserved");
    }
  }

  const Json& root_;
  bool cuda_ = false;
  std::vector<ReportViolation> violations_;
  /// Pattern and first path of every null.
  std::map<std::string, std::string> nulls_;
};

/// Looks through a valid CUDA report.
class ContractReader {
 public:
  explicit ContractReader(const Json& root) : root_(root) {}

  std::vector<ContractFlag> run() {
    const Json& modules = root_.at("modules");
    for (size_t i = 0; i < modules.size(); ++i) {
      const std::string path = "/modules/" + std::to_string(i);
      const auto name = modules[i].at("name").get<std::string>();
      if (modules[i].at("kind") != "cubin") {
        flag(
            "FLAG_RUNTIME_CODE", path + "/kind",
            "module " + name + " is " + modules[i].at("kind").get<std::string>() + ", not a cubin");
      }
      if (modules[i].at("loaded_in") == load_phase_name(LoadPhase::kRequest)) {
        flag("FLAG_REQUEST_LOAD", path + "/loaded_in",
             "module " + name + " was loaded inside a request");
      }
    }
    const Json& aot = root_.at("aot");
    if (!aot.at("strict").get<bool>()) {
      flag("FLAG_NOT_STRICT", "/aot/strict", "other code than authenticated cubins was allowed");
    }
    count("FLAG_AOT_MISS", "/aot/misses", "kernels were missing from the store");
    count("FLAG_LAUNCH_FAILURE", "/aot/launch_failures", "launches failed");
    per_request("FLAG_JIT", "/counters/jit_compiles", 0, "code was compiled inside a request");
    per_request("FLAG_REQUEST_LOAD", "/counters/module_loads", 0,
                "a module was loaded inside a request");
    per_request("FLAG_CPU_FALLBACK", "/counters/cpu_fallback_attempts", 0,
                "work was moved to the CPU");
    per_request("FLAG_GRAPH_FALLBACK", "/counters/graph_fallbacks", 0,
                "a graph was replaced by direct launches");
    per_request("FLAG_TERMINAL_D2H", "/transfers/terminal_d2h_operations", 1,
                "the proof must leave the device in one copy");
    per_request("FLAG_INTERMEDIATE_D2H", "/transfers/intermediate_d2h_operations", 0,
                "data left the device before the proof");
    per_request("FLAG_STEADY_ALLOCATION", "/counters/allocations", 0,
                "a steady request allocated memory", "steady");
    return std::move(flags_);
  }

 private:
  void flag(const std::string& code, const std::string& path, const std::string& message) {
    for (const ContractFlag& f : flags_) {
      if (f.code == code) return;
    }
    flags_.push_back({code, path, message});
  }
  uint64_t number(const std::string& path) const {
    return root_.at(Json::json_pointer(path)).get<uint64_t>();
  }
  void count(const std::string& code, const std::string& path, const std::string& message) {
    if (const uint64_t n = number(path); n != 0) {
      flag(code, path, message + " (expected 0, found " + std::to_string(n) + ")");
    }
  }
  /// One flag for all requests (of one role, if given) whose value is not the expected one.
  void per_request(const std::string& code, const std::string& path, uint64_t expected,
                   const std::string& message, const std::string& role = "") {
    const Json& requests = root_.at("requests");
    size_t n = 0;
    size_t n_wrong = 0;
    std::string first;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!role.empty() && requests[i].at("role") != role) continue;
      ++n;
      const std::string at = path + '/' + std::to_string(i);
      if (number(at) == expected) continue;
      if (n_wrong++ == 0) first = at;
    }
    if (n_wrong == 0) return;
    flag(code, first,
         message + " (expected " + std::to_string(expected) + ", found " +
             std::to_string(number(first)) + "; so in " + std::to_string(n_wrong) + " of " +
             std::to_string(n) + " requests)");
  }

  const Json& root_;
  std::vector<ContractFlag> flags_;
};

}  // namespace

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

std::vector<ContractFlag> contract_flags(std::string_view text) {
  if (!check_report(text).empty()) return {};
  const Json root = Json::parse(text.begin(), text.end());
  if (root.at("backend") != "cuda") return {};
  return ContractReader(root).run();
}

}  // namespace stwo
