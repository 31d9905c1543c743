#include "kernels/research/research_compile.hpp"

#include <nlohmann/json.hpp>

#include "prover/errors.hpp"
#include "prover/hash/blake2s.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo::gpu {
namespace {

using Json = nlohmann::ordered_json;

Json parity_json(const ParityResult& r) {
  Json j{{"rows", r.rows}, {"mismatches", r.mismatches}};
  j["first_mismatch"] = r.first_mismatch.empty() ? Json() : Json(r.first_mismatch);
  return j;
}

/// Fields that do not apply are null, each beside its reason.
std::string identity_json(const ResearchModule& m, const ResearchRequest& request) {
  Json j;
  j["schema"] = kResearchModuleSchema;
  j["name"] = m.name;
  j["kernel"] = m.kernel;
  j["program"] = {{"digest", m.program},
                  {"columns", research_columns(request.program).size()},
                  {"operations", request.program.nodes.size()},
                  {"constraints", request.program.constraints.size()}};
  j["generator"] = {{"version", kResearchCodegenVersion}, {"threads", request.options.threads}};
  j["compiler"] = {{"name", "nvrtc"}, {"version", m.nvrtc_version}};
  j["sm"] = m.sm;
  j["source"] = {
      {"file", m.source_file()}, {"sha256", sha256_hex(m.source)}, {"bytes", m.source.size()}};
  j["cubin"] = {{"file", m.cubin_file()}, {"sha256", m.cubin_sha256}, {"bytes", m.cubin.size()}};
  if (m.resources.known) {
    j["resources"] = {{"registers", m.resources.registers},
                      {"spill_store_bytes", m.resources.spill_store_bytes},
                      {"spill_load_bytes", m.resources.spill_load_bytes}};
  } else {
    j["resources"] = nullptr;
  }
  Json parity;
  parity["seed"] = kParitySeed;
  parity["host_compiled"] = m.host ? parity_json(*m.host) : Json();
  parity["host_reason"] = m.host ? Json() : Json("the text was not compiled for the host");
  parity["device"] = m.device ? parity_json(*m.device) : Json();
  if (m.device) parity["device"]["name"] = request.device->device();
  parity["device_reason"] = m.device ? Json() : Json(m.no_device_reason);
  j["parity"] = std::move(parity);
  j["promotable"] = m.promotable;
  return j.dump(2) + "\n";
}

std::string join(const std::string& directory, const std::string& file) {
  return directory.empty() || directory.back() == '/' ? directory + file : directory + "/" + file;
}

void compare(ResearchModule& m, const ResearchRequest& request, const std::vector<uint8_t>& cubin) {
  if (request.host != nullptr) {
    m.host = check_parity(request.program,
                          [&](const ParityInput& in) { return run_host_rows(request.host, in); });
  }
  if (request.device == nullptr) {
    m.no_device_reason = "no device was asked for; a module is promotable only after one";
    return;
  }
  if (request.device->sm() != request.sm) {
    m.no_device_reason = "the device is of SM " + std::to_string(request.device->sm()) +
                         ", the cubin of SM " + std::to_string(request.sm);
    return;
  }
  m.device = check_parity(request.program, [&](const ParityInput& in) {
    return request.device->run(cubin, m.kernel, request.options.threads, in);
  });
  const bool host_failed = m.host && m.host->mismatches > 0;
  m.promotable = m.device->mismatches == 0 && m.device->rows > 0 && !host_failed;
}

}  // namespace

ResearchModule compile_research_module(const ResearchRequest& request, const Nvrtc& nvrtc) {
  ResearchModule m;
  m.name = request.options.name;
  m.kernel = research_kernel_name(m.name);
  m.sm = request.sm;
  m.source = generate_constraint_kernel(request.program, request.options);
  m.program = to_hex(request.program.digest());
  m.nvrtc_version = nvrtc.version();
  const CompiledText compiled = nvrtc.compile(m.source, m.source_file(), m.sm);
  m.cubin.assign(compiled.cubin.begin(), compiled.cubin.end());
  m.cubin_sha256 = sha256_hex(m.cubin);
  m.resources = compiled.resources;
  compare(m, request, compiled.cubin);
  m.identity = identity_json(m, request);
  return m;
}

void check_research_outputs(const std::string& name, uint32_t sm, const std::string& directory,
                            bool force, const OutputFunctions& output) {
  ResearchModule m;
  m.name = name;
  m.sm = sm;
  for (const std::string& file : {m.source_file(), m.cubin_file(), m.identity_file()}) {
    output.check(join(directory, file), force);
  }
}

std::vector<std::string> write_research_module(const ResearchModule& module,
                                               const std::string& directory, bool force,
                                               const OutputFunctions& output) {
  check_research_outputs(module.name, module.sm, directory, force, output);
  std::vector<std::string> paths;
  const auto write = [&](const std::string& file, const std::string& content) {
    paths.push_back(join(directory, file));
    output.write(paths.back(), content, force);
  };
  write(module.source_file(), module.source);
  write(module.cubin_file(), module.cubin);
  write(module.identity_file(), module.identity);
  return paths;
}

void require_parity(const ResearchModule& module) {
  const auto check = [&](const std::optional<ParityResult>& r, const char* where) {
    if (!r || r->mismatches == 0) return;
    throw Error(ExitCode::kBug, "RESEARCH_PARITY",
                module.kernel + " " + where + " differs from the CPU in " +
                    std::to_string(r->mismatches) + " of " + std::to_string(r->rows) +
                    " rows; first: " + r->first_mismatch);
  };
  check(module.host, "on the host");
  check(module.device, "on the device");
}

}  // namespace stwo::gpu
