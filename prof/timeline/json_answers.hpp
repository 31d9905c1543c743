// The answers as JSON. Internal to the folder.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "prof/timeline/timeline.hpp"

namespace prof::detail {

using Json = nlohmann::ordered_json;

/// Builds objects and collects why their nulls are null, by JSON pointer.
class JsonBuilder {
 public:
  /// The value, or null with its reason under `path`.
  template <class T>
  Json value(const Answer<T>& answer, const std::string& path) {
    if (!answer) return absent(path, answer.reason);
    return *answer;
  }
  template <class T>
  Json value(const std::optional<T>& v, const std::string& path, const char* reason) {
    if (!v) return absent(path, reason);
    return *v;
  }
  /// An object made by `make` from the value and its path.
  template <class T, class Make>
  Json object(const Answer<T>& answer, const std::string& path, Make make) {
    if (!answer) return absent(path, answer.reason);
    return make(*this, *answer, path);
  }
  Json absent(const std::string& path, const std::string& reason) {
    reasons_[path] = reason;
    return nullptr;
  }
  const Json& reasons() const { return reasons_; }

 private:
  Json reasons_ = Json::object();
};

Json loading_json(JsonBuilder& b, const Loading& v, const std::string& path);
Json launch_gaps_json(JsonBuilder& b, const LaunchGaps& v, const std::string& path);
Json concurrency_json(JsonBuilder& b, const Concurrency& v, const std::string& path);
Json synchronisation_json(JsonBuilder& b, const Synchronisation& v, const std::string& path);
Json transfers_json(JsonBuilder& b, const Transfers& v, const std::string& path);
Json allocation_json(JsonBuilder& b, const Allocation& v, const std::string& path);
Json graphs_json(JsonBuilder& b, const Graphs& v, const std::string& path);
Json submit_thread_json(JsonBuilder& b, const SubmitThread& v, const std::string& path);
Json activity_json(JsonBuilder& b, const Activity& v, const std::string& path);
Json stages_json(JsonBuilder& b, const StageTable& v, const std::string& path);
Json kernels_json(JsonBuilder& b, const std::vector<KernelFacts>& v, const std::string& path);
Json perturbation_json(JsonBuilder& b, const Perturbation& v, const std::string& path);

}  // namespace prof::detail
