// stwo airs: the AIRs linked into this program.

#include <nlohmann/json.hpp>

#include "prover/air/air.hpp"
#include "prover/cli/arguments.hpp"
#include "prover/cli/terminal.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

int list_airs_as_json() {
  Json list = Json::array();
  for (const auto& air : AirRegistry::global().airs()) {
    Json parameters = Json::array();
    for (const AirParameter& p : air->parameters()) {
      parameters.push_back({{"name", p.name},
                            {"min", p.min},
                            {"max", p.max},
                            {"default", p.default_value ? Json(*p.default_value) : Json(nullptr)},
                            {"help", p.help}});
    }
    list.push_back(
        {{"name", air->name()}, {"summary", air->summary()}, {"parameters", parameters}});
  }
  print(Json{{"schema", "stwo_airs_v1"}, {"airs", list}}.dump() + "\n");
  return 0;
}

int list_airs() {
  std::string out;
  for (const auto& air : AirRegistry::global().airs()) {
    std::vector<std::vector<std::string>> rows;
    for (const AirParameter& p : air->parameters()) {
      rows.push_back({"  " + p.name, std::to_string(p.min) + ".." + std::to_string(p.max),
                      p.default_value ? std::to_string(*p.default_value) : "required", p.help});
    }
    if (!out.empty()) out += '\n';
    out += std::string(air->name()) + ": " + std::string(air->summary()) + "\n";
    out += format_table({"  parameter", "range", "default", "meaning"}, rows);
  }
  print(out);
  return 0;
}

}  // namespace

void add_airs_command(CLI::App& app, CommandRun* run) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("airs", "List the AIRs and their parameters");
  command->add_flag("--json", *json, "one JSON object instead of text");
  command->footer("Examples:\n  stwo airs\n  stwo airs --json");
  command->callback([=] { *run = [=] { return *json ? list_airs_as_json() : list_airs(); }; });
}

}  // namespace stwo
