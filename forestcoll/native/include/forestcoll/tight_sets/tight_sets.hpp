// Tight sets: node sets X that receive exactly the trees rooted outside them, h(X) = 0.
//
// Every tree rooted outside a tight set enters it exactly once. So a forest decomposes into trees
// of the graph with X contracted, and trees inside X. (C) on the graph is (C) on the contracted
// graph together with h(Z) >= 0 for all Z inside X that hold a target. Sets that cross X follow by
// uncrossing. Splitting never lowers a d(X) below its need, so tight sets stay tight.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

// A laminar family: two sets are disjoint or one holds the other. Sets are numbered so that
// children come before their parents; the last one is the whole graph.
struct Family {
  NodeMap<int> set_of;        // the smallest set that holds each node
  IndexedVector<int> parent;  // the smallest set around each set; -1 for the whole graph

  int num_sets() const { return parent.count(); }
  bool operator==(const Family&) const = default;
};

// The family of the whole graph alone.
Family no_tight_sets(NodeId num_nodes);

// Throws InvalidInput unless the family is laminar, of this many nodes, children before parents.
void check(const Family& family, NodeId num_nodes);

// Finds tight sets of two or more items, smallest first, but not all of them. Of sets that
// intersect it keeps the first. The outside is in none of them. One pass of flows, shared among the
// threads; the result does not depend on their number.
//
// Throws Infeasible if the graph cannot carry the demand.
std::vector<std::vector<NodeId>> minimal_tight_sets(const Subproblem& problem, Progress& progress,
                                                    int threads = 1);

}  // namespace forestcoll
