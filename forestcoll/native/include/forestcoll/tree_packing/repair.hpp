// Repairs of a partial packing: batches change their parents at one node until no in-arc is
// overloaded.
//
// At one node the choices of the batches are independent. The in-arcs that a batch may take depend
// only on the rest of its tree, which does not change while the node is settled. So this is an
// assignment of batches to in-arcs within the capacities. Chains of moves between in-arcs carry a
// batch from an overloaded arc to one with room. Swaps exchange a large batch for a small one.
// Where whole batches do not fit, one is split.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Which new parents a batch may take.
struct Rule {
  enum class Change {
    kNotDeeper,  // neither the node nor anything below it gets deeper
    kLeaves,     // the node must be a leaf
    kAny,        // the new parent is not below the node
  };
  Change change;
  int max_depth;  // of a tree that gets deeper
  bool may_split;
};

// Relieves the in-arcs of a node as far as the rule allows; true if none is overloaded any more.
bool repair(PartialPacking& packing, NodeId node, const Rule& rule);

// Relieves all nodes, with the gentlest rules that work; true if no arc is overloaded any more.
// Stops once the packing is overspent.
//
// Whatever the outcome, every tree stays a spanning tree and no arc gets a greater overload.
bool repair(PartialPacking& packing, int max_depth, Progress& progress);

}  // namespace forestcoll
