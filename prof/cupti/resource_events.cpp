#include "prof/cupti/resource_events.hpp"

#include <exception>
#include <string>

#include "prof/cupti/process_facts.hpp"

namespace prof {

using ledger::ResKind;

void ResourceEvents::note_driver() noexcept {
  if (driver_known_.exchange(true)) return;
  try {
    const std::string version = driver_version();
    if (!version.empty()) log_.write(LogFact{"driver_version", version});
  } catch (const std::exception&) {
    log_.write(ledger::LossRow{"recorder_memory", 1});
  }
}

std::optional<int64_t> ResourceEvents::stream_of(const CUpti_ResourceData& data) const noexcept {
  uint32_t id = 0;
  const CUptiResult result = cupti_.stream_id(data.context, data.resourceHandle.stream, 0, &id);
  if (result != CUPTI_SUCCESS) return std::nullopt;
  return id;
}

std::optional<int64_t> ResourceEvents::graph_of(const CUpti_ResourceData& data,
                                                bool executable) const noexcept {
  const auto* graph = static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
  if (graph == nullptr) return std::nullopt;
  uint32_t id = 0;
  const CUptiResult result =
      executable ? cupti_.graph_exec_id(graph->graphExec, &id) : cupti_.graph_id(graph->graph, &id);
  if (result != CUPTI_SUCCESS) return std::nullopt;
  return id;
}

void ResourceEvents::add(int64_t pid, CUpti_CallbackId id,
                         const CUpti_ResourceData& data) noexcept {
  if (id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) return note_driver();
  ledger::ResEventRow row;
  row.pid = pid;
  uint64_t now = 0;
  if (cupti_.timestamp(&now) != CUPTI_SUCCESS) now = 0;
  row.ts_ns = static_cast<int64_t>(now);
  uint32_t context = 0;
  if (data.context != nullptr && cupti_.context_id(data.context, &context) == CUPTI_SUCCESS) {
    row.context_id = context;
  }
  const auto* module = static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor);
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      ++contexts_;
      row.kind = ResKind::kContextCreated;
      break;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      --contexts_;
      row.kind = ResKind::kContextDestroyed;
      break;
    case CUPTI_CBID_RESOURCE_STREAM_CREATED:
      row.kind = ResKind::kStreamCreated;
      row.object = stream_of(data);
      break;
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      row.kind = ResKind::kStreamDestroyed;
      row.object = stream_of(data);
      break;
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
      row.kind = ResKind::kModuleLoaded;
      if (module != nullptr) {
        row.object = module->moduleId;
        modules_.add(row, module->pCubin, module->cubinSize);
        return;
      }
      break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      row.kind = ResKind::kModuleUnloaded;
      if (module != nullptr) row.object = module->moduleId;
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
      row.kind = ResKind::kGraphCreated;
      row.object = graph_of(data, false);
      break;
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      row.kind = ResKind::kGraphDestroyed;
      row.object = graph_of(data, false);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      row.kind = ResKind::kGraphExecCreated;
      row.object = graph_of(data, true);
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      row.kind = ResKind::kGraphExecDestroyed;
      row.object = graph_of(data, true);
      break;
    default: return;
  }
  log_.write(row);
}

}  // namespace prof
