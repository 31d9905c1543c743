#include "prof/cupti/cupti_api.hpp"

#include <dlfcn.h>

namespace prof {

std::string load_cupti(const std::string& path, CuptiApi& api) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return why == nullptr ? "cannot be loaded" : why;
  }
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find(api.get_version, "cuptiGetVersion");
  find(api.result_string, "cuptiGetResultString");
  find(api.set_thread_id_type, "cuptiSetThreadIdType");
  find(api.subscribe, "cuptiSubscribe_v2");
  find(api.enable_callback, "cuptiEnableCallback");
  find(api.callback_name, "cuptiGetCallbackName");
  find(api.set_attribute, "cuptiActivitySetAttribute");
  find(api.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(api.enable_latency, "cuptiActivityEnableLatencyTimestamps");
  find(api.enable, "cuptiActivityEnable");
  find(api.flush_period, "cuptiActivityFlushPeriod");
  find(api.flush_all, "cuptiActivityFlushAll");
  find(api.next_record, "cuptiActivityGetNextRecord");
  find(api.dropped_records, "cuptiActivityGetNumDroppedRecords");
  find(api.timestamp, "cuptiGetTimestamp");
  find(api.context_id, "cuptiGetContextId");
  find(api.stream_id, "cuptiGetStreamIdEx");
  find(api.graph_id, "cuptiGetGraphId");
  find(api.graph_exec_id, "cuptiGetGraphExecId");
  return missing.empty() ? missing : "it has no " + missing;
}

}  // namespace prof
