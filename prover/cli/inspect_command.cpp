// stwo inspect: what is in a proof file, an AIR's recorded constraints, a plan or a report.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "prover/air/air.hpp"
#include "prover/cli/arguments.hpp"
#include "prover/cli/console.hpp"
#include "prover/cli/cuda_support.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/report/report_check.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

// ---- inspect proof -----------------------------------------------------------------------------

struct InspectArguments {
  std::string file;
  StatementArguments statement;
  std::optional<std::string> config;
  std::optional<std::string> device;
  std::optional<std::string> sm;
  bool json = false;
  bool text = false;
};

size_t n_values(const auto& trees) {
  size_t n = 0;
  for (const auto& tree : trees) {
    for (const auto& column : tree) n += column.size();
  }
  return n;
}

int inspect_proof(const InspectArguments& arguments) {
  const LoadedProofFile loaded = read_proof_file(arguments.file);
  const StarkProof& p = loaded.file.proof;
  struct Tree {
    std::string root;
    size_t columns, sampled, opened, witness;
  };
  std::vector<Tree> trees;
  for (size_t t = 0; t < p.commitments.size(); ++t) {
    Tree tree{to_hex(p.commitments[t]), 0, 0, 0, 0};
    if (t < p.sampled_values.size()) {
      tree.columns = p.sampled_values[t].size();
      for (const auto& c : p.sampled_values[t]) tree.sampled += c.size();
    }
    if (t < p.queried_values.size()) {
      for (const auto& c : p.queried_values[t]) tree.opened += c.size();
    }
    if (t < p.decommitments.size()) tree.witness = p.decommitments[t].hash_witness.size();
    trees.push_back(tree);
  }
  std::vector<const FriLayerProof*> layers = {&p.fri_proof.first_layer};
  for (const FriLayerProof& l : p.fri_proof.inner_layers) layers.push_back(&l);
  const std::vector<ProofSection> sections = proof_sections(p);

  if (arguments.json) {
    Json out;
    out["schema"] = "stwo_inspect_proof_v1";
    out["statement"] = Json::parse(write_statement_json(loaded.file.statement));
    out["config"] = Json::parse(write_config_json(loaded.file.config));
    out["proof_config_equal"] = loaded.file.config == p.config;
    out["proof_bytes"] = loaded.proof_bytes;
    out["canonical_sha256"] = loaded.canonical_sha256;
    out["section_bytes"] = Json::object();
    for (const ProofSection& s : sections) out["section_bytes"][std::string(s.name)] = s.bytes;
    out["trees"] = Json::array();
    for (const Tree& t : trees) {
      out["trees"].push_back({{"root", t.root},
                              {"columns", t.columns},
                              {"sampled_values", t.sampled},
                              {"queried_values", t.opened},
                              {"hash_witness", t.witness}});
    }
    out["fri_layers"] = Json::array();
    for (const FriLayerProof* l : layers) {
      out["fri_layers"].push_back({{"root", to_hex(l->commitment)},
                                   {"fri_witness", l->fri_witness.size()},
                                   {"hash_witness", l->decommitment.hash_witness.size()}});
    }
    out["last_layer_coefficients"] = p.fri_proof.last_layer_poly.coeffs.size();
    out["proof_of_work"] = p.proof_of_work;
    print(out.dump() + "\n");
    return 0;
  }

  std::string out;
  out += "statement  " + describe_statement(loaded.file.statement) + "\n";
  out += "config     " + describe_config(loaded.file.config) + "\n";
  if (loaded.file.config != p.config) {
    out += "           differs from the proof's own: " + describe_config(p.config) + "\n";
  }
  out += "proof      " + format_count(loaded.proof_bytes) + " bytes, sha256 " +
         loaded.canonical_sha256 + "\n";
  out += "nonce      " + std::to_string(p.proof_of_work) + "\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const ProofSection& s : sections) {
    rows.push_back({std::string(s.name), format_count(s.bytes),
                    format_percent(s.bytes, loaded.proof_bytes),
                    bar(s.bytes, loaded.proof_bytes, 30)});
  }
  out += format_table({"section", ">bytes", ">share", ""}, rows) + "\n";
  rows.clear();
  for (size_t t = 0; t < trees.size(); ++t) {
    rows.push_back({"tree " + std::to_string(t), std::to_string(trees[t].columns),
                    std::to_string(trees[t].sampled), std::to_string(trees[t].opened),
                    std::to_string(trees[t].witness), trees[t].root});
  }
  for (size_t l = 0; l < layers.size(); ++l) {
    rows.push_back({"FRI layer " + std::to_string(l), "", "",
                    std::to_string(layers[l]->fri_witness.size()),
                    std::to_string(layers[l]->decommitment.hash_witness.size()),
                    to_hex(layers[l]->commitment)});
  }
  out += format_table({"commitment", ">columns", ">sampled", ">opened", ">hashes", "root"}, rows);
  out += "last layer: " + std::to_string(p.fri_proof.last_layer_poly.coeffs.size()) +
         " coefficients\nThis shows what the file holds; `stwo verify` says whether it is true.\n";
  print(out);
  return 0;
}

// ---- inspect program ---------------------------------------------------------------------------

/// A statement comes from a proof file or from options, never from both.
void check_one_source(const InspectArguments& arguments, const std::string& command) {
  if (arguments.file.empty() == !arguments.statement.given()) {
    throw UsageError("USAGE", command + " needs either a proof file or --air; give one of them");
  }
}

int inspect_program(const InspectArguments& arguments) {
  Statement statement;
  check_one_source(arguments, "inspect program");
  if (arguments.statement.given()) {
    statement = arguments.statement.statement();
  } else {
    statement = read_proof_file(arguments.file).file.statement;
    check_file_statement(arguments.file, statement);
  }
  const auto instance = AirRegistry::global().find(statement.air).instantiate(statement);

  Json list = Json::array();
  std::string text = "statement  " + describe_statement(statement) + "\n\n";
  std::vector<std::vector<std::string>> rows;
  std::string listings;
  for (const auto& component : instance->components()) {
    const ConstraintProgram program = component->record();
    program.check();
    const std::string digest = to_hex(program.digest());
    std::map<std::string, uint64_t> operations;
    for (const ProgramNode& node : program.nodes)
      ++operations[std::string(program_op_name(node.op))];
    const ScriptInfo& info = component->info();
    if (arguments.json) {
      Json j;
      j["component"] = component->name();
      j["enabled"] = component->enabled();
      j["log_size"] = component->log_size();
      j["log_degree_bound"] = component->log_degree_bound();
      j["columns"] = program.n_columns;
      j["preprocessed"] = program.preprocessed_ids;
      j["constraints"] = program.constraints.size();
      j["degrees"] = info.constraint_degrees;
      j["max_degree"] = info.max_degree();
      j["nodes"] = program.nodes.size();
      j["operations"] = operations;
      j["digest"] = digest;
      if (arguments.text) j["text"] = program.to_text();
      list.push_back(std::move(j));
      continue;
    }
    std::string columns;
    for (size_t t = 1; t < program.n_columns.size(); ++t) {
      columns += (t == 1 ? "" : "+") + std::to_string(program.n_columns[t]);
    }
    rows.push_back({component->name() + (component->enabled() ? "" : " (disabled)"),
                    std::to_string(component->log_size()), columns,
                    std::to_string(program.constraints.size()), std::to_string(info.max_degree()),
                    std::to_string(program.nodes.size()), digest});
    listings += "\n" + component->name() + ":";
    for (const auto& [name, count] : operations) {
      listings += " " + name + " " + std::to_string(count) + ",";
    }
    listings.back() = '\n';
    if (arguments.text) listings += program.to_text();
  }
  if (arguments.json) {
    print(Json{{"schema", "stwo_inspect_program_v1"},
               {"statement", Json::parse(write_statement_json(statement))},
               {"components", list}}
              .dump() +
          "\n");
    return 0;
  }
  text += format_table({"component", ">log size", ">columns", ">constraints", ">degree", ">nodes",
                        "digest (Blake2s)"},
                       rows);
  print(text + listings);
  return 0;
}

// ---- inspect plan ------------------------------------------------------------------------------

std::shared_ptr<const ProofShape> shape_to_plan(const InspectArguments& arguments) {
  if (arguments.statement.given()) {
    return make_shape(arguments.statement.statement(),
                      parse_config(arguments.config.value_or("secure")));
  }
  if (arguments.config) {
    throw UsageError("USAGE", "--config belongs to --air; a proof file has its own config");
  }
  const ProofFile file = read_proof_file(arguments.file).file;
  check_file_statement(arguments.file, file.statement);
  try {
    return make_shape(file.statement, file.config);
  } catch (const UsageError& e) {
    throw FormatError("PROOF_STATEMENT", "proof file " + arguments.file + ": " + e.what());
  }
}

int inspect_plan_command(const InspectArguments& arguments) {
  check_one_source(arguments, "inspect plan");
  PlanTarget target;
  if (arguments.device && arguments.sm) {
    throw UsageError("USAGE", "--device and --sm exclude each other; a device has its own SM");
  }
  if (arguments.device) target.device = parse_device(*arguments.device);
  if (arguments.sm) target.described_sm = parse_sm(*arguments.sm);
  const std::shared_ptr<const ProofShape> shape = shape_to_plan(arguments);
  print(inspect_plan(shape, target, arguments.json));
  return 0;
}

// ---- inspect report ----------------------------------------------------------------------------

/// Device, kernels and work of a valid CUDA report.
std::string device_summary(const Json& report, size_t shown_request) {
  const auto text = [&](const std::string& pointer) {
    const Json& value = report.at(Json::json_pointer(pointer));
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  const auto of_request = [&](const std::string& vector) {
    return report.at(Json::json_pointer(vector)).at(shown_request).get<uint64_t>();
  };
  const auto bytes = [&](const std::string& pointer) {
    return format_bytes(report.at(Json::json_pointer(pointer)).get<uint64_t>());
  };
  std::string out;
  out += "device     " + text("/device/name") + " (" + text("/device/uuid") + "), SM " +
         text("/device/sm_major") + "." + text("/device/sm_minor") + ", driver " +
         text("/device/driver_version") + ", nvcc " + text("/identity/nvcc_version") + "\n";
  out += "code       " + std::to_string(report.at("modules").size()) + " modules, strict " +
         text("/aot/strict") + ", execution " + text("/execution_mode") + "\n";
  const auto copies = [&](const std::string& direction) {
    return std::to_string(of_request("/transfers/" + direction + "_operations")) + " (" +
           format_bytes(of_request("/transfers/" + direction + "_bytes")) + ")";
  };
  out += "launches   " + std::to_string(of_request("/counters/kernel_launches")) + " kernels, " +
         std::to_string(of_request("/counters/graph_launches")) + " graphs, " +
         std::to_string(of_request("/counters/sync_calls")) +
         " synchronisations; the plan's least " + text("/plan/predicted_minimum_launches") + "\n";
  out += "transfers  " + copies("h2d") + " to the device, " + copies("d2h") + " back, " +
         copies("d2d") + " on it\n";
  out += "memory     " + bytes("/memory/accounted_peak") + " at peak, pool " +
         bytes("/memory/pool_used") + " of " + bytes("/memory/pool_reserved") + ", device has " +
         bytes("/memory/capacity") + "\n";
  return out;
}

/// The reader's view of a valid report.
std::string report_summary(const Json& report) {
  const auto text = [&](const char* pointer) {
    const Json& value = report.at(Json::json_pointer(pointer));
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  const bool cuda = report.at("backend") == "cuda";
  const Json& requests = report.at("requests");
  std::string out;
  out += "workload   " + text("/statement/workload_id") + " (" +
         text("/statement/structural_class") + "), config " + text("/statement/config") + "\n";
  out += "backend    " + text("/backend") + (cuda ? ", host " : ": ") +
         text("/cpu/instruction_set") + "; " + text("/cpu/model_name") + "\n";
  // Counters of the last request: a steady one where there are any.
  if (cuda) out += device_summary(report, requests.size() - 1);
  out += "source     " + text("/identity/source_commit") + ", dirty " + text("/identity/dirty") +
         ", " + text("/identity/build_type") + ", " + text("/identity/host_compiler") + "\n";
  out += "proof      " + text("/proof/canonical_bytes") + " bytes, sha256 " +
         text("/proof/canonical_sha256") + ", verified " + text("/proof/verified") + "\n";
  out += "verdicts   " +
         (report.at("eligible_for_cuda_verdict").get<bool>()
              ? std::string("eligible")
              : "not eligible: " + text("/ineligible_reason")) +
         "\n\n";
  const Json& stages = report.at(cuda ? "device_stage_ns" : "stage_ns");
  const bool steady = !stages.at("median").is_null();
  const Json& shown = steady ? stages.at("median") : stages.at("first");
  std::vector<std::vector<std::string>> rows;
  const auto total = shown.at("total").get<uint64_t>();
  for (const auto& [stage, value] : shown.items()) {
    const auto ns = value.get<uint64_t>();
    rows.push_back({stage, format_ms(ns), format_percent(ns, total),
                    stage == "total" ? "" : bar(ns, total, 30)});
  }
  out += format_table({std::string(steady ? "stage (median of steady" : "stage (first request") +
                           (cuda ? ", device time)" : ")"),
                       ">ms", ">share", ""},
                      rows);
  out += "\n";
  rows.clear();
  std::vector<std::string> header = {">request", "role",    ">prove ms",        ">encode",
                                     ">decode",  ">verify", ">verified request"};
  if (cuda) header.insert(header.begin() + 3, {">device", ">host gap"});
  for (const Json& r : requests) {
    const auto ms = [&](const char* key) { return format_ms(r.at(key).get<uint64_t>()); };
    std::vector<std::string> row = {r.at("ordinal").dump(), r.at("role").get<std::string>(),
                                    ms("resident_prove"),   ms("encode"),
                                    ms("terminal_decode"),  ms("independent_verification"),
                                    ms("verified_request")};
    if (cuda) {
      // A valid report's device time lies within the resident time.
      const uint64_t gap =
          r.at("resident_prove").get<uint64_t>() - r.at("device_elapsed").get<uint64_t>();
      row.insert(row.begin() + 3, {ms("device_elapsed"), format_ms(gap)});
    }
    rows.push_back(std::move(row));
  }
  return out + format_table(header, rows);
}

/// One line per broken rule or flag.
template <class Item>
std::string item_lines(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) {
    out += item.code + " " + (item.path.empty() ? "(whole report)" : item.path) + ": " +
           one_line(item.message) + "\n";
  }
  return out;
}
template <class Item>
Json item_list(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) {
    list.push_back({{"code", item.code}, {"path", item.path}, {"message", one_line(item.message)}});
  }
  return list;
}

int inspect_report(const InspectArguments& arguments) {
  const std::string text = read_input_file(arguments.file, "report", kMaxReportBytes);
  const std::vector<ReportViolation> violations = check_report(text);
  const std::vector<ContractFlag> flags = contract_flags(text);
  if (arguments.json) {
    print(Json{{"schema", "stwo_inspect_report_v1"},
               {"valid", violations.empty()},
               {"violations", item_list(violations)},
               {"contract_flags", item_list(flags)}}
              .dump(-1, ' ', false, Json::error_handler_t::replace) +
          "\n");
  } else if (violations.empty()) {
    const Json report = Json::parse(text);
    std::string out = report_summary(report) + "\n";
    if (!flags.empty()) {
      out += "flags: " + std::to_string(flags.size()) + " things a production run must not do\n" +
             item_lines(flags);
    } else if (report.at("backend") == "cuda") {
      out += "flags: none\n";
    }
    print(out + "valid: all rules of " + std::string(kProductReportSchema) + " hold\n");
  } else {
    print("invalid: " + std::to_string(violations.size()) + " violations\n" +
          item_lines(violations));
  }
  return static_cast<int>(violations.empty() ? ExitCode::kDone : ExitCode::kInvalidEvidence);
}

}  // namespace

void add_inspect_command(CLI::App& app, CommandRun* run) {
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Show what is in a proof file, a constraint program, a plan or a report");
  inspect->require_subcommand(1);
  inspect->footer(
      "Examples:\n"
      "  stwo inspect proof proof.json\n"
      "  stwo inspect program proof.json --text\n"
      "  stwo inspect plan proof.json\n"
      "  stwo inspect report report.json");

  const auto add = [&](const char* name, const char* help, auto action) {
    auto arguments = std::make_shared<InspectArguments>();
    CLI::App* command = inspect->add_subcommand(name, help);
    command->add_flag("--json", arguments->json, "one JSON object instead of text");
    command->callback([=] { *run = [=] { return action(*arguments); }; });
    return std::make_pair(command, arguments);
  };

  auto [proof, proof_arguments] =
      add("proof", "Statement, config, sizes and roots of a proof file", inspect_proof);
  proof->add_option("file", proof_arguments->file, "proof file")->required()->option_text("FILE");
  proof->footer(
      "Examples:\n  stwo inspect proof proof.json\n  stwo inspect proof proof.json --json");

  auto [program, program_arguments] =
      add("program", "Recorded constraints of a statement's components", inspect_program);
  program->add_option("file", program_arguments->file, "proof file whose statement to record")
      ->option_text("FILE");
  program->add_flag("--text", program_arguments->text, "list every node");
  program_arguments->statement.add_to(*program, false);
  program->footer(
      "Examples:\n"
      "  stwo inspect program proof.json\n"
      "  stwo inspect program --air wide_fibonacci --log-n-rows 4 --sequence-len 5 --text");

  auto [plan, plan_arguments] =
      add("plan", "Plan of a statement on a CUDA device: launches, passes, memory",
          inspect_plan_command);
  plan->add_option("file", plan_arguments->file, "proof file whose statement to plan")
      ->option_text("FILE");
  plan_arguments->statement.add_to(*plan, false);
  plan->add_option("--config", plan_arguments->config,
                   "with --air: secure (default), fast or "
                   "pow=,blowup=,queries=,last=,fold=,lift=")
      ->option_text("CONFIG");
  plan->add_option("--device", plan_arguments->device, "number of the device, default 0")
      ->option_text("N");
  plan->add_option("--sm", plan_arguments->sm,
                   "plan for a device of this compute capability, 90 for 9.0; none has to be there")
      ->option_text("XX");
  plan->footer(
      "Examples:\n"
      "  stwo inspect plan proof.json\n"
      "  stwo inspect plan proof.json --device 1 --json\n"
      "  stwo inspect plan --air wide_fibonacci --log-n-rows 20 --sequence-len 100 --config fast "
      "\\\n"
      "      --sm 90");

  auto [report, report_arguments] =
      add("report", "Check a product report, show its times and flags", inspect_report);
  report->add_option("file", report_arguments->file, "report written by `stwo prove --report-out`")
      ->required()
      ->option_text("FILE");
  report->footer(
      "Exit codes: 0 valid, 3 broken rules. Flags are things a production run on a device must not "
      "do;\nthey do not make a report invalid.\n"
      "Examples:\n"
      "  stwo inspect report report.json\n"
      "  stwo inspect report report.json --json");
}

}  // namespace stwo
