// Which launches (kernels/hash) make a lifted Merkle tree.
#pragma once

#include <optional>
#include <string>

#include "kernels/hash/hash_args.hpp"
#include "kernels/plan/plan_builder.hpp"

namespace stwo::gpu {

/// Leaves by `kernel`, all levels above, the root. `leaves` says where the leaves' words come from;
/// height, nodes and tiles are filled in. The last launch takes transcript operations.
void schedule_tree(PlanBuilder& builder, const std::string& kernel, const std::string& pass,
                   LaunchArgs<HashLeavesArgs>& leaves, uint32_t height, bool reduce, uint32_t nodes,
                   std::optional<BufferRef> root_out);

}  // namespace stwo::gpu
