// Flattened trees are a packing of the same demand, and never deeper.
#include <algorithm>

#include "forestcoll/tree_packing/flattening.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace flattening_tests {

std::vector<Batch> evened(const Graph& graph, std::vector<Batch> batches) {
  Progress quiet;
  return flatten(graph, std::move(batches), quiet);
}

// From each root through all nodes in the order of their numbers.
std::vector<Batch> chains(NodeId nodes) {
  std::vector<Batch> batches;
  for (NodeId root = 0; root < nodes; ++root) {
    Batch& chain = batches.emplace_back(Batch{root, 1, NodeMap<NodeId>(nodes, -1)});
    for (NodeId hop = 1; hop < nodes; ++hop) {
      chain.parent[(root + hop) % nodes] = (root + hop - 1) % nodes;
    }
  }
  return batches;
}

// Where every arc carries any chain, a star of each root fits as well.
void chains_in_a_complete_graph_become_stars() {
  for (const NodeId nodes : {2, 5, 12, 40}) {
    Graph graph{nodes, {}};
    for (NodeId tail = 0; tail < nodes; ++tail) {
      for (NodeId head = 0; head < nodes; ++head) {
        if (tail != head) graph.arcs.push_back({tail, head, nodes});
      }
    }
    const std::vector<Batch> stars = evened(graph, chains(nodes));
    is_packing(graph, std::vector<Amount>(static_cast<std::size_t>(nodes), 1), stars);
    CHECK(deepest(stars) == 1);
  }
}

// A ring one way has chains only.
void what_is_as_low_as_can_be_stays() {
  Graph ring{9, {}};
  for (NodeId v = 0; v < 9; ++v) ring.arcs.push_back({v, (v + 1) % 9, 8});
  CHECK(evened(ring, chains(9)) == chains(9));
  CHECK(evened(ring, {}).empty());
}

// A random tree whose nodes mostly hang below those that joined last.
Batch random_tree(Random& random, NodeId nodes, NodeId root, Amount multiplicity) {
  Batch tree{root, multiplicity, NodeMap<NodeId>(nodes, -1)};
  std::vector<NodeId> joined{root}, others;
  for (NodeId v = 0; v < nodes; ++v) {
    if (v != root) others.push_back(v);
  }
  while (!others.empty()) {
    const auto node = static_cast<std::size_t>(between(random, 0, std::ssize(others) - 1));
    const Amount back = std::min<Amount>(between(random, 0, 2), std::ssize(joined) - 1);
    tree.parent[others[node]] = joined[joined.size() - 1 - static_cast<std::size_t>(back)];
    joined.push_back(others[node]);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(node));
  }
  return tree;
}

// Capacities are the trees' loads and up to as much again. Arcs come in any order, some in parts.
void lowered_trees_are_a_packing_of_the_same_demand() {
  Random random(31);
  int shallower = 0;
  for (int round = 0; round < 80; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 14));
    std::vector<Batch> before;
    NodeMap<Amount> trees(nodes, 0);
    Graph graph{nodes, {}};
    for (NodeId root = 0; root < nodes; ++root) {
      for (Amount of_root = between(random, 0, 2); of_root > 0; --of_root) {
        before.push_back(random_tree(random, nodes, root, between(random, 1, 5)));
        const Batch& tree = before.back();
        trees[root] += tree.multiplicity;
        const Amount spare = between(random, 0, tree.multiplicity);
        for (NodeId v = 0; v < nodes; ++v) {
          if (v != root) graph.arcs.push_back({tree.parent[v], v, tree.multiplicity + spare});
        }
      }
    }
    if (round % 2 == 0) graph.arcs = merged(std::move(graph.arcs));
    is_packing(graph, trees, before);
    const std::vector<Batch> after = evened(graph, before);
    is_packing(graph, trees, after);
    CHECK(deepest(after) <= deepest(before));
    CHECK(deepest(after) < deepest(before) || after == before);
    CHECK(evened(graph, before) == after);
    shallower += deepest(after) < deepest(before);
  }
  CHECK(shallower > 40);
}

}  // namespace flattening_tests

TESTS(flattening) {
  chains_in_a_complete_graph_become_stars();
  what_is_as_low_as_can_be_stays();
  lowered_trees_are_a_packing_of_the_same_demand();
}
