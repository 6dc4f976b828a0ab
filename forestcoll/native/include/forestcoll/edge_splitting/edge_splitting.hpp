// Switches out, logical links in (ForestColl 5.3, E.2), set by set.
//
// A split replaces capacity of (u, w) and (w, t) by capacity of a logical link (u, t). Each tight
// set is a problem of its own, from the outside in: only the switches that it holds directly are
// split, with its children contracted. Which real links stand behind a contracted split may be
// chosen freely, because in a tight set d(Z) of a set Z inside a child depends only on what enters
// each node, and a split does not change that.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// `amount` units from -> via -> to became units of the logical link (from, to).
struct Split {
  NodeId via;
  NodeId from;
  NodeId to;
  Amount amount;

  bool operator==(const Split&) const = default;
};

// How hard to try before a switch is split pair by pair. A guess that is not right after this many
// repairs is given up; below 0 nothing is guessed. Few links: equal groups are guessed to exchange
// with some others even where all with all would do, for taller trees in less time.
struct RemovalOptions {
  int most_exchanges = 100;
  bool sparse_exchange = false;
};

struct SwitchRemoval {
  std::vector<Arc> logical;   // between nodes that stay, sorted by (tail, head)
  std::vector<Split> splits;  // in the order in which they were made: the routing table
  int exact_switches = 0;     // switches whose matrix had to be built pair by pair
};

// Removes every node that is not a target. Precondition: the graph can carry demand (condition
// (C): every cut that holds a target receives the trees rooted outside it), each removed node
// receives at least as much as it sends, and the sets of the family are tight; then the result
// carries the demand and the sets are tight in it (Theorems 4 to 6).
//
// Throws Infeasible if the precondition fails.
SwitchRemoval remove_switches(const Graph& graph, const Demand& demand, const Family& family,
                              Progress progress = {}, RemovalOptions options = {});

}  // namespace forestcoll
