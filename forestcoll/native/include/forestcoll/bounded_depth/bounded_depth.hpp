// Spanning trees of a bounded tree_depth, packed by local search: how low their congestion gets is not
// proved, that they are trees within the tree_depth is.
//
// A tree's edge leads from a target over nodes that are none (switches) to a target. A search sets
// capacities that a congestion allows, lets every node whose edge runs over a full link look for a
// parent elsewhere, as cheap as it gets, and makes links that stay overfull dearer (PathFinder's
// negotiation); it bisects for the least congestion at which nothing stays overfull.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Batches of equal trees. Targets are told by rank, their place among the targets.
struct Batches {
  std::vector<int> root;
  std::vector<Amount> multiplicity;
  // A row for each batch, -1 at the root; empty: trees are grown to begin with.
  std::vector<int> parent;
};

struct HeightLimit {
  int tree_depth;
  // The search ends where a congestion of bound_trees / bound_capacity is attained.
  Amount bound_trees;
  Amount bound_capacity;
  std::int64_t looks;  // at links, after which it ends
};

// The links that the trees use, sorted by (tail, head), with their paths: as `schedule.Routes`.
struct LowTrees {
  std::vector<int> parent;  // a row for each batch
  std::vector<int> tail, head;
  std::vector<std::int64_t> first_path, path_trees, first_hop;
  std::vector<NodeId> hop;
};

// Throws Infeasible if some target is farther than the tree_depth from a root.
LowTrees depth_bounded_trees(const Graph& graph, const NodeMap<std::uint8_t>& is_target,
                   const Batches& batches, const HeightLimit& limit, Progress progress = {});

}  // namespace forestcoll
