// Trees stay within the depth, and their paths carry the trees over their edges.
#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "forestcoll/bounded_depth/bounded_depth.hpp"
#include "forestcoll/common/errors.hpp"
#include "support/check.hpp"

using namespace forestcoll;

namespace bounded_depth_tests {

Batches one_from_each(int size) {
  Batches batches;
  for (int v = 0; v < size; ++v) {
    batches.root.push_back(v);
    batches.multiplicity.push_back(1);
  }
  return batches;
}

// Checks trees and paths, and returns the greatest load on a link of capacity 1.
Amount check_trees(const Graph& graph, const Batches& batches, int tree_depth,
                   const LowTrees& made) {
  const std::size_t size = batches.parent.empty() ? made.parent.size() / batches.root.size()
                                                  : batches.parent.size() / batches.root.size();
  std::map<std::pair<int, int>, Amount> wanted, carried;
  for (std::size_t batch = 0; batch < batches.root.size(); ++batch) {
    for (std::size_t v = 0; v < size; ++v) {
      int hops = 0;
      for (int u = static_cast<int>(v); u != batches.root[batch]; ++hops) {
        CHECK(hops < tree_depth);
        u = made.parent[batch * size + static_cast<std::size_t>(u)];
        CHECK(u >= 0);
      }
      const int parent = made.parent[batch * size + v];
      if (parent >= 0) wanted[{parent, static_cast<int>(v)}] += batches.multiplicity[batch];
    }
  }
  std::map<std::pair<NodeId, NodeId>, Amount> load;
  for (std::size_t link = 0; link < made.tail.size(); ++link) {
    for (auto path = made.first_path[link]; path < made.first_path[link + 1]; ++path) {
      const auto at = static_cast<std::size_t>(path);
      carried[{made.tail[link], made.head[link]}] += made.path_trees[at];
      for (auto hop = made.first_hop[at]; hop + 1 < made.first_hop[at + 1]; ++hop) {
        const auto here = static_cast<std::size_t>(hop);
        load[{made.hop[here], made.hop[here + 1]}] += made.path_trees[at];
      }
    }
  }
  CHECK(wanted == carried);
  Amount most = 0;
  for (const auto& [ends, trees] : load) {
    CHECK(std::ranges::any_of(
        graph.arcs, [&](const Arc& arc) { return std::pair(arc.tail, arc.head) == ends; }));
    most = std::max(most, trees);
  }
  return most;
}

// In both directions.
Graph ring(NodeId size) {
  Graph graph{size, {}};
  for (NodeId v = 0; v < size; ++v) {
    graph.arcs.push_back({v, (v + 1) % size, 1});
    graph.arcs.push_back({(v + 1) % size, v, 1});
  }
  return graph;
}

// Four nodes in a ring get three shards over two links each: some link carries two trees. Two hops
// reach all nodes.
void test_a_ring() {
  const Graph graph = ring(4);
  const NodeMap<std::uint8_t> target(4, 1);
  const Batches batches = one_from_each(4);
  CHECK(check_trees(graph, batches, 2,
                    depth_bounded_trees(graph, target, batches, {2, 3, 2, 1000000})) == 2);
  CHECK(check_trees(graph, batches, 9,
                    depth_bounded_trees(graph, target, batches, {9, 3, 2, 1000000})) == 2);
  CHECK_THROWS(Infeasible, depth_bounded_trees(graph, target, batches, {1, 3, 2, 1000000}));
}

// Chains once round the ring, cut to two hops.
void test_tall_trees_are_cut() {
  const Graph graph = ring(5);
  Batches batches = one_from_each(5);
  for (int root = 0; root < 5; ++root) {
    for (int v = 0; v < 5; ++v) batches.parent.push_back(v == root ? -1 : (v + 4) % 5);
  }
  const LowTrees made =
      depth_bounded_trees(graph, NodeMap<std::uint8_t>(5, 1), batches, {2, 2, 1, 1000000});
  CHECK(check_trees(graph, batches, 2, made) <= 3);
}

// Behind one switch every node sends three shards at depth 1, and a path is two links.
void test_a_switch() {
  Graph graph{5, {}};
  for (NodeId v = 0; v < 4; ++v) {
    graph.arcs.push_back({v, 4, 1});
    graph.arcs.push_back({4, v, 1});
  }
  const NodeMap<std::uint8_t> target(std::vector<std::uint8_t>{1, 1, 1, 1, 0});
  const Batches batches = one_from_each(4);
  const LowTrees made = depth_bounded_trees(graph, target, batches, {1, 3, 1, 1000000});
  CHECK(check_trees(graph, batches, 1, made) == 3);
  CHECK(made.hop.size() == 12 * 3);
}

}  // namespace bounded_depth_tests

TESTS(bounded_depth) {
  test_a_ring();
  test_tall_trees_are_cut();
  test_a_switch();
}
