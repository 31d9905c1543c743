// The `stwo` program.

#include <nlohmann/json.hpp>

#include "prover/cli/arguments.hpp"
#include "prover/cli/build_info.hpp"
#include "prover/cli/error_codes.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/cli/tool_main.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

std::string version_text(bool json) {
  const BuildIdentity b = build_identity();
  if (json) {
    const auto value = [](const auto& v) { return v ? Json(*v) : Json(nullptr); };
    return Json{{"schema", "stwo_version_v1"},     {"version", b.product_version},
                {"protocol", kProtocolCrate},      {"source_commit", value(b.source_commit)},
                {"dirty", value(b.dirty)},         {"build_type", b.build_type},
                {"host_compiler", b.host_compiler}}
               .dump() +
           "\n";
  }
  std::string out =
      "stwo " + b.product_version + ", proofs of " + std::string(kProtocolCrate) + "\n";
  out += "source " + b.source_commit.value_or("unknown");
  if (b.dirty.value_or(false)) out += " with changes";
  return out + "\nbuilt " + b.build_type + " with " + b.host_compiler + "\n";
}

void add_commands(CLI::App& app, CommandRun* run) {
  add_prove_command(app, run);
  add_verify_command(app, run);
  add_inspect_command(app, run);
  add_airs_command(app, run);
  add_research_command(app, run);
}

}  // namespace
}  // namespace stwo

int main(int argc, char** argv) {
  using namespace stwo;
  process_start() = {steady_ns(), ns_since_process_start()};
  return run_tool(
      {"stwo", "Circle-STARK prover and verifier; proofs are byte-identical with the stwo crate's",
       "Exit codes: 0 done, 1 valid negative result, 2 usage, 3 invalid file, 4 environment,\n"
       "5 refused (output exists), 70 our bug.\n"
       "Examples:\n"
       "  stwo prove --air wide_fibonacci --log-n-rows 10 --sequence-len 100 --output proof.json\n"
       "  stwo verify proof.json\n"
       "  stwo inspect proof proof.json\n"
       "  stwo airs",
       "version, source revision and compiler", add_commands, list_codes, version_text},
      argc, argv);
}
