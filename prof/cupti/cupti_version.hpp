// Does a CUPTI library fit the header that the recorder was built with?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace prof {

enum class CuptiFit : uint8_t {
  kExact,       ///< same major and minor version
  kNewer,       ///< newer minor: its records begin as ours do, but we never ran with it
  kOlder,       ///< older minor: its records may end before ours do
  kOtherMajor,  ///< records of another shape
};
/// May the recorder run with it?
inline bool is_usable(CuptiFit fit) { return fit == CuptiFit::kExact || fit == CuptiFit::kNewer; }

/// Versions are CUPTI_API_VERSION and what cuptiGetVersion says: 130001 is update 1 of 13.0.
inline CuptiFit cupti_fit(uint32_t library, uint32_t header) {
  if (library / 10000 != header / 10000) return CuptiFit::kOtherMajor;
  const uint32_t library_minor = library / 100;
  const uint32_t header_minor = header / 100;
  if (library_minor == header_minor) return CuptiFit::kExact;
  return library_minor > header_minor ? CuptiFit::kNewer : CuptiFit::kOlder;
}

/// "13.0.1" for 130001.
inline std::string cupti_version_text(uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace prof
