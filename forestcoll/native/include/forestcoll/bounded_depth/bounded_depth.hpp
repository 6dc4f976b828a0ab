// Depth-bounded spanning trees, packed by local search. Their depth is guaranteed; how shallow
// their congestion gets is not proved.
//
// A tree's edge leads from target to target over non-targets (switches). A search sets the
// capacities that a congestion allows. Every node whose edge runs over a full link looks for the
// cheapest other parent, and links that stay overfull get dearer (PathFinder's negotiation).
// Bisection finds the least congestion at which no link stays overfull.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Batches of equal trees. Targets are given by rank, their index among the targets.
struct Batches {
  std::vector<int> root;
  std::vector<Amount> multiplicity;
  // Parents to start from: a row for each batch, -1 at the root; if empty, trees are grown.
  std::vector<int> parent;
};

struct HeightLimit {
  int tree_depth;
  // The search ends at a congestion of bound_trees / bound_capacity.
  Amount bound_trees;
  Amount bound_capacity;
  std::int64_t looks;  // links examined before the search ends
};

// The links that the trees use, sorted by (tail, head), with their paths, in the layout of
// `schedule.Routes`.
struct LowTrees {
  std::vector<int> parent;  // a row for each batch
  std::vector<int> tail, head;
  std::vector<std::int64_t> first_path, path_trees, first_hop;
  std::vector<NodeId> hop;
};

// Throws Infeasible if some target is farther than the depth limit from a root.
LowTrees depth_bounded_trees(const Graph& graph, const NodeMap<std::uint8_t>& is_target,
                             const Batches& batches, const HeightLimit& limit,
                             Progress progress = {});

}  // namespace forestcoll
