#include "tests/prof/cupti/fake_cupti.hpp"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::string calls;
std::string pending;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_CallbackFunc callback = nullptr;
void* user = nullptr;
bool dropped_told = false;

/// Number behind "NAME=" in $FAKE_CUPTI, else `otherwise`.
int setting(const std::string& name, int otherwise) {
  const char* value = std::getenv("FAKE_CUPTI");
  const std::string text = std::string(" ") + (value == nullptr ? "" : value) + " ";
  const size_t at = text.find(" " + name + "=");
  return at == std::string::npos ? otherwise : std::atoi(text.c_str() + at + name.size() + 2);
}

CUptiResult note(const std::string& call) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls += (calls.empty() ? "" : " ") + call;
  return static_cast<CUptiResult>(setting(call, CUPTI_SUCCESS));
}

size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    default: return 0;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = static_cast<uint32_t>(setting("version", CUPTI_API_VERSION));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                        : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return note("thread_id." + std::to_string(type));
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function,
                              void* data, CUpti_SubscriberParams* params) {
  callback = function;
  user = data;
  *handle = nullptr;
  const CUptiResult result = note("subscribe");
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    std::strncpy(params->oldSubscriberName, "Nsight Systems", params->oldSubscriberSize);
  }
  return result;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  return note("callback." + std::to_string(domain) + "." + std::to_string(id));
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t id, const char** name) {
  *name = "cuLaunchKernel";
  return id == 307 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t*, void*) {
  return note("attribute." + std::to_string(attribute));
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  request = requested;
  complete = completed;
  return note("register");
}
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) { return note("latency"); }
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return note("enable." + std::to_string(kind));
}
CUptiResult cuptiActivityFlushPeriod(uint32_t ms) { return note("period." + std::to_string(ms)); }
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (flag != CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) return CUPTI_SUCCESS;
  const CUptiResult result = note("flush");
  const std::string records = pending;
  pending.clear();
  if (!records.empty()) fake_deliver(records.data(), records.size());
  return result;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) +
         size_of((*record)->kind);
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* next = reinterpret_cast<CUpti_Activity*>(buffer + at);
  if (size_of(next->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  const std::lock_guard<std::mutex> lock(mutex);
  *dropped = dropped_told ? 0 : static_cast<size_t>(setting("drop", 0));
  dropped_told = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  *timestamp = static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetContextId(CUcontext, uint32_t* id) {
  *id = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream, uint8_t, uint32_t* id) {
  *id = 13;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphId(CUgraph, uint32_t* id) {
  *id = 21;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphExecId(CUgraphExec, uint32_t* id) {
  *id = 22;
  return CUPTI_SUCCESS;
}

void fake_deliver(const void* records, size_t size) {
  uint8_t* buffer = nullptr;
  size_t capacity = 0;
  size_t max_records = 0;
  request(&buffer, &capacity, &max_records);
  if (buffer == nullptr || capacity < size) std::abort();
  for (size_t i = 0; i < capacity; ++i) {
    if (buffer[i] != 0) std::abort();
  }
  std::memcpy(buffer, records, size);
  complete(nullptr, 0, buffer, capacity, size);
}
void fake_resource(CUpti_CallbackIdResource id, const CUpti_ResourceData* data) {
  callback(user, CUPTI_CB_DOMAIN_RESOURCE, id, data);
}
void fake_on_flush(const void* records, size_t size) {
  pending.assign(static_cast<const char*>(records), size);
}
const char* fake_calls() {
  const std::lock_guard<std::mutex> lock(mutex);
  static std::string copy;
  copy = calls;
  return copy.c_str();
}
}
#pragma GCC visibility pop
