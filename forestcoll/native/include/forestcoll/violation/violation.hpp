// Test of condition (C): every set of nodes that holds a target must receive the trees rooted
// outside it. If no node that only forwards sends more than it receives, this is the same as the
// existence of out-trees (Edmonds' theorem).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/common/flow_network.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

struct Violation {
  std::size_t targets_before;  // the first targets, which all trees can reach
  NodeMap<std::uint8_t> cut;   // the nodes S whose trees exceed the capacity that leaves S
};

// The first of the targets that the supplies cannot reach in full, with the smallest cut that
// proves it. The threads share the targets; the result does not depend on their number.
std::optional<Violation> first_violation(const FlowNetwork& network,
                                         std::span<const Amount> supplies,
                                         std::span<const NodeId> targets, Progress& progress,
                                         int threads);

// Tests all targets of the demand after the first `passed`, which are known to be reached. Any node
// may root trees.
//
// Throws CapacityOverflow when the trees or the capacities add up beyond 62 bits.
std::optional<Violation> find_violation(const Graph& graph, const Demand& demand,
                                        std::size_t passed = 0, Progress progress = {},
                                        int threads = 1);

}  // namespace forestcoll
