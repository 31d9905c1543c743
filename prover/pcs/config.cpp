#include "prover/pcs/config.hpp"

#include <charconv>

#include "prover/errors.hpp"

namespace stwo {
namespace {

struct Range {
  const char* key;
  const char* meaning;
  uint32_t min;
  uint32_t max;
};

constexpr Range kPow{"pow", "proof-of-work bits", 0, 32};
constexpr Range kBlowup{"blowup", "log2 of the blowup factor", 1, 16};
constexpr Range kQueries{"queries", "number of FRI queries", 1, 4096};
constexpr Range kLast{"last", "log2 of the last layer's degree bound", 0, 10};
constexpr Range kFold{"fold", "FRI fold step", 1, 16};
constexpr Range kLift{"lift", "lifting log size", 1, 30};

[[noreturn]] void fail(const std::string& message) { throw UsageError("CONFIG", message); }

void check_range(const Range& r, uint64_t value) {
  if (value < r.min || value > r.max) {
    fail(std::string("config: ") + r.key + " (" + r.meaning + ") is " + std::to_string(value) +
         "; it must be between " + std::to_string(r.min) + " and " + std::to_string(r.max));
  }
}

uint32_t parse_number(const Range& r, std::string_view text) {
  uint32_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || text.empty()) {
    fail(std::string("config: ") + r.key + " has the value '" + std::string(text) +
         "'; give a whole number between " + std::to_string(r.min) + " and " +
         std::to_string(r.max));
  }
  check_range(r, value);
  return value;
}

}  // namespace

void PcsConfig::mix_into(Channel& channel) const {
  const QM31 felts[2] = {QM31::from_u32(pow_bits, fri.log_blowup_factor, fri.n_queries,
                                        fri.log_last_layer_degree_bound),
                         QM31::from_u32(fri.fold_step, lifting_log_size.value_or(0), 0, 0)};
  channel.mix_felts(felts);
}

PcsConfig fast_config() { return {}; }

PcsConfig secure_config() {
  PcsConfig c;
  c.pow_bits = 26;
  c.fri.n_queries = 70;
  return c;
}

void check_config(const PcsConfig& c) {
  check_range(kPow, c.pow_bits);
  check_range(kBlowup, c.fri.log_blowup_factor);
  check_range(kQueries, c.fri.n_queries);
  check_range(kLast, c.fri.log_last_layer_degree_bound);
  check_range(kFold, c.fri.fold_step);
  if (c.lifting_log_size) check_range(kLift, *c.lifting_log_size);
}

PcsConfig parse_config(std::string_view text) {
  if (text == "fast") return fast_config();
  if (text == "secure") return secure_config();
  PcsConfig c = fast_config();
  if (text.find('=') == std::string_view::npos) {
    fail("config: '" + std::string(text) +
         "' is unknown; use fast, secure or pow=,blowup=,queries=,last=,fold=,lift=");
  }
  bool seen[6] = {};
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t eq = item.find('=');
    if (eq == std::string_view::npos) {
      fail("config: '" + std::string(item) + "' is not of the form key=value");
    }
    const std::string_view key = item.substr(0, eq);
    const std::string_view value = item.substr(eq + 1);
    int which = -1;
    if (key == kPow.key) {
      c.pow_bits = parse_number(kPow, value), which = 0;
    } else if (key == kBlowup.key) {
      c.fri.log_blowup_factor = parse_number(kBlowup, value), which = 1;
    } else if (key == kQueries.key) {
      c.fri.n_queries = parse_number(kQueries, value), which = 2;
    } else if (key == kLast.key) {
      c.fri.log_last_layer_degree_bound = parse_number(kLast, value), which = 3;
    } else if (key == kFold.key) {
      c.fri.fold_step = parse_number(kFold, value), which = 4;
    } else if (key == kLift.key) {
      which = 5;
      if (value == "none") {
        c.lifting_log_size.reset();
      } else {
        c.lifting_log_size = parse_number(kLift, value);
      }
    } else {
      fail("config: unknown key '" + std::string(key) +
           "'; the keys are pow, blowup, queries, last, fold and lift");
    }
    if (seen[which]) fail("config: key '" + std::string(key) + "' is given twice");
    seen[which] = true;
  }
  return c;
}

std::string config_to_string(const PcsConfig& c) {
  return "pow=" + std::to_string(c.pow_bits) +
         ",blowup=" + std::to_string(c.fri.log_blowup_factor) +
         ",queries=" + std::to_string(c.fri.n_queries) +
         ",last=" + std::to_string(c.fri.log_last_layer_degree_bound) +
         ",fold=" + std::to_string(c.fri.fold_step) + ",lift=" +
         (c.lifting_log_size ? std::to_string(*c.lifting_log_size) : std::string("none"));
}

std::string_view config_name(const PcsConfig& c) {
  if (c == fast_config()) return "fast";
  if (c == secure_config()) return "secure";
  return "custom";
}

}  // namespace stwo
