// Every feasible demand is packed completely and within the capacities (Theorems 7 to 10).
#include "check.hpp"
#include "forestcoll/errors.hpp"
#include "forestcoll/optimality.hpp"
#include "forestcoll/packing.hpp"
#include "packings.hpp"
#include "random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace {

Progress quiet;

void exact_packer_packs_whatever_is_feasible() {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 8));
    Graph graph = random_graph(random, nodes, 0, 9);
    Demand weights = equal_demand(nodes, 0, 1);
    for (Amount& weight : weights.trees) weight = between(random, round % 2, 3);
    weights.trees[0] = 1;
    const Bottleneck best = find_bottleneck(graph, weights);
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    for (Amount& trees : weights.trees) trees *= best.denominator;
    is_packing(graph, weights.trees, pack_exactly(graph, weights.trees, quiet));
    is_packing(graph, weights.trees, pack(graph, weights.trees, quiet));
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
      CHECK(v == batch.root || batch.parent[static_cast<std::size_t>(v)] == batch.root);
    }
  }
}

void shortest_path_trees_are_a_packing_where_they_fit() {
  Random random(11);
  int fits = 0;
  for (int round = 0; round < 300; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 3, 9));
    Graph graph = random_graph(random, nodes, 0, 9);
    const Bottleneck best = find_bottleneck(graph, equal_demand(nodes, 0, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const std::vector<Amount> trees(static_cast<std::size_t>(nodes), best.denominator);
    if (const auto batches = pack_on_shortest_paths(graph, trees, quiet)) {
      is_packing(graph, trees, *batches);
      ++fits;
    }
  }
  CHECK(fits > 100);
}

void refuses_demand_that_does_not_fit() {
  const std::vector<Amount> two{2, 2};
  CHECK_THROWS(Infeasible, pack({2, {{0, 1, 1}, {1, 0, 2}}}, two, quiet));
  const std::vector<Amount> negative{1, -1};
  CHECK_THROWS(InvalidInput, pack({2, {{0, 1, 1}, {1, 0, 1}}}, negative, quiet));
}

}  // namespace

int main() {
  exact_packer_packs_whatever_is_feasible();
  greedy_trees_are_breadth_first_where_they_fit();
  shortest_path_trees_are_a_packing_where_they_fit();
  refuses_demand_that_does_not_fit();
  return check::report();
}
