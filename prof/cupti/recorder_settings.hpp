// What stwo-prof tells the recorder inside the target, through the environment.
#pragma once

namespace prof {

/// Folder that takes the logs; without it the recorder does nothing.
inline constexpr const char* kLogFolderVariable = "STWO_PROF_LOG_FOLDER";
/// Path of libcupti.so.13.
inline constexpr const char* kCuptiVariable = "STWO_PROF_CUPTI";
/// "1": queued and submitted times of kernels (adds overhead).
inline constexpr const char* kLatencyVariable = "STWO_PROF_LATENCY";
/// "1": a graph launch is one operation, its nodes are not recorded.
inline constexpr const char* kWholeGraphsVariable = "STWO_PROF_WHOLE_GRAPHS";
/// Name of the library with InitializeInjection, beside the program.
inline constexpr const char* kRecorderName = "libstwoprof_inject.so";

}  // namespace prof
