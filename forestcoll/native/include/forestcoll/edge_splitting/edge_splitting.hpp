// Edge splitting: removal of switches, set by set (ForestColl 5.3, E.2).
//
// A split replaces capacity of (u, w) and (w, t) by capacity of a logical link (u, t). Each tight
// set is a problem of its own, from the outside in: only the switches that it holds directly are
// split, with its children contracted. Any real links behind a contracted split will do. The
// reason: in a tight set, d(Z) of a set Z inside a child depends only on the capacity that enters
// each node. A split does not change that.
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

// Limits of the matrix method, before a switch is split pair by pair. A guess that is not right
// after `most_exchanges` repairs is given up; below 0 nothing is guessed. With `sparse_exchange`,
// equal groups exchange with some others only, even where all with all would do: taller trees in
// less time.
struct RemovalOptions {
  int most_exchanges = 100;
  bool sparse_exchange = false;
};

struct SwitchRemoval {
  std::vector<Arc> logical;   // between nodes that stay, sorted by (tail, head)
  std::vector<Split> splits;  // in the order in which they were made: the routing table
  int exact_switches = 0;     // switches whose matrix had to be built pair by pair
};

// Removes every node that is not a target.
//
// Preconditions: the graph carries the demand, that is, condition (C): every cut that holds a
// target receives the trees rooted outside it. Each removed node receives at least as much as it
// sends. The sets of the family are tight. Then the result carries the demand, and the sets are
// tight in it (Theorems 4 to 6).
//
// Throws Infeasible if the preconditions fail.
SwitchRemoval remove_switches(const Graph& graph, const Demand& demand, const Family& family,
                              Progress progress = {}, RemovalOptions options = {});

}  // namespace forestcoll
