// What the recorder asks CUPTI for.
#pragma once

#include <cupti.h>

namespace prof {

/// A kind of activity record; without a required one the capture is incomplete.
struct ActivityKind {
  CUpti_ActivityKind kind;
  const char* name;
  bool required;
};
inline constexpr ActivityKind kKinds[] = {
    // Never KERNEL, which lets only one kernel run at a time.
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "concurrent_kernel", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "memcpy", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "memcpy2", true},
    {CUPTI_ACTIVITY_KIND_MEMSET, "memset", true},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "runtime", true},
    {CUPTI_ACTIVITY_KIND_DRIVER, "driver", true},
    {CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, "internal_launch_api", false},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization", true},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, "cuda_event", true},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "memory2", true},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory_pool", true},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "context", true},
    {CUPTI_ACTIVITY_KIND_STREAM, "stream", false},
    {CUPTI_ACTIVITY_KIND_DEVICE, "device", true},
    {CUPTI_ACTIVITY_KIND_JIT, "jit", true},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead", true},
    {CUPTI_ACTIVITY_KIND_MARKER, "marker", true},
    {CUPTI_ACTIVITY_KIND_MARKER_DATA, "marker_data", true},
    {CUPTI_ACTIVITY_KIND_NAME, "name", false},
};

struct ResourceCallback {
  CUpti_CallbackIdResource id;
  const char* name;
  bool required;
};
/// Each by itself: the whole domain would also call for every node of every graph.
inline constexpr ResourceCallback kCallbacks[] = {
    {CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, "init_finished", false},
    {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, "context_created", true},
    {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, "context_destroyed", true},
    {CUPTI_CBID_RESOURCE_STREAM_CREATED, "stream_created", true},
    {CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, "stream_destroyed", true},
    {CUPTI_CBID_RESOURCE_MODULE_LOADED, "module_loaded", true},
    {CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, "module_unloaded", true},
    {CUPTI_CBID_RESOURCE_GRAPH_CREATED, "graph_created", true},
    {CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, "graph_destroyed", true},
    {CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, "graph_exec_created", true},
    {CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, "graph_exec_destroyed", true},
};

}  // namespace prof
