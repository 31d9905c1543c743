// The blocks of the terminal page, one per question. Internal to the folder.
#pragma once

#include <string>

#include "prof/timeline/timeline.hpp"

namespace prof::detail {

/// "12.345 ms", "12.345 us" below a millisecond, "12 ns" below a microsecond.
std::string duration_text(int64_t ns);
/// "yes", "no", or "unknown: reason".
std::string yes_no(const Answer<bool>& answer);
/// Text of a name that a program chose, on one line and at most `limit` characters long.
std::string short_name(const std::string& name, size_t limit = 48);

std::string loading_text(const Loading& v);
std::string launch_gaps_text(const LaunchGaps& v, const Window& window);
std::string concurrency_text(const Concurrency& v);
std::string synchronisation_text(const Synchronisation& v);
std::string transfers_text(const Transfers& v);
std::string allocation_text(const Allocation& v);
std::string graphs_text(const Graphs& v);
std::string submit_thread_text(const SubmitThread& v, const Window& window);
std::string activity_text(const Activity& v);
std::string stages_text(const StageTable& v);
std::string kernels_text(const std::vector<KernelFacts>& v);

}  // namespace prof::detail
