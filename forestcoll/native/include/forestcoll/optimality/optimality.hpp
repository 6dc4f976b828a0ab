// The exact throughput optimum and its bottleneck cut (ForestColl 5.2, Theorem 1).
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// 1/x* = numerator / denominator in lowest terms, in units of 1 / capacity.
struct Bottleneck {
  Amount numerator = 0;
  Amount denominator = 1;
  NodeMap<std::uint8_t> cut;  // the nodes S* whose data must leave over too few links
  int newton_steps = 0;
};

// Maximises trees(S) / B+(S) over the node sets S that miss a target. Here demand.trees are the
// relative weights of the roots.
//
// Newton's method on the ratio. A candidate p / q holds if q * trees from all roots can reach every
// target under capacities p * b. Otherwise some target names a cut of larger ratio, the next
// candidate. Targets that passed stay satisfied, because x only falls.
//
// The threads share the targets. The cut does not depend on their number. The first violation in
// the order of the targets counts, and of its cuts the one with the fewest nodes.
//
// Throws Disconnected when a target receives nothing, CapacityOverflow when p * b or q * trees
// could leave 64 bits.
Bottleneck find_bottleneck(const Graph& graph, const Demand& weights, Progress progress = {},
                           int threads = 1);

}  // namespace forestcoll
