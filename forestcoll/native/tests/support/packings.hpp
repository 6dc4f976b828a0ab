// Checks that batches are a complete packing of spanning out-trees within the capacities, and the
// batches of a factored forest.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/assembly/assembly.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"

namespace forestcoll::testing {

inline void is_packing(const Graph& graph, const std::vector<Amount>& trees,
                       const std::vector<Batch>& batches) {
  std::map<std::pair<NodeId, NodeId>, Amount> left;
  for (const Arc& arc : graph.arcs) left[{arc.tail, arc.head}] += arc.capacity;
  NodeMap<Amount> built(trees.size(), 0);
  for (const Batch& batch : batches) {
    CHECK(batch.multiplicity > 0);
    built[batch.root] += batch.multiplicity;
    for (NodeId v = 0; v < graph.num_nodes; ++v) {
      NodeId at = v;
      for (NodeId hops = 0; at != batch.root && hops <= graph.num_nodes; ++hops) {
        at = batch.parent[at];
        if (at < 0) break;
      }
      CHECK(at == batch.root);
      const NodeId parent = batch.parent[v];
      CHECK((parent < 0) == (v == batch.root));
      if (parent >= 0) left[{parent, v}] -= batch.multiplicity;
    }
  }
  CHECK(built == trees);
  for (const auto& [link, capacity] : left) CHECK(capacity >= 0);
}

// Hops from the root to the farthest node, in the deepest tree.
inline int deepest(const std::vector<Batch>& batches) {
  int most = 0;
  for (const Batch& batch : batches) {
    for (NodeId at : batch.parent) {
      int hops = 0;
      for (; at >= 0; at = batch.parent[at]) ++hops;
      most = std::max(most, hops);
    }
  }
  return most;
}

inline std::vector<Batch> assembled(const FactoredForest& forest) {
  std::vector<Batch> batches;
  NodeMap<NodeId> parent(forest.trees.size());
  for (Assembler trees(forest); trees.next(parent);) {
    batches.push_back({trees.root(), trees.multiplicity(), parent});
  }
  return batches;
}

}  // namespace forestcoll::testing
