#include "ledger/cli/record_options.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ledger/cli/arguments.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::pair<std::string, std::string> split_at_equals(const std::string& option,
                                                    const std::string& text,
                                                    const std::string& what) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw stwo::UsageError("USAGE", option + " is '" + text + "'; write FIELD=" + what);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string read_field_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) {
    throw stwo::UsageError("RECORD_SOURCE", "file " + path + " can't be read; name a readable one");
  }
  return std::move(text).str();
}

}  // namespace

void RecordOptions::add_to(CLI::App& command, RecordKind kind) {
  command.add_option("--title", title, "one line")->option_text("TEXT");
  command.add_option("--slug", slug, "short name: lower-case letters, digits, hyphens")
      ->option_text("NAME");
  command.add_option("--number", number, "number of its folder; default: given at the export")
      ->option_text("N");
  add_fields(command);
  if (kind == RecordKind::kExperiment) {
    add_repeatable(command, "--predict", predict,
                   "KIND: QUANTITY RELATION NUMBER UNIT [of baseline]; may be repeated, replaces "
                   "the whole prediction")
        ->option_text("TEXT");
  }
}

void RecordOptions::add_fields(CLI::App& command) {
  add_repeatable(command, "--set", set, "text of a field; may be repeated")
      ->option_text("FIELD=TEXT");
  add_repeatable(command, "--file", file, "text of a field from a file; may be repeated")
      ->option_text("FIELD=PATH");
}

FieldTexts RecordOptions::fields(RecordKind kind) const {
  FieldTexts out;
  const auto put = [&](const std::string& name, std::string text) {
    const std::string column(require_field(kind, name).column);
    if (!out.emplace(column, std::move(text)).second) {
      throw stwo::UsageError("USAGE", "field '" + name + "' is given twice; give it once");
    }
  };
  for (const std::string& s : set) {
    auto [name, text] = split_at_equals("--set", s, "TEXT");
    put(name, std::move(text));
  }
  for (const std::string& f : file) {
    const auto [name, path] = split_at_equals("--file", f, "PATH");
    put(name, read_field_file(path));
  }
  return out;
}

std::optional<int64_t> RecordOptions::number_value() const {
  if (!number) return std::nullopt;
  return static_cast<int64_t>(parse_number("--number", *number, 1, kMaxRecordNumber));
}

std::optional<Prediction> RecordOptions::prediction() const {
  if (predict.empty()) return std::nullopt;
  std::string lines;
  for (const std::string& p : predict) lines += p + "\n";
  return parse_prediction(lines);
}

RecordChanges RecordOptions::changes(RecordKind kind) const {
  return {title, slug, number_value(), fields(kind), prediction()};
}

nlohmann::ordered_json record_json(const Record& r) {
  Json fields = Json::object();
  for (const RecordField& f : record_form(r.kind).fields) {
    if (f.prediction) continue;
    fields[std::string(f.column)] = text_or_null(r.field(f.column));
  }
  Json links = Json::array();
  for (const RecordLink& l : r.links) {
    links.push_back({{"role", l.role},
                     {"target_kind", l.target_kind},
                     {"target_id", l.target_id},
                     {"note", text_or_null(l.note)},
                     {"link_id", text_or_null(l.link_id)}});
  }
  Json out = {{"schema", "stwo_ledger_record_v1"},
              {"kind", record_form(r.kind).table},
              {"id", r.id},
              {"revision", r.revision},
              {"number", r.number ? Json(*r.number) : Json(nullptr)},
              {"slug", r.slug},
              {"title", r.title},
              {"state", record_state_word(r.state)},
              {"recorded_utc", r.recorded_utc},
              {"fields", std::move(fields)}};
  if (r.kind == RecordKind::kExperiment) out["prediction"] = prediction_to_json(r.prediction);
  out["decision"] = text_or_null(r.decision);
  out["decision_reason"] = text_or_null(r.decision_reason);
  out["no_verdict_reason"] = text_or_null(r.no_verdict_reason);
  out["correction"] = text_or_null(r.correction);
  out["links"] = std::move(links);
  return out;
}

std::string record_summary(const Record& r) {
  std::string out = std::string(record_form(r.kind).table) + " " + r.id + " " + r.slug + ": " +
                    std::string(record_state_word(r.state));
  if (!r.decision.empty()) out += ", " + r.decision;
  if (!r.links.empty()) {
    out += ", " + std::to_string(r.links.size()) + (r.links.size() == 1 ? " link" : " links");
  }
  return out + "\n";
}

}  // namespace ledger
