// Values that may be unknown, as JSON: null, and the reason in a list of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "prof/nvml/known.hpp"

namespace prof {

/// Fills objects and remembers why values are null.
class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;

  /// Sets `key` of the object whose JSON pointer is `path`.
  template <class T>
  void put(Json& object, const std::string& path, const char* key, const Known<T>& known) {
    if (known.has_value()) {
      object[key] = *known.value;
      return;
    }
    object[key] = nullptr;
    missing_[path + "/" + key] = known.reason;
  }
  /// Sets it to an empty array, to be filled, or to null.
  template <class T>
  void put_list(Json& object, const std::string& path, const char* key, const Known<T>& known) {
    object[key] = known.has_value() ? Json::array() : Json(nullptr);
    if (!known.has_value()) missing_[path + "/" + key] = known.reason;
  }
  /// Paths of the nulls with their reasons.
  const Json& missing() const { return missing_; }

  /// Indented, one newline at the end. Bytes that are no UTF-8 are replaced.
  static std::string text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  Json missing_ = Json::object();
};

}  // namespace prof
