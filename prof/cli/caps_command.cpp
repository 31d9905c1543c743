// caps: what this machine can do.

#include <filesystem>

#include "prof/caps/capabilities.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/cupti/find_cupti.hpp"
#include "prof/ncu/ncu_tool.hpp"
#include "prof/nsys/nsys_tool.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

std::string dotted_cupti_version(uint32_t version) {
  // CUPTI counts 130000 for 13.0; older ones count up from 1.
  constexpr uint32_t kFirstDotted = 100000;
  if (version < kFirstDotted) return std::to_string(version);
  constexpr uint32_t kMajor = 10000;
  constexpr uint32_t kMinor = 100;
  return std::to_string(version / kMajor) + "." + std::to_string(version % kMajor / kMinor) + "." +
         std::to_string(version % kMinor);
}

Tool probe_cupti() {
  const CuptiSearch search = find_cupti();
  Tool tool;
  tool.name = "cupti";
  try {
    const CuptiLibrary library = require_cupti(search);
    tool.usable = true;
    tool.version = Known<std::string>::of(dotted_cupti_version(library.version));
    tool.path = Known<std::string>::of(library.path);
  } catch (const stwo::EnvironmentError& e) {
    tool = Tool::unusable("cupti", e.what());
    if (search.found) {
      tool.version = Known<std::string>::of(dotted_cupti_version(search.found->version));
      tool.path = Known<std::string>::of(search.found->path);
    }
  }
  return tool;
}

Tool probe_nsys() {
  const NsysState state = find_nsys();
  Tool tool = state.usable ? Tool{} : Tool::unusable("nsys", state.reason);
  tool.name = "nsys";
  tool.usable = state.usable;
  if (state.tool) {
    tool.path = Known<std::string>::of(state.tool->path);
    tool.version = state.tool->version.empty()
                       ? Known<std::string>::unknown("it does not tell its version")
                       : Known<std::string>::of(state.tool->version);
  }
  return tool;
}

Tool locate_ncu() {
  const NcuTool found = find_ncu();
  Tool tool;
  tool.name = "ncu";
  if (!found.usable) tool = Tool::unusable("ncu", found.reason);
  tool.usable = found.usable;
  if (!found.path.empty()) tool.path = Known<std::string>::of(found.path);
  if (!found.version.empty()) tool.version = Known<std::string>::of(found.version);
  return tool;
}

}  // namespace

void add_caps_command(CLI::App& cuda, CommandRun* run) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = cuda.add_subcommand(
      "caps", "Devices, versions, which profilers work here, and could it be a judge host");
  command->add_flag("--json", *json, "one JSON object, stwo_prof_caps_v1");
  command->footer(
      "Tools are tried out: nsys has to record and export, ncu has to count one kernel.\n"
      "Examples:\n"
      "  stwo-prof cuda caps\n"
      "  stwo-prof cuda caps --json");
  command->callback([=] {
    *run = [=] {
      CapabilityProbes probes = machine_probes();
      probes.cupti = probe_cupti;
      probes.nsys = probe_nsys;
      probes.locate_ncu = locate_ncu;
      // Not the link itself: under ncu it would be ncu.
      probes.one_kernel = {std::filesystem::read_symlink("/proc/self/exe").string(), "one-kernel"};
      const Capabilities capabilities = gather_capabilities(probes);
      stwo::print(*json ? capabilities_json(capabilities) : capabilities_text(capabilities));
      return 0;
    };
  });
}

}  // namespace prof
