// Small random networks, and all their cuts: the oracle of the tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll::testing {

using Random = std::mt19937;

inline Amount between(Random& random, Amount low, Amount high) {
  // Not std::uniform_int_distribution, whose values differ between standard libraries.
  return low + static_cast<Amount>(random() % static_cast<std::uint64_t>(high - low + 1));
}

// Strongly connected: a cycle over all nodes plus random chords. The last `switches` nodes only
// forward, and each receives at least as much as it sends.
inline Graph random_graph(Random& random, NodeId nodes, NodeId switches, Amount largest) {
  Graph graph{nodes, {}};
  NodeMap<Amount> surplus(nodes, 0);
  const auto add = [&](NodeId tail, NodeId head, Amount capacity) {
    graph.arcs.push_back({tail, head, capacity});
    surplus[head] += capacity;
    surplus[tail] -= capacity;
  };
  for (NodeId v = 0; v < nodes; ++v) add(v, (v + 1) % nodes, between(random, 1, largest));
  for (Amount chords = between(random, 0, 3 * nodes); chords > 0; --chords) {
    const auto tail = static_cast<NodeId>(between(random, 0, nodes - 1));
    const auto head = static_cast<NodeId>(between(random, 0, nodes - 1));
    if (tail != head) add(tail, head, between(random, 1, largest));
  }
  // From the first switch on, a compute node supplies the missing input.
  for (NodeId w = nodes - switches; w < nodes; ++w) {
    const Amount lack = -surplus[w];
    if (lack > 0) add(static_cast<NodeId>(between(random, 0, nodes - switches - 1)), w, lack);
  }
  return graph;
}

inline Demand equal_demand(NodeId nodes, NodeId switches, Amount trees) {
  Demand demand;
  for (NodeId v = 0; v < nodes; ++v) {
    const bool target = v < nodes - switches;
    demand.trees.push_back(target ? trees : 0);
    demand.is_target.push_back(target ? 1 : 0);
  }
  return demand;
}

// Calls visit(ingress of X, trees rooted outside X) for every node set X that holds a target.
template <typename Visit>
void each_cut(const Graph& graph, const Demand& demand, Visit visit) {
  for (std::uint32_t set = 1; set < 1U << graph.num_nodes; ++set) {
    const auto holds = [set](NodeId v) { return (set >> v & 1U) != 0; };
    bool has_target = false;
    Amount outside = 0;
    for (NodeId v = 0; v < graph.num_nodes; ++v) {
      if (holds(v)) {
        has_target = has_target || demand.is_target[v] != 0;
      } else {
        outside += demand.trees[v];
      }
    }
    if (!has_target) continue;
    Amount ingress = 0;
    for (const Arc& arc : graph.arcs) {
      if (!holds(arc.tail) && holds(arc.head)) ingress += arc.capacity;
    }
    visit(ingress, outside);
  }
}

// h(X): the capacity into X minus the trees rooted outside it.
inline Amount surplus(const Graph& graph, const Demand& demand, const std::vector<NodeId>& set) {
  NodeMap<std::uint8_t> inside(graph.num_nodes, 0);
  for (const NodeId v : set) inside[v] = 1;
  Amount surplus = 0;
  for (const Arc& arc : graph.arcs) {
    const bool enters = inside[arc.tail] == 0 && inside[arc.head] != 0;
    surplus += enters ? arc.capacity : 0;
  }
  for (std::size_t v = 0; v < inside.size(); ++v) surplus -= inside[v] ? 0 : demand.trees[v];
  return surplus;
}

// Condition (C): every cut receives the trees rooted outside it.
inline bool carries(const Graph& graph, const Demand& demand) {
  bool carries = true;
  each_cut(graph, demand,
           [&](Amount ingress, Amount outside) { carries = carries && ingress >= outside; });
  return carries;
}

}  // namespace forestcoll::testing
