// Packing one by one succeeds on feasible input, with all cuts known or with few.
#include <algorithm>

#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tree_packing/known_cuts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packing_problems.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace cut_guided_tests {

Progress quiet;

void exact_packer_packs_whatever_is_feasible() {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 8, round % 2);
    is_packing(graph, trees, pack_exactly(graph, trees, quiet));
  }
}

// Known cuts forbid nothing at first, so trees must be taken back again and again.
void cut_guided_packer_packs_whatever_is_feasible() {
  Random random(41);
  for (int round = 0; round < 600; ++round) {
    const auto [graph, trees] = random_problem(random, 4 + round % 9, round % 2);
    const auto batches = pack_cut_guided(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(batches == pack_cut_guided(graph, trees, quiet));
  }
}

// Node 0 sends nothing, so a search from it finds no other node.
void cut_guided_packer_sees_nodes_that_the_first_does_not_reach() {
  Random random(47);
  for (int round = 0; round < 600; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 4, 12));
    Graph graph = random_graph(random, nodes, 0, 9);
    std::erase_if(graph.arcs, [](const Arc& arc) { return arc.tail == 0; });
    for (NodeId v = 1; v < nodes; ++v) graph.arcs.push_back({v, v + 1 < nodes ? v + 1 : 1, 1});
    graph.arcs.push_back({1, 0, 1});
    graph.arcs = merged(std::move(graph.arcs));
    Demand weights = equal_demand(nodes, 0, 1);
    for (Amount& weight : weights.trees) weight = between(random, 1, 3);
    weights.trees[0] = 0;
    const Bottleneck best = find_bottleneck(graph, weights);
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    for (Amount& trees : weights.trees) trees *= best.denominator;
    is_packing(graph, weights.trees, pack_cut_guided(graph, weights.trees, quiet));
  }
}

// The surplus of a set is its ingress beyond its need, whatever trees were packed.
void known_cuts_keep_the_surplus_of_their_sets() {
  Random random(43);
  for (int round = 0; round < 200; ++round) {
    const auto [graph, trees] = random_problem(random, 7, round % 2);
    const auto batches = pack_exactly(graph, trees, quiet);
    NodeSet set(trees.size());
    for (auto& in : set) in = between(random, 0, 1) == 1;
    set[0] = 1;
    const auto in = [&](NodeId v) { return set[v] != 0; };
    Amount surplus = 0;
    for (std::size_t v = 0; v < trees.size(); ++v) surplus -= set[v] ? 0 : trees[v];
    for (const Arc& arc : graph.arcs) surplus += in(arc.head) && !in(arc.tail) ? arc.capacity : 0;
    KnownCuts cuts(graph.num_nodes);
    cuts.add(set, surplus);
    for (const Batch& batch : batches) {
      cuts.begin(batch.root);
      Amount entries = 0;
      std::vector<NodeId> order{batch.root};
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (NodeId v = 0; v < graph.num_nodes; ++v) {
          if (batch.parent[v] != order[i]) continue;
          const bool enters = in(v) && !in(order[i]);
          const bool again = enters && (entries > 0 || in(batch.root));
          constexpr Amount kAny = 1000000;
          CHECK(cuts.safe(order[i], v, kAny) == (again ? std::min(surplus, kAny) : kAny));
          cuts.enter(order[i], v, batch.multiplicity);
          entries += enters;
          if (again) surplus -= batch.multiplicity;
          order.push_back(v);
        }
      }
      CHECK(surplus >= 0);
    }
  }
}

}  // namespace cut_guided_tests

TESTS(cut_guided) {
  exact_packer_packs_whatever_is_feasible();
  cut_guided_packer_packs_whatever_is_feasible();
  cut_guided_packer_sees_nodes_that_the_first_does_not_reach();
  known_cuts_keep_the_surplus_of_their_sets();
}
