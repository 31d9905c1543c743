// Options that fill an experiment or a brief, and how records are printed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ledger/records/record_store.hpp"

namespace ledger {

/// --title, --slug, --number, --set, --file, --predict.
struct RecordOptions {
  std::optional<std::string> title;
  std::optional<std::string> slug;
  std::optional<std::string> number;
  std::vector<std::string> set;
  std::vector<std::string> file;
  std::vector<std::string> predict;

  void add_to(CLI::App& command, RecordKind kind);
  /// Only --set and --file.
  void add_fields(CLI::App& command);

  /// What was given, checked as far as that needs no ledger. Throw UsageError USAGE (no
  /// FIELD=TEXT, a field twice), NUMBER, RECORD_FIELD, RECORD_SOURCE, PREDICTION_*.
  FieldTexts fields(RecordKind kind) const;
  std::optional<int64_t> number_value() const;
  std::optional<Prediction> prediction() const;
  RecordChanges changes(RecordKind kind) const;
};

/// Schema "stwo_ledger_record_v1"; a text that says nothing is null.
nlohmann::ordered_json record_json(const Record& record);
/// One line that says where the record stands.
std::string record_summary(const Record& record);

}  // namespace ledger
