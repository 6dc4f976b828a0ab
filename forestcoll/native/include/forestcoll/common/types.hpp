// The types of the core: directed graphs with capacities, and the demand for trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

using NodeId = std::int32_t;
using Amount = std::int64_t;  // capacities, trees and flows, all whole numbers

struct Arc {
  NodeId tail;
  NodeId head;
  Amount capacity;

  bool operator==(const Arc&) const = default;
};

struct Graph {
  NodeId num_nodes = 0;
  IndexedVector<Arc> arcs;
};

// Trees rooted at each node, and the nodes that every tree must reach (targets). Other nodes only
// forward; they root no tree.
struct Demand {
  NodeMap<Amount> trees;
  NodeMap<std::uint8_t> is_target;

  Amount total() const;
  std::vector<NodeId> targets() const;
};

// The ends of an arc as one number, in the order of (tail, head). Sorting then needs one comparison
// instead of two.
inline std::uint64_t ends(NodeId tail, NodeId head) {
  return (static_cast<std::uint64_t>(tail) << 32) | static_cast<std::uint32_t>(head);
}

// Sorts arcs by (tail, head) and adds parallel ones up.
std::vector<Arc> merged(std::vector<Arc> arcs);

// Which nodes may root trees.
enum class Roots { targets, any };

// Throws InvalidInput unless arcs, capacities and demand make sense together.
void check(NodeId num_nodes, std::span<const Arc> arcs, const Demand& demand,
           Roots roots = Roots::targets);
inline void check(const Graph& graph, const Demand& demand, Roots roots = Roots::targets) {
  check(graph.num_nodes, graph.arcs, demand, roots);
}

}  // namespace forestcoll
