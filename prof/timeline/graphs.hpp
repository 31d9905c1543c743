// Question 7: what graphs did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/timeline/answer.hpp"
#include "prof/timeline/distribution.hpp"
#include "prof/timeline/launched_op.hpp"
#include "prof/timeline/outer_call.hpp"
#include "prof/timeline/recorded.hpp"

namespace prof {

/// Calls of one function in the window.
struct GraphCalls {
  std::string call;  ///< without its variant
  int64_t calls = 0;
  int64_t host_ns = 0;
};

struct Graphs {
  int64_t instantiations = 0;
  int64_t updates = 0;
  int64_t uploads = 0;
  int64_t launches = 0;
  std::vector<GraphCalls> calls;  ///< by name
  int64_t executables = 0;        ///< graphs of which something ran
  /// Operations of each launch; values are numbers of operations, not nanoseconds.
  Answer<Distribution> nodes_per_launch;
  std::optional<double> launches_per_executable;
  /// Kernels that graphs launched / all kernels.
  Answer<double> kernel_share;
};

/// Memory: one entry for each launch of a graph.
class GraphsQuestion {
 public:
  GraphsQuestion(const Window& window, Names& names) : window_(window), names_(names) {}
  void add_op(const DeviceOp& op, bool counts);
  void add_call(const OuterCall& call);
  Graphs answer(const Recorded& recorded) const;

 private:
  const Window& window_;
  Names& names_;
  Graphs out_;
  std::map<std::string, GraphCalls> calls_;
  std::map<std::pair<int64_t, int64_t>, int64_t> nodes_;   ///< by process and correlation id
  std::map<std::pair<int64_t, int64_t>, int64_t> graphs_;  ///< by process and graph
  int64_t kernels_ = 0;
  int64_t graph_kernels_ = 0;
  int64_t whole_graphs_ = 0;
};

}  // namespace prof
