// Removal of switches keeps condition (C) (Theorem 5), and uses no capacity twice.
#include <algorithm>
#include <map>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace edge_splitting_tests {

// Capacities and trees at the optimum: U b and k.
Demand scale_to_optimum(Graph& graph, NodeId switches) {
  const Bottleneck best = find_bottleneck(graph, equal_demand(graph.num_nodes, switches, 1));
  for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
  return equal_demand(graph.num_nodes, switches, best.denominator);
}

// Replays the splits from the physical links. No split may take more than is left, and the logical
// links must be among the remaining capacity at the end.
void splits_make_the_logical_links(const Graph& graph, const SwitchRemoval& removal) {
  std::map<std::pair<NodeId, NodeId>, Amount> capacity;
  for (const Arc& arc : graph.arcs) capacity[{arc.tail, arc.head}] += arc.capacity;
  for (const Split& split : rows(removal.splits)) {
    capacity[{split.from, split.via}] -= split.amount;
    capacity[{split.via, split.to}] -= split.amount;
    capacity[{split.from, split.to}] += split.amount;
    const Amount in = capacity[{split.from, split.via}];
    const Amount out = capacity[{split.via, split.to}];
    CHECK(split.amount > 0 && in >= 0 && out >= 0);
  }
  for (const Arc& arc : rows(removal.logical)) {
    const Amount made = capacity[{arc.tail, arc.head}];
    CHECK(arc.capacity == made);
  }
}

// Trims the graph and returns its tight sets.
Family trimmed(Graph& graph, const Demand& demand) {
  Decomposition parts = decompose(graph, demand);
  for (std::size_t i = 0; i < graph.arcs.size(); ++i) graph.arcs[i].capacity = parts.capacity[i];
  return std::move(parts.family);
}

void sets_stay_tight(const Graph& logical, const Demand& demand, const Family& family) {
  const Nesting nesting(family);
  for (int set = 0; set < family.num_sets(); ++set) {
    CHECK(surplus(logical, demand, nesting.nodes_inside(set)) == 0);
  }
}

// Guessed and repaired, guessed and given up at the first shortage, never guessed.
void removal_keeps_condition_c_and_the_physical_capacities(RemovalOptions options) {
  Random random(5);
  int exact = 0;
  for (int round = 0; round < 150; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 1, 4));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 5));
    Graph graph = random_graph(random, nodes, switches, 8);
    const Demand demand = scale_to_optimum(graph, switches);
    Family family = no_tight_sets(graph.num_nodes);
    if (round % 2 == 0) family = trimmed(graph, demand);
    const SwitchRemoval removal = remove_switches(graph, demand, family, {}, options);
    exact += removal.exact_switches;
    const Graph logical{nodes, rows(removal.logical)};
    for (const Arc& arc : logical.arcs) {
      CHECK(demand.is_target[arc.tail] != 0);
      CHECK(demand.is_target[arc.head] != 0);
      CHECK(arc.capacity > 0);
    }
    CHECK(carries(logical, demand));
    splits_make_the_logical_links(graph, removal);
    sets_stay_tight(logical, demand, family);
  }
  CHECK(options.most_exchanges < 0 ? exact > 180 : exact < 40);
  CHECK(options.most_exchanges != 0 || exact > 0);
}

void two_boxes_of_the_paper_become_rails() {
  // Figure 6: boxes {0..3} with switch 8 and {4..7} with switch 9, joined by switch 10.
  Graph graph{11, {}};
  for (NodeId gpu = 0; gpu < 8; ++gpu) {
    const NodeId box = gpu < 4 ? 8 : 9;
    for (const auto& [a, b, c] : {std::tuple{gpu, box, 10}, {gpu, NodeId{10}, 1}}) {
      graph.arcs.push_back({a, b, c});
      graph.arcs.push_back({b, a, c});
    }
  }
  const Demand demand = equal_demand(11, 3, 1);
  const SwitchRemoval removal = remove_switches(graph, demand, find_tight_sets(graph, demand));
  CHECK(removal.exact_switches == 0);
  CHECK(carries({11, rows(removal.logical)}, demand));
  Amount across = 0;
  for (const Arc& arc : rows(removal.logical))
    across += (arc.tail < 4 && arc.head >= 4) ? arc.capacity : 0;
  CHECK(across == 4);
}

// Four GPUs, each on a hub with three forwarding nodes that lead to one common switch.
void boxes_that_mostly_forward_make_few_splits() {
  constexpr NodeId kGpus = 4, kHub = 4, kRelay = 8, kCore = 20;
  Graph graph{kCore + 1, {}};
  const auto both_ways = [&graph](NodeId a, NodeId b, Amount capacity) {
    graph.arcs.push_back({a, b, capacity});
    graph.arcs.push_back({b, a, capacity});
  };
  for (NodeId gpu = 0; gpu < kGpus; ++gpu) {
    both_ways(gpu, kHub + gpu, 100);
    for (NodeId relay = kRelay + 3 * gpu; relay < kRelay + 3 * gpu + 3; ++relay) {
      both_ways(kHub + gpu, relay, 100);
      both_ways(relay, kCore, 2);
    }
  }
  const Demand demand = equal_demand(kCore + 1, kCore + 1 - kGpus, 2);
  const Family family = trimmed(graph, demand);
  const SwitchRemoval removal = remove_switches(graph, demand, family);
  const Graph logical{kCore + 1, rows(removal.logical)};
  CHECK(carries(logical, demand));
  splits_make_the_logical_links(graph, removal);
  sets_stay_tight(logical, demand, family);
  // Two trees between each pair: they share a port, though there are three.
  CHECK(std::ranges::count(removal.splits.via, kCore) == kGpus * (kGpus - 1));
}

// Eight boxes of four GPUs, their NICs of 20 to 25 units each. Batches of all trees of a GPU stay
// whole on nearly all links between boxes; in proportion to the NICs, nearly none would.
void links_of_unequal_nics_carry_whole_batches() {
  constexpr NodeId kBoxes = 8, kGpus = 4, kAll = kBoxes * kGpus, kCore = kAll + kBoxes;
  Random random(7);
  Graph graph{kCore + 1, {}};
  for (NodeId gpu = 0; gpu < kAll; ++gpu) {
    const Amount nic = between(random, 20, 25);
    for (const auto& [a, b, c] :
         {std::tuple{gpu, kAll + gpu / kGpus, Amount{300}}, {gpu, kCore, nic}}) {
      graph.arcs.push_back({a, b, c});
      graph.arcs.push_back({b, a, c});
    }
  }
  const Demand demand = scale_to_optimum(graph, kBoxes + 1);
  const Amount batch = demand.trees[0];
  CHECK(batch > 1);
  const Family family = trimmed(graph, demand);
  const SwitchRemoval removal = remove_switches(graph, demand, family);
  const FlowNetwork network({kCore + 1, rows(removal.logical)});  // too many cuts to test them all
  WarmFlow flow(network, demand.trees);
  for (NodeId gpu = 0; gpu < kAll; ++gpu) CHECK(flow.settle(gpu) == 0);
  splits_make_the_logical_links(graph, removal);
  int whole = 0, broken = 0;
  for (const Arc& arc : rows(removal.logical)) {
    if (arc.tail / kGpus == arc.head / kGpus) continue;
    ++(arc.capacity % batch == 0 ? whole : broken);
  }
  CHECK(whole > 2 * broken);
}

void refuses_demand_that_does_not_fit() {
  const Graph graph{3, {{0, 2, 1}, {2, 1, 1}, {1, 2, 1}, {2, 0, 1}}};
  CHECK_THROWS(Infeasible, remove_switches(graph, equal_demand(3, 1, 2), no_tight_sets(3)));
  CHECK(remove_switches(graph, equal_demand(3, 1, 1), no_tight_sets(3)).logical.size() == 2);
}

}  // namespace edge_splitting_tests

TESTS(edge_splitting) {
  for (const int most_exchanges : {100, 0, -1}) {
    removal_keeps_condition_c_and_the_physical_capacities({most_exchanges});
  }
  two_boxes_of_the_paper_become_rails();
  boxes_that_mostly_forward_make_few_splits();
  links_of_unequal_nics_carry_whole_batches();
  refuses_demand_that_does_not_fit();
}
