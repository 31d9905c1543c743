// A profiler's side of NVTX, for the test of our ranges: loaded by NVTX through
// NVTX_INJECTION64_PATH, it keeps what it is told as lines of text.
//   domain NAME / category ID NAME / push CATEGORY PAYLOAD NAME / pop
#include <nvtx3/nvToolsExt.h>

#include <deque>
#include <string>

namespace {

// NVTX never gives a handle back, so what they stand for is kept here until the process ends
// (in a deque, whose elements do not move).
std::deque<std::string>& names() {
  static std::deque<std::string> kept;
  return kept;
}

std::string& lines() {
  static std::string text;
  return text;
}

// Handles are pointers to what they stand for; a profiler must not return null for a domain.
nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  lines() += std::string("domain ") + name + "\n";
  return reinterpret_cast<nvtxDomainHandle_t>(&names().emplace_back(name));
}
void NVTX_API name_category(nvtxDomainHandle_t, uint32_t category, const char* name) {
  lines() += "category " + std::to_string(category) + " " + name + "\n";
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(&names().emplace_back(text));
}
int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  lines() += "push " + std::to_string(event->category) + " " +
             std::to_string(event->payload.ullValue) + " " +
             *reinterpret_cast<const std::string*>(event->message.registered) + "\n";
  return 0;
}
int NVTX_API pop(nvtxDomainHandle_t) {
  lines() += "pop\n";
  return 0;
}

}  // namespace

extern "C" {

/// What has been recorded so far.
const char* stwo_nvtx_recorded() { return lines().c_str(); }

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *table[NVTX_CBID_CORE2_DomainNameCategoryA] =
      reinterpret_cast<NvtxFunctionPointer>(name_category);
  *table[NVTX_CBID_CORE2_DomainRegisterStringA] =
      reinterpret_cast<NvtxFunctionPointer>(register_string);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}

}  // extern "C"
