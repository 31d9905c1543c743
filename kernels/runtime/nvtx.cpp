#include "kernels/runtime/nvtx.hpp"

#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#include <string>

namespace stwo::gpu {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = [] {
    const nvtxDomainHandle_t d = nvtxDomainCreateA("stwo.prover");
    nvtxDomainNameCategoryA(d, static_cast<uint32_t>(NvtxCategory::kRequest), "request");
    nvtxDomainNameCategoryA(d, static_cast<uint32_t>(NvtxCategory::kStage), "stage");
    nvtxDomainNameCategoryA(d, static_cast<uint32_t>(NvtxCategory::kPass), "pass");
    return d;
  }();
  return handle;
}

/// Names are registered once: a profiler then stores a number per range. Null without a profiler.
nvtxStringHandle_t registered(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, nvtxStringHandle_t, std::less<>> strings;
  const std::lock_guard lock(mutex);
  const auto it = strings.find(name);
  if (it != strings.end()) return it->second;
  std::string key(name);
  const nvtxStringHandle_t handle = nvtxDomainRegisterStringA(domain(), key.c_str());
  return strings.emplace(std::move(key), handle).first->second;
}

}  // namespace

NvtxRange::NvtxRange(NvtxCategory category, std::string_view name, uint64_t payload) noexcept {
  // Without an attached tool the domain is null; nothing below would be seen.
  if (domain() == nullptr) return;
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.category = static_cast<uint32_t>(category);
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = payload;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = registered(name);
  nvtxDomainRangePushEx(domain(), &event);
}

NvtxRange::~NvtxRange() {
  if (domain() != nullptr) nvtxDomainRangePop(domain());
}

}  // namespace stwo::gpu
