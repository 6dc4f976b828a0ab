// Boxes of nodes that are tight sets, packed: the plainest factored forest of two levels.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/tree_packing/factored.hpp"
#include "support/columns.hpp"

namespace forestcoll::testing {

inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Boxes of `size` nodes, all linked inside; node i of each box to node i of every other.
inline Graph boxes(NodeId count, NodeId size) {
  Graph graph{count * size, {}};
  for (NodeId u = 0; u < graph.num_nodes; ++u) {
    for (NodeId v = 0; v < graph.num_nodes; ++v) {
      if (u == v) continue;
      if (u / size == v / size) graph.arcs.push_back({u, v, count});
      if (u % size == v % size && u / size != v / size) graph.arcs.push_back({u, v, 1});
    }
  }
  return graph;
}

inline Family family_of_boxes(NodeId count, NodeId size) {
  Family family;
  for (NodeId v = 0; v < count * size; ++v) family.set_of.push_back(v / size);
  family.parent.assign(at(count), count);
  family.parent.push_back(-1);
  return family;
}

inline FactoredForest packed_boxes(NodeId count, NodeId size) {
  const std::vector<Amount> trees(at(count * size), 1);
  return packed_forest(boxes(count, size), trees, family_of_boxes(count, size));
}

}  // namespace forestcoll::testing
