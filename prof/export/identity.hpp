// What a measurement belongs to, and where two of them differ in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/documents/document.hpp"

namespace prof {

/// Facts by field; a field that is not there is not known. The fields, in the order in which they
/// are shown, are those of identity_rules().
using Identity = std::map<std::string, std::string, std::less<>>;

/// What a difference in a field means for a comparison.
enum class Weight : uint8_t {
  kMustMatch,  ///< another device, driver or workload: the numbers are about different things
  kNamed,      ///< a different product is what one compares; other evidence is a caution
};

struct IdentityRule {
  std::string_view name;
  Weight weight;
  std::string_view meaning;  ///< of a difference, for people
};
const std::vector<IdentityRule>& identity_rules();

/// What a capture says about itself: devices that worked, driver, workload, product, recorder,
/// evidence, number of requests, digests of its modules. A capture that names a product report
/// leaves most of this to the report: the caller may add what the report says.
Identity capture_identity(ledger::Database& trace);

/// The same of a document stwo_prof_counters_v1.
Identity counters_identity(const ledger::Json& document);

enum class Agreement : uint8_t { kSame, kDifferent, kUnknown };
/// "same", "different", "unknown".
std::string_view agreement_name(Agreement agreement);

struct FieldDrift {
  std::string field;
  std::optional<std::string> baseline;
  std::optional<std::string> candidate;
  Agreement agreement = Agreement::kUnknown;
  bool must_match = false;
  std::string meaning;  ///< empty where they agree
};

enum class Comparability : uint8_t {
  kComparable,
  kUnknown,        ///< a field that must match is not known on both sides
  kNotComparable,  ///< a field that must match differs
};
/// "comparable", "unknown", "not_comparable".
std::string_view comparability_name(Comparability comparability);

struct IdentityDiff {
  Comparability comparability = Comparability::kUnknown;
  std::vector<FieldDrift> fields;  ///< those known on at least one side, or that must match
};
IdentityDiff compare_identities(const Identity& baseline, const Identity& candidate);

/// One line about the outcome, e.g. "NOT COMPARABLE: device differs".
std::string comparability_line(const IdentityDiff& diff);

}  // namespace prof
