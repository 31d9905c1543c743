#include "prof/timeline/call_class.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace prof {
namespace {

using Entry = std::pair<std::string_view, CallClass>;

// Sorted by name, for the search below.
constexpr Entry kCalls[] = {
    {"cuArray3DCreate", CallClass::kAllocate},
    {"cuArrayCreate", CallClass::kAllocate},
    {"cuArrayDestroy", CallClass::kRelease},
    {"cuCtxCreate", CallClass::kContextCreate},
    {"cuCtxSynchronize", CallClass::kDeviceSync},
    {"cuDevicePrimaryCtxRetain", CallClass::kContextCreate},
    {"cuEventQuery", CallClass::kEventQuery},
    {"cuEventSynchronize", CallClass::kEventSync},
    {"cuGraphExecUpdate", CallClass::kGraphUpdate},
    {"cuGraphLaunch", CallClass::kGraphLaunch},
    {"cuGraphUpload", CallClass::kGraphUpload},
    {"cuGreenCtxCreate", CallClass::kContextCreate},
    {"cuLaunch", CallClass::kKernelLaunch},
    {"cuLaunchCooperativeKernel", CallClass::kKernelLaunch},
    {"cuLaunchCooperativeKernelMultiDevice", CallClass::kKernelLaunch},
    {"cuLaunchGrid", CallClass::kKernelLaunch},
    {"cuLaunchGridAsync", CallClass::kKernelLaunch},
    {"cuLaunchKernel", CallClass::kKernelLaunch},
    {"cuLaunchKernelEx", CallClass::kKernelLaunch},
    {"cuLibraryLoadData", CallClass::kModuleLoad},
    {"cuLibraryLoadFromFile", CallClass::kModuleLoad},
    {"cuMemAlloc", CallClass::kAllocate},
    {"cuMemAllocAsync", CallClass::kAllocate},
    {"cuMemAllocFromPoolAsync", CallClass::kAllocate},
    {"cuMemAllocHost", CallClass::kHostAllocate},
    {"cuMemAllocManaged", CallClass::kAllocate},
    {"cuMemAllocPitch", CallClass::kAllocate},
    {"cuMemCreate", CallClass::kAllocate},
    {"cuMemFree", CallClass::kRelease},
    {"cuMemFreeAsync", CallClass::kRelease},
    {"cuMemFreeHost", CallClass::kHostRelease},
    {"cuMemHostAlloc", CallClass::kHostAllocate},
    {"cuMemHostRegister", CallClass::kHostRegister},
    {"cuMemHostUnregister", CallClass::kHostRegister},
    {"cuMemRelease", CallClass::kRelease},
    {"cuModuleLoad", CallClass::kModuleLoad},
    {"cuModuleLoadData", CallClass::kModuleLoad},
    {"cuModuleLoadDataEx", CallClass::kModuleLoad},
    {"cuModuleLoadFatBinary", CallClass::kModuleLoad},
    {"cuStreamQuery", CallClass::kStreamQuery},
    {"cuStreamSynchronize", CallClass::kStreamSync},
    {"cudaDeviceSynchronize", CallClass::kDeviceSync},
    {"cudaEventQuery", CallClass::kEventQuery},
    {"cudaEventSynchronize", CallClass::kEventSync},
    {"cudaFree", CallClass::kRelease},
    {"cudaFreeArray", CallClass::kRelease},
    {"cudaFreeAsync", CallClass::kRelease},
    {"cudaFreeHost", CallClass::kHostRelease},
    {"cudaGraphExecUpdate", CallClass::kGraphUpdate},
    {"cudaGraphLaunch", CallClass::kGraphLaunch},
    {"cudaGraphUpload", CallClass::kGraphUpload},
    {"cudaHostAlloc", CallClass::kHostAllocate},
    {"cudaHostRegister", CallClass::kHostRegister},
    {"cudaHostUnregister", CallClass::kHostRegister},
    {"cudaInitDevice", CallClass::kContextCreate},
    {"cudaLaunch", CallClass::kKernelLaunch},
    {"cudaLaunchCooperativeKernel", CallClass::kKernelLaunch},
    {"cudaLaunchCooperativeKernelMultiDevice", CallClass::kKernelLaunch},
    {"cudaLaunchKernel", CallClass::kKernelLaunch},
    {"cudaLaunchKernelExC", CallClass::kKernelLaunch},
    {"cudaLibraryLoadData", CallClass::kModuleLoad},
    {"cudaLibraryLoadFromFile", CallClass::kModuleLoad},
    {"cudaMalloc", CallClass::kAllocate},
    {"cudaMalloc3D", CallClass::kAllocate},
    {"cudaMalloc3DArray", CallClass::kAllocate},
    {"cudaMallocArray", CallClass::kAllocate},
    {"cudaMallocAsync", CallClass::kAllocate},
    {"cudaMallocFromPoolAsync", CallClass::kAllocate},
    {"cudaMallocHost", CallClass::kHostAllocate},
    {"cudaMallocManaged", CallClass::kAllocate},
    {"cudaMallocPitch", CallClass::kAllocate},
    {"cudaStreamQuery", CallClass::kStreamQuery},
    {"cudaStreamSynchronize", CallClass::kStreamSync},
    {"cudaThreadSynchronize", CallClass::kDeviceSync},
};

constexpr bool sorted_by_name() {
  for (size_t i = 1; i < std::size(kCalls); ++i) {
    if (!(kCalls[i - 1].first < kCalls[i].first)) return false;
  }
  return true;
}
static_assert(sorted_by_name());

bool strip(std::string_view* name, std::string_view suffix) {
  if (!name->ends_with(suffix)) return false;
  name->remove_suffix(suffix.size());
  return true;
}

bool strip_version(std::string_view* name) {
  size_t end = name->size();
  while (end > 0 && (*name)[end - 1] >= '0' && (*name)[end - 1] <= '9') --end;
  if (end == name->size() || end < 2 || name->substr(end - 2, 2) != "_v") return false;
  *name = name->substr(0, end - 2);
  return true;
}

}  // namespace

std::string base_call_name(std::string_view name) {
  while (strip(&name, "_ptsz") || strip(&name, "_ptds") || strip_version(&name)) {
  }
  return std::string(name);
}

CallClass call_class(std::string_view name) {
  const std::string base = base_call_name(name);
  const auto it = std::lower_bound(
      std::begin(kCalls), std::end(kCalls), base,
      [](const Entry& entry, const std::string& wanted) { return entry.first < wanted; });
  if (it != std::end(kCalls) && it->first == base) return it->second;
  // Families of functions that grow with every version.
  const std::string_view text = base;
  if (text.starts_with("cuGraphInstantiate") || text.starts_with("cudaGraphInstantiate")) {
    return CallClass::kGraphInstantiate;
  }
  const bool exec = text.starts_with("cuGraphExec") || text.starts_with("cudaGraphExec");
  if (exec && text.find("Set") != std::string_view::npos) return CallClass::kGraphUpdate;
  if (text.starts_with("cuMemcpy") || text.starts_with("cudaMemcpy")) return CallClass::kCopy;
  return CallClass::kOther;
}

}  // namespace prof
