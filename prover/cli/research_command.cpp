// stwo research: compiles a component's constraints at run time, to try a new AIR or a new schedule
// on a device before its kernels are built ahead of time. Never part of a proof.

#include <algorithm>

#include "prover/air/air.hpp"
#include "prover/cli/arguments.hpp"
#include "prover/cli/cuda_support.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

struct CompileArguments {
  StatementArguments statement;
  std::string component;
  std::string sm;
  std::string output;
  std::string nvrtc;
  std::optional<std::string> device;
  bool force = false;
  bool json = false;
};

void check_component(const Statement& statement, const std::string& name) {
  const auto instance = AirRegistry::global().find(statement.air).instantiate(statement);
  std::string names;
  for (const auto& component : instance->components()) {
    if (component->name() == name) return;
    names += (names.empty() ? "" : ", ") + component->name();
  }
  throw UsageError("COMPONENT", "component '" + name + "' is not part of " + statement.air +
                                    "; its components are " + names);
}

int run_compile(const CompileArguments& arguments) {
  ResearchCompileOptions options;
  options.statement = arguments.statement.statement();
  check_component(options.statement, arguments.component);
  options.component = arguments.component;
  options.sm = parse_sm(arguments.sm);
  if (arguments.device) options.device = parse_device(*arguments.device);
  check_output_directory(arguments.output);
  options.output = arguments.output;
  options.force = arguments.force;
  options.nvrtc = arguments.nvrtc;
  options.json = arguments.json;
  return run_research_compile(options);
}

}  // namespace

void add_research_command(CLI::App& app, CommandRun* run) {
  CLI::App* research = app.add_subcommand(
      "research", "Compile kernels at run time, for experiments outside a proof");
  research->require_subcommand(1);
  research->footer(
      "Examples:\n"
      "  stwo research compile --air wide_fibonacci --log-n-rows 10 --sequence-len 100 \\\n"
      "      --component wide_fibonacci --sm 90 --output kernels/");

  auto a = std::make_shared<CompileArguments>();
  CLI::App* command = research->add_subcommand(
      "compile", "Compile one component's constraints for one SM with NVRTC");
  a->statement.add_to(*command, true);
  command->add_option("--component", a->component, "component (see `stwo inspect program`)")
      ->required()
      ->option_text("NAME");
  command->add_option("--sm", a->sm, "compute capability to compile for, 90 for 9.0")
      ->required()
      ->option_text("XX");
  command->add_option("--output", a->output, "existing directory for source, cubin and identity")
      ->required()
      ->option_text("DIR");
  command->add_option("--nvrtc", a->nvrtc, "NVRTC library, default the system's")
      ->option_text("PATH");
  command
      ->add_option("--device", a->device,
                   "also run the kernel on this device and compare it with the CPU")
      ->option_text("N");
  command->add_flag("--force", a->force, "replace existing outputs");
  command->add_flag("--json", a->json, "one JSON object instead of text");
  command->footer(
      "Nothing made here is loaded by `stwo prove`: kernels enter a proof through the build.\n"
      "Examples:\n"
      "  stwo research compile --air wide_fibonacci --log-n-rows 10 --sequence-len 100 \\\n"
      "      --component wide_fibonacci --sm 90 --output kernels/\n"
      "  stwo research compile --air wide_fibonacci --log-n-rows 10 --sequence-len 100 \\\n"
      "      --component wide_fibonacci --sm 90 --output kernels/ --force --device 0");
  command->callback([=] { *run = [=] { return run_compile(*a); }; });
}

}  // namespace stwo
