#include "prof/timeline/graphs.hpp"

namespace prof {

using ledger::OpKind;

void GraphsQuestion::add_op(const DeviceOp& op, bool counts) {
  if (!counts) return;
  if (op.kind == OpKind::kKernel) {
    ++kernels_;
    if (op.graph_id) ++graph_kernels_;
  }
  if (op.kind == OpKind::kGraph) ++whole_graphs_;
  if (!op.graph_id) return;
  ++graphs_[{op.pid, *op.graph_id}];
  if (op.kind != OpKind::kGraph) ++nodes_[{op.pid, op.corr}];
}

void GraphsQuestion::add_call(const OuterCall& call) {
  int64_t* counter = nullptr;
  switch (call.what) {
    case CallClass::kGraphInstantiate: counter = &out_.instantiations; break;
    case CallClass::kGraphUpdate: counter = &out_.updates; break;
    case CallClass::kGraphUpload: counter = &out_.uploads; break;
    case CallClass::kGraphLaunch: counter = &out_.launches; break;
    default: return;
  }
  const std::string name = base_call_name(names_.of(call.name));
  GraphCalls& row = calls_[name];
  row.call = name;
  row.host_ns += window_.inside_ns(call.start_ns, call.end_ns);
  if (!window_.starts_inside(call.start_ns)) return;
  ++row.calls;
  ++*counter;
}

Graphs GraphsQuestion::answer(const Recorded& recorded) const {
  Graphs out = out_;
  for (const auto& [name, row] : calls_) out.calls.push_back(row);
  out.executables = static_cast<int64_t>(graphs_.size());
  std::vector<int64_t> nodes;
  for (const auto& [launch, n] : nodes_) nodes.push_back(n);
  if (!graphs_.empty() && out.launches > 0) {
    out.launches_per_executable =
        static_cast<double>(out.launches) / static_cast<double>(graphs_.size());
  }
  const std::string whole =
      "whole graphs were recorded instead of their nodes; capture without --graph graph";
  if (whole_graphs_ > 0) {
    out.nodes_per_launch = Answer<Distribution>::unknown(whole);
    out.kernel_share = Answer<double>::unknown(whole);
    return out;
  }
  out.nodes_per_launch =
      nodes.empty() ? Answer<Distribution>::unknown("no operation of a graph ran in the window")
                    : Answer<Distribution>::of(distribution_of(nodes));
  if (const auto why = recorded.why_not({"CONCURRENT_KERNEL"})) {
    out.kernel_share = Answer<double>::unknown(*why);
  } else if (kernels_ == 0) {
    out.kernel_share = Answer<double>::unknown("no kernel starts in the window");
  } else {
    out.kernel_share =
        Answer<double>::of(static_cast<double>(graph_kernels_) / static_cast<double>(kernels_));
  }
  return out;
}

}  // namespace prof
