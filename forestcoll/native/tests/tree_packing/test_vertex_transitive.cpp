// Trees of one root, moved to all others, are a packing; other graphs are left alone.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace vertex_transitive_tests {

Graph circulant(NodeId nodes, const std::vector<std::pair<NodeId, Amount>>& offsets) {
  Graph graph{nodes, {}};
  for (NodeId v = 0; v < nodes; ++v) {
    for (const auto& [by, capacity] : offsets) {
      graph.arcs.push_back({v, (v + by) % nodes, capacity});
    }
  }
  return graph;
}

std::optional<std::vector<Batch>> transposed(const Graph& graph, std::span<const Amount> trees) {
  Progress quiet;
  return pack_vertex_transitive(graph, trees, quiet);
}

NodeId tree_depth(const Batch& batch) {
  NodeId tree_depth = 0;
  for (std::size_t v = 0; v < batch.parent.size(); ++v) {
    NodeId hops = 0;
    for (auto at = static_cast<NodeId>(v); at != batch.root; ++hops) {
      at = batch.parent[at];
    }
    tree_depth = std::max(tree_depth, hops);
  }
  return tree_depth;
}

void rotated_trees_are_a_packing() {
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
    const auto batches = transposed(graph, all);
    if (!batches) continue;
    is_packing(graph, all, *batches);
    // What an arc carries follows from its offset.
    const std::vector<Arc> arcs = merged(graph.arcs);
    CHECK(find_transitive_packing(graph, all)->loads(arcs) == loads(arcs, *batches));
    ++packed;
  }
  CHECK(packed > 30);
}

// The uses of each offset by trees of root 0 in which each node takes its parent from one nearer to
// 0: every choice, node by node. Offsets are 1 to N - 1.
std::set<std::vector<Amount>> depth_bounded_trees(const std::vector<Amount>& capacity) {
  const auto nodes = static_cast<NodeId>(capacity.size());
  std::vector<NodeId> hops(capacity.size(), -1), queue{0};
  hops[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (NodeId by = 1; by < nodes; ++by) {
      const NodeId to = (queue[i] + by) % nodes;
      if (capacity[by] == 0 || hops[to] >= 0) continue;
      hops[to] = hops[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  if (std::ranges::find(hops, -1) != hops.end()) return {};
  std::set<std::vector<Amount>> found{std::vector<Amount>(capacity.size(), 0)};
  for (NodeId v = 1; v < nodes; ++v) {
    std::set<std::vector<Amount>> longer;
    for (const std::vector<Amount>& used : found) {
      for (NodeId by = 1; by < nodes; ++by) {
        if (capacity[by] == 0 || hops[(v - by + nodes) % nodes] >= hops[v]) continue;
        std::vector<Amount> more = used;
        ++more[by];
        longer.insert(more);
      }
    }
    found = std::move(longer);
  }
  return found;
}

// Whether `trees` equal trees fit, or all but one equal tree and another.
bool some_fit(const std::vector<Amount>& capacity, Amount trees) {
  const std::set<std::vector<Amount>> all = depth_bounded_trees(capacity);
  return std::ranges::any_of(all, [&](const auto& most) {
    return std::ranges::any_of(all, [&](const auto& last) {
      for (std::size_t by = 1; by < capacity.size(); ++by) {
        if ((trees - 1) * most[by] + last[by] > capacity[by]) return false;
      }
      return true;
    });
  });
}

// Calls visit(capacities of the offsets 1 to N - 1, at 1 to N - 1) for all capacities of this sum.
void each_split(std::vector<Amount>& capacity, std::size_t by, Amount sum, const auto& visit) {
  if (by + 1 == capacity.size()) {
    capacity[by] = sum;
    visit(capacity);
    return;
  }
  for (Amount here = 0; here <= sum; ++here) {
    capacity[by] = here;
    each_split(capacity, by + 1, sum - here, visit);
  }
}

void trees_are_found_wherever_all_but_one_may_be_equal() {
  // Every circulant graph of 3 to 6 nodes with exactly the capacity of 2 or 3 trees a root, and
  // with a little more: remainders of every kind.
  int found = 0, unequal = 0;
  for (const auto& [nodes, trees, more] :
       std::vector<std::tuple<NodeId, Amount, Amount>>{{3, 2, 0},
                                                       {4, 2, 0},
                                                       {4, 3, 0},
                                                       {5, 2, 0},
                                                       {5, 3, 0},
                                                       {6, 2, 0},
                                                       {6, 2, 1},
                                                       {4, 2, 1},
                                                       {5, 2, 1}}) {
    std::vector<Amount> capacity(static_cast<std::size_t>(nodes), 0);
    const std::vector<Amount> all(static_cast<std::size_t>(nodes), trees);
    each_split(capacity, 1, (nodes - 1) * trees + more, [&](const std::vector<Amount>& split) {
      std::vector<std::pair<NodeId, Amount>> offsets;
      for (NodeId by = 1; by < nodes; ++by) {
        if (split[by] > 0) offsets.emplace_back(by, split[by]);
      }
      const Graph graph = circulant(nodes, offsets);
      const auto batches = transposed(graph, all);
      CHECK(batches.has_value() == some_fit(split, trees));
      if (!batches) return;
      is_packing(graph, all, *batches);
      ++found;
      unequal += std::ssize(*batches) > nodes ? 1 : 0;
    });
  }
  CHECK(found > 300 && unequal > 100);
}

void a_short_and_a_long_step_reach_everybody() {
  // 64 boxes with offsets 1 to 8 and the multiples of 8; 63 trees use each offset 4 or 5 times.
  std::vector<std::pair<NodeId, Amount>> offsets;
  for (NodeId by = 1; by < 64; ++by) {
    if (by <= 8 || by % 8 == 0) offsets.emplace_back(by, offsets.size() < 7 ? 5 : 4);
  }
  Amount in = 0;
  for (const auto& offset : offsets) in += offset.second;
  CHECK(in == 63);
  const std::vector<Amount> one(64, 1);
  const auto batches = transposed(circulant(64, offsets), one);
  CHECK(batches.has_value());
  is_packing(circulant(64, offsets), one, *batches);
  for (const Batch& batch : *batches) CHECK(tree_depth(batch) == 2);
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
    // Four trees a root use up all four links, N - 1 each.
    const Graph graph = torus(rows, columns, rows * columns - 1);
    const std::vector<Amount> four(static_cast<std::size_t>(graph.num_nodes), 4);
    const auto batches = transposed(graph, four);
    CHECK(batches.has_value());
    is_packing(graph, four, *batches);
    CHECK(std::ssize(*batches) <= 2 * graph.num_nodes);
    for (const Batch& batch : *batches) CHECK(tree_depth(batch) == rows / 2 + columns / 2);
  }
}

void other_problems_are_left_alone() {
  const Graph ring = circulant(5, {{1, 4}});
  CHECK(transposed(ring, std::vector<Amount>(5, 1)).has_value());
  CHECK(!transposed(ring, std::vector<Amount>{1, 1, 2, 0, 0}).has_value());
  CHECK(!transposed(ring, std::vector<Amount>(5, 2)).has_value());  // 8 trees an arc
  Graph dented = ring;
  dented.arcs[3].capacity = 5;
  CHECK(!transposed(dented, std::vector<Amount>(5, 1)).has_value());
  Graph open = ring;
  open.arcs.pop_back();
  CHECK(!transposed(open, std::vector<Amount>(5, 1)).has_value());
}

}  // namespace vertex_transitive_tests

TESTS(vertex_transitive) {
  rotated_trees_are_a_packing();
  trees_are_found_wherever_all_but_one_may_be_equal();
  a_short_and_a_long_step_reach_everybody();
  a_torus_takes_two_trees_of_each_root_as_low_as_can_be();
  other_problems_are_left_alone();
}
