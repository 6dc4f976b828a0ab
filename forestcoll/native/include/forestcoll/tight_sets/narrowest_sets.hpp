// The sets around given nodes that are nearest to being a bottleneck.
//
// Newton's method as for the optimum, with one sink, and with sets that need not be violated. It
// maximises (Q - q(X)) / d(X). Numbers whose products could overflow are rounded first. Then the
// sets are only nearly the narrowest, which suffices for a candidate for trimming.
#pragma once

#include <utility>
#include <vector>

#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

class NarrowestSets {
 public:
  explicit NarrowestSets(const Subproblem& problem);

  // The smallest maximiser that holds all of `core`, ascending; empty if no root is outside.
  std::vector<NodeId> around(const std::vector<NodeId>& core);

 private:
  std::pair<Amount, Amount> ratio(const NodeMap<std::uint8_t>& inside) const;
  WarmFlow scaled_flow(Amount p, Amount q, const std::vector<NodeId>& core);
  void untie(const std::vector<NodeId>& core);

  Graph graph_;
  std::vector<Amount> trees_;
  Amount all_trees_ = 0;
  FlowNetwork network_;
  IndexedVector<Amount> base_;  // capacities before scaling
};

}  // namespace forestcoll
