#include "kernels/plan/cuda_plan.hpp"

#include <algorithm>

#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo::gpu {

std::string_view region_name(Region region) {
  switch (region) {
    case Region::kTables: return "tables";
    case Region::kShape: return "shape";
    case Region::kConstants: return "constants";
    case Region::kArena: return "arena";
    case Region::kTerminal: return "terminal";
  }
  return "";
}

ResourceRecord region_rules(Region region) {
  ResourceRecord r;
  r.stream = "main";
  switch (region) {
    case Region::kTables:
      r.lifetime = ResourceLifetime::kPersistent;
      r.owner = "runtime";
      r.unwind_path = "kept; freed with the runtime";
      r.eviction_rule = "replaced by larger tables; freed when no prepared shape holds them";
      break;
    case Region::kShape:
    case Region::kConstants:
      r.lifetime = ResourceLifetime::kShape;
      r.owner = "prepared shape";
      r.unwind_path = "kept; freed with the prepared shape";
      r.eviction_rule = "least recently used prepared shape that nobody holds";
      break;
    case Region::kArena:
    case Region::kTerminal:
      r.lifetime =
          region == Region::kArena ? ResourceLifetime::kRequest : ResourceLifetime::kTerminalHost;
      r.is_mutable = true;
      r.alias_eligible = region == Region::kArena;
      r.owner = "proof session";
      r.unwind_path = "returned to the prepared shape when the session ends";
      r.eviction_rule = "with its prepared shape";
      break;
  }
  return r;
}

std::vector<ResourceRecord> CudaPlan::resources() const {
  std::vector<ResourceRecord> out;
  for (const PlanBuffer& b : buffers) {
    ResourceRecord r = region_rules(b.region);
    r.name = b.name;
    r.bytes = b.bytes;
    r.alignment = b.alignment;
    // What no launch of the plan writes comes from the host, but for the resident tables.
    const char* maker = b.region == Region::kTables ? "make_tables" : "host";
    r.producer = b.producer.empty() ? maker : b.producer;
    r.last_consumer = b.last_consumer.empty() ? "none" : b.last_consumer;
    r.last_use_event = "launch " + std::to_string(b.last_launch);
    r.cache_key = cache_key;
    out.push_back(std::move(r));
  }
  return out;
}

uint32_t CudaPlan::table_index(uint32_t buffer) const {
  uint32_t index = 0;
  for (uint32_t i = 0; i < buffer; ++i) index += buffers[i].region == Region::kTables;
  return index;
}

std::vector<PassRecord> CudaPlan::pass_ledger() const {
  std::vector<PassRecord> rows;
  // A buffer's bytes count as input when they are read for the first time since they were written,
  // and as reread afterwards.
  std::vector<uint64_t> fresh(buffers.size(), 0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].region != Region::kArena && buffers[i].region != Region::kTerminal) {
      fresh[i] = buffers[i].bytes;
    }
  }
  for (size_t i = 0; i < launches.size(); ++i) {
    const PlanLaunch& l = launches[i];
    PassRecord row;
    row.stage = l.stage;
    row.pass = l.pass;
    row.kernel = l.kernel;
    row.launches = 1;
    row.barriers = l.transcript_ops > 0 ? 1 : 0;
    for (const BufferUse& u : l.uses) {
      const uint64_t first = std::min(u.read_bytes, fresh[u.buffer]);
      row.input_bytes += first;
      row.reread_bytes += u.read_bytes - first;
      fresh[u.buffer] -= first;
      row.output_bytes += u.written_bytes;
      fresh[u.buffer] += u.written_bytes;
      if (u.written_bytes == 0) continue;
      // Scratch: what no later stage reads.
      bool kept = buffers[u.buffer].region == Region::kTerminal;
      std::optional<std::string> consumer;
      for (size_t k = i + 1; k < launches.size(); ++k) {
        for (const BufferUse& later : launches[k].uses) {
          if (later.buffer != u.buffer || later.read_bytes == 0) continue;
          if (!consumer) consumer = launches[k].kernel + ": " + launches[k].pass;
          kept |= launches[k].stage != l.stage;
        }
      }
      if (!kept) row.temporary_bytes += u.written_bytes;
      if (!row.retained_consumer) row.retained_consumer = consumer;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

uint64_t CudaPlan::transcript_barriers() const {
  uint64_t n = 0;
  for (const PlanLaunch& l : launches) n += l.transcript_ops > 0;
  return n;
}

std::string plan_cache_key(const ProofProgram& program, const PlanTarget& target,
                           const PlanOptions& options) {
  Sha256 hasher;
  const auto add_text = [&](std::string_view name, std::string_view text) {
    const std::string line =
        std::string(name) + "=" + std::to_string(text.size()) + ":" + std::string(text) + "\n";
    hasher.update({reinterpret_cast<const uint8_t*>(line.data()), line.size()});
  };
  add_text("schedule_version", std::to_string(kScheduleVersion));
  add_text("program", program.digest());
  add_text("protocol", program.protocol);
  add_text("sm", std::to_string(target.sm));
  add_text("device_uuid", target.device_uuid);
  add_text("multiprocessors", std::to_string(target.multiprocessors));
  add_text("memory_bytes", std::to_string(target.memory_bytes));
  add_text("driver_version", std::to_string(target.driver_version));
  add_text("toolkit", target.toolkit);
  add_text("host_toolchain", target.host_toolchain);
  add_text("module_digest", target.module_digest);
  add_text("full_domain_composition", options.full_domain_composition ? "1" : "0");
  return to_hex(hasher.finalize());
}

}  // namespace stwo::gpu
