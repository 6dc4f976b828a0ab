// Trees turned from one root to all others are a packing; other graphs are left alone.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace {

Graph circulant(NodeId nodes, const std::vector<std::pair<NodeId, Amount>>& offsets) {
  Graph graph{nodes, {}};
  for (NodeId v = 0; v < nodes; ++v) {
    for (const auto& [by, capacity] : offsets) {
      graph.arcs.push_back({v, (v + by) % nodes, capacity});
    }
  }
  return graph;
}

std::optional<std::vector<Batch>> turned(const Graph& graph, std::span<const Amount> trees) {
  Progress quiet;
  return pack_by_turning(graph, trees, quiet);
}

NodeId height(const Batch& batch) {
  NodeId height = 0;
  for (std::size_t v = 0; v < batch.parent.size(); ++v) {
    NodeId hops = 0;
    for (auto at = static_cast<NodeId>(v); at != batch.root; ++hops) {
      at = batch.parent[at];
    }
    height = std::max(height, hops);
  }
  return height;
}

void turned_trees_are_a_packing() {
  Random random(29);
  int packed = 0;
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 24));
    const Amount trees = between(random, 1, 4);
    std::vector<std::pair<NodeId, Amount>> offsets;
    for (NodeId by = 1; by < nodes; ++by) {
      if (random() % 2 == 0) offsets.emplace_back(by, between(random, 1, 8));
    }
    const Graph graph = circulant(nodes, offsets);
    const std::vector<Amount> all(static_cast<std::size_t>(nodes), trees);
    const auto batches = turned(graph, all);
    if (!batches) continue;
    is_packing(graph, all, *batches);
    ++packed;
  }
  CHECK(packed > 30);
}

void a_short_and_a_long_step_reach_everybody() {
  // 64 boxes with offsets 1 to 8 and the multiples of 8; 63 trees pass each offset 4 or 5 times.
  std::vector<std::pair<NodeId, Amount>> offsets;
  for (NodeId by = 1; by < 64; ++by) {
    if (by <= 8 || by % 8 == 0) offsets.emplace_back(by, offsets.size() < 7 ? 5 : 4);
  }
  Amount in = 0;
  for (const auto& offset : offsets) in += offset.second;
  CHECK(in == 63);
  const std::vector<Amount> one(64, 1);
  const auto batches = turned(circulant(64, offsets), one);
  CHECK(batches.has_value());
  is_packing(circulant(64, offsets), one, *batches);
  for (const Batch& batch : *batches) CHECK(height(batch) == 2);
}

// Rows x columns, one link of this capacity to each side.
Graph torus(NodeId rows, NodeId columns, Amount capacity) {
  Graph graph{rows * columns, {}};
  for (NodeId v = 0; v < graph.num_nodes; ++v) {
    const NodeId row = v / columns, column = v % columns;
    for (const NodeId by : {NodeId{1}, rows - 1}) {
      graph.arcs.push_back({v, (row + by) % rows * columns + column, capacity});
    }
    for (const NodeId by : {NodeId{1}, columns - 1}) {
      graph.arcs.push_back({v, row * columns + (column + by) % columns, capacity});
    }
  }
  return graph;
}

void a_torus_takes_two_trees_of_each_root_as_low_as_can_be() {
  for (const auto& [rows, columns] : {std::pair{3, 3}, {4, 4}, {4, 8}, {5, 7}, {8, 8}}) {
    // Four trees a root use up all of four links, N - 1 each.
    const Graph graph = torus(rows, columns, rows * columns - 1);
    const std::vector<Amount> four(static_cast<std::size_t>(graph.num_nodes), 4);
    const auto batches = turned(graph, four);
    CHECK(batches.has_value());
    is_packing(graph, four, *batches);
    CHECK(std::ssize(*batches) <= 2 * graph.num_nodes);
    for (const Batch& batch : *batches) CHECK(height(batch) == rows / 2 + columns / 2);
  }
}

void other_problems_are_left_alone() {
  const Graph ring = circulant(5, {{1, 4}});
  CHECK(turned(ring, std::vector<Amount>(5, 1)).has_value());
  CHECK(!turned(ring, std::vector<Amount>{1, 1, 2, 0, 0}).has_value());
  CHECK(!turned(ring, std::vector<Amount>(5, 2)).has_value());  // 8 trees an arc
  Graph dented = ring;
  dented.arcs[3].capacity = 5;
  CHECK(!turned(dented, std::vector<Amount>(5, 1)).has_value());
  Graph open = ring;
  open.arcs.pop_back();
  CHECK(!turned(open, std::vector<Amount>(5, 1)).has_value());
}

}  // namespace

int main() {
  turned_trees_are_a_packing();
  a_short_and_a_long_step_reach_everybody();
  a_torus_takes_two_trees_of_each_root_as_low_as_can_be();
  other_problems_are_left_alone();
  return check::report();
}
