// Where is CUPTI on this machine, and does it fit? Needs no CUDA header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prof/cupti/cupti_version.hpp"

namespace prof {

/// File name of the library that the recorder loads.
inline constexpr const char* kCuptiName = "libcupti.so.13";

struct CuptiLibrary {
  std::string path;  ///< absolute, without links
  uint32_t version = 0;
  std::optional<CuptiFit> fit;  ///< absent: this program was built without CUPTI's header
};

struct CuptiSearch {
  std::optional<CuptiLibrary> found;
  /// What was looked at and is no library to use, e.g. "/x/libcupti.so.13: file too short".
  std::vector<std::string> tried;
};

/// CUPTI_API_VERSION of the header that the recorder is built with; absent: it is not built.
std::optional<uint32_t> built_cupti_version();

struct CuptiPlaces {
  /// Only this file, if not empty: $STWO_PROF_CUPTI.
  std::string file;
  /// Ask the loader (LD_LIBRARY_PATH, ld.so.cache)?
  bool loader = true;
  std::vector<std::string> folders;
};
/// $STWO_PROF_CUPTI; the loader; $CUDA_HOME, $CUDA_PATH and /usr/local/cuda* with lib64 and
/// extras/CUPTI/lib64; the folder of libcudart; the folder of this program.
CuptiPlaces cupti_places();

/// The first usable library, else the first that is CUPTI at all. Loads candidates into this
/// process and asks for their version.
CuptiSearch find_cupti(const CuptiPlaces& places = cupti_places());

/// Throws EnvironmentError
///   CUPTI_MISSING   no such library; lists where it was looked for
///   CUPTI_VERSION   one that does not fit the recorder, or the recorder was not built
CuptiLibrary require_cupti(const CuptiSearch& search);

}  // namespace prof
