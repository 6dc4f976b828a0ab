// Every feasible demand is packed completely and within the capacities (Theorems 7 to 10).
#include <algorithm>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/tree_packing/completion.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/starts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packing_problems.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace tree_packing_tests {

Progress quiet;

// A product of two rings, with links in both directions and the least capacities for four trees
// from each node.
PackingProblem torus(NodeId side) {
  PackingProblem torus{{side * side, {}}, NodeMap<Amount>(side * side, 4)};
  const auto link = [&](NodeId a, NodeId b) {
    torus.graph.arcs.push_back({a, b, side * side - 1});
    torus.graph.arcs.push_back({b, a, side * side - 1});
  };
  for (NodeId x = 0; x < side; ++x) {
    for (NodeId y = 0; y < side; ++y) {
      link(x * side + y, x * side + (y + 1) % side);
      link(x * side + y, (x + 1) % side * side + y);
    }
  }
  return torus;
}

void cascade_packs_whatever_is_feasible() {
  Random random(13);
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 12, round % 2);
    const auto batches = pack(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(std::ranges::is_sorted(batches, {}, &Batch::root));
  }
}

// 36 nodes that are all joined, nine of them with four times the trees of the others: more than
// their links carry directly. A number that divides all capacities and trees divides all batches.
void batches_are_packed_as_single_trees() {
  constexpr NodeId kNodes = PartialPacking::kSmall + 4;
  Graph graph{kNodes, {}};
  for (NodeId a = 0; a < kNodes; ++a) {
    for (NodeId b = 0; b < kNodes; ++b) {
      if (a != b) graph.arcs.push_back({a, b, 1});
    }
  }
  Demand demand = equal_demand(kNodes, 0, 1);
  for (NodeId v = 0; v < kNodes; v += 4) demand.trees[v] = 4;
  const Bottleneck best = find_bottleneck(graph, demand);
  for (Arc& arc : graph.arcs) arc.capacity *= 7 * best.numerator;
  for (Amount& trees : demand.trees) trees *= 7 * best.denominator;
  const auto batches = pack(graph, demand.trees, quiet);
  is_packing(graph, demand.trees, batches);
  CHECK(batches.size() > kNodes);
  const auto is_whole = [](const Batch& batch) { return batch.multiplicity % 7 == 0; };
  CHECK(std::ranges::all_of(batches, is_whole));
}

// Of 21 trees, links of 14 carry all but 7.
void shortage_is_counted_in_trees() {
  Graph star{40, {}};
  for (NodeId v = 1; v < 40; ++v) {
    star.arcs.push_back({0, v, 14});
    star.arcs.push_back({v, 0, 14});
  }
  std::vector<Amount> trees(40, 0);
  trees[0] = 21;
  try {
    pack(star, trees, quiet);
    CHECK(false);
  } catch (const Infeasible& error) {
    CHECK(std::string(error.what()).find("7 trees") != std::string::npos);
  }
}

void greedy_trees_are_breadth_first_where_they_fit() {
  Graph complete{5, {}};
  for (NodeId a = 0; a < 5; ++a) {
    for (NodeId b = 0; b < 5; ++b) {
      if (a != b) complete.arcs.push_back({a, b, 1});
    }
  }
  const std::vector<Amount> trees(5, 1);
  const auto batches = pack_greedily(complete, trees);
  CHECK(batches.has_value());
  is_packing(complete, trees, *batches);
  for (const Batch& batch : *batches) {
    for (NodeId v = 0; v < 5; ++v) {
      CHECK(v == batch.root || batch.parent[v] == batch.root);
    }
  }
}

void shallow_trees_are_a_packing_where_they_fit() {
  Random random(11);
  int fits = 0;
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 9, 1);
    for (const auto packer : {&pack_on_shortest_paths, &pack_with_prim}) {
      if (const auto batches = packer(graph, trees, quiet)) {
        is_packing(graph, trees, *batches);
        ++fits;
      }
    }
  }
  CHECK(fits > 500);
}

void torus_trees_are_as_low_as_the_diameter() {
  for (const NodeId side : {4, 5, 8}) {
    const auto [graph, trees] = torus(side);
    const auto batches = pack(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(batches == pack(graph, trees, quiet));
    PartialPacking packing(graph);
    CHECK(start_on_shortest_paths(packing, trees, quiet));
    CHECK(packing.tree_depth() == side / 2 * 2);
    CHECK(packing.overload() == 0);
  }
}

// Greedily, the first of eight trees takes the longest strides, 16 of them, and the last one is
// left with strides of one. Strides of 4.5 on average make 28.
void no_tree_is_left_with_the_short_strides() {
  constexpr NodeId kNodes = 127, kStrides = 8;
  Graph graph{kNodes, {}};
  for (NodeId v = 0; v < kNodes; ++v) {
    for (NodeId stride = 1; stride <= kStrides; ++stride) {
      graph.arcs.push_back({v, (v + stride) % kNodes, 1});
    }
  }
  graph.arcs = merged(std::move(graph.arcs));
  std::vector<Amount> trees(kNodes, 0);
  for (std::size_t root = 0; root < kStrides; ++root) trees[root] = 1;
  const auto greedy = pack_greedily(graph, trees);
  CHECK(greedy.has_value());
  CHECK(deepest(*greedy) > 100);
  const std::vector<Batch> batches = pack(graph, trees, quiet);
  is_packing(graph, trees, batches);
  CHECK(deepest(batches) < 36);
}

void progress_can_stop_the_work() {
  struct Stop {};
  const auto [graph, trees] = torus(5);
  const Progress stop([](std::int64_t, std::int64_t) { throw Stop{}; });
  for (const auto packer : {&pack, &pack_cut_guided, &pack_exactly}) {
    Progress progress = stop;
    CHECK_THROWS(Stop, packer(graph, trees, progress));
  }
  Progress progress = stop;
  CHECK_THROWS(Stop, pack_with_prim(graph, trees, progress));
}

void refuses_demand_that_does_not_fit() {
  const std::vector<Amount> two{2, 2};
  const Graph narrow{2, {{0, 1, 1}, {1, 0, 2}}};
  CHECK_THROWS(Infeasible, pack(narrow, two, quiet));
  PartialPacking packing(narrow);
  CHECK(start_with_prim(packing, two, quiet));
  CHECK_THROWS(Infeasible, complete(packing, quiet));
  CHECK_THROWS(Infeasible, pack({2, {{0, 1, 2}}}, two, quiet));
  const std::vector<Amount> negative{1, -1};
  CHECK_THROWS(InvalidInput, pack({2, {{0, 1, 1}, {1, 0, 1}}}, negative, quiet));
}

}  // namespace tree_packing_tests

TESTS(tree_packing) {
  cascade_packs_whatever_is_feasible();
  batches_are_packed_as_single_trees();
  shortage_is_counted_in_trees();
  greedy_trees_are_breadth_first_where_they_fit();
  shallow_trees_are_a_packing_where_they_fit();
  torus_trees_are_as_low_as_the_diameter();
  no_tree_is_left_with_the_short_strides();
  progress_can_stop_the_work();
  refuses_demand_that_does_not_fit();
}
