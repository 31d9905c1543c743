// Writes stwo_prof_counters_v1, the document that files counters and diagnoses in the ledger.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "prof/ncu/counter_set.hpp"

namespace prof {

struct DocumentEvidence {
  std::string name;
  std::optional<double> value;
  std::optional<double> threshold;
  std::string unit;
};

struct DocumentDiagnosis {
  std::string kernel;
  std::string diagnosis;   ///< "bandwidth", ..., "undetermined"
  std::string confidence;  ///< "high" or "low"
  std::optional<double> margin;
  std::vector<DocumentEvidence> evidence;
  std::vector<std::string> missing;
  std::optional<std::string> prediction;  ///< unset exactly for undetermined
};

struct DocumentWorkload {
  std::string workload_id;
  std::string statement_sha256;
  std::string config;
};

/// What the document says besides counters. Digests are SHA-256, lowercase hex.
struct DocumentFacts {
  std::string tool_version;
  std::string created_utc;           ///< YYYY-MM-DDTHH:MM:SS[.fff]Z
  std::vector<std::string> command;  ///< what was run
  std::optional<std::string> product_identity_sha256;
  std::string product_binary_sha256;
  std::string device_uuid;
  std::string device_name;
  int sm = 0;  ///< 90 for 9.0
  std::string driver_version;
  std::optional<DocumentWorkload> workload;
  std::optional<std::string> report_sha256;  ///< product report of the uninstrumented run
  std::string ncu_version;
  /// Stage of a kernel all of whose launches run in one stage; others are null.
  std::map<std::string, std::string> stages;
};

/// The document as JSON text with a final line break, same facts, same bytes. Counters that the
/// report lacks are null with a reason if a rule needs them, else left out. The ledger's own
/// reader checks the result: throws FormatError DOCUMENT_* or COUNTERS_* if a fact is not of its
/// form, and COUNTERS_LAUNCH if a launch does not tell its dynamic shared memory.
std::string counters_document(const DocumentFacts& facts, const CounterSet& counters,
                              const std::vector<DocumentDiagnosis>& diagnoses);

}  // namespace prof
