// Repairs of a partial packing: batches change their parents at one node until no in-arc is
// overloaded.
//
// At one node the choices of the batches do not touch each other: which in-arcs a batch may take
// there depends on the rest of its tree only, and that does not change while the node is settled.
// So batches are to be assigned to in-arcs within the capacities: chains of moves between in-arcs
// carry a batch from an overloaded arc to one with room, swaps exchange a large batch for a small
// one, and where whole batches do not fit, one is split.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Which new parents a batch may take.
struct Rule {
  enum class Change {
    kNotDeeper,  // the node comes no deeper, nor does what is below it
    kLeaves,     // the node must be a leaf
    kAny,        // the new parent is not below the node
  };
  Change change;
  int max_depth;  // of a tree that comes deeper
  bool may_split;
};

// Relieves the in-arcs of a node as far as the rule allows; true if none is overloaded any more.
bool repair(PartialPacking& packing, NodeId node, const Rule& rule);

// Relieves all nodes, with the gentlest rules that will do; true if no arc is overloaded any more.
// Nodes are left as they are once the packing is overspent.
// Whatever the outcome, every tree stays a spanning tree and no arc gets a greater overload.
bool repair(PartialPacking& packing, int max_depth, Progress& progress);

}  // namespace forestcoll
