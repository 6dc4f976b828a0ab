// The paper's algorithms satisfy their theorems, and agree with the core where the answer is
// unique.
#include <map>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/paper/paper.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace paper_tests {

// The least capacity of a cut between two nodes, and whether `side` is one.
Amount least_cut(const Graph& graph, NodeId source, NodeId sink) {
  Amount least = -1;
  for (std::uint32_t set = 0; set < 1U << graph.num_nodes; ++set) {
    const auto holds = [set](NodeId v) { return (set >> v & 1U) != 0; };
    if (!holds(source) || holds(sink)) continue;
    Amount exit = 0;
    for (const Arc& arc : graph.arcs)
      exit += holds(arc.tail) && !holds(arc.head) ? arc.capacity : 0;
    if (least < 0 || exit < least) least = exit;
  }
  return least;
}

void max_flow_equals_the_least_cut() {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 8));
    const Graph graph = random_graph(random, nodes, 0, 9);
    paper::MaxFlow network(nodes);
    for (const Arc& arc : graph.arcs) network.add(arc.tail, arc.head, arc.capacity);
    const Amount least = least_cut(graph, 0, nodes - 1);
    CHECK(network.run(0, nodes - 1, 1000) == least);
    const NodeMap<std::uint8_t> side = network.source_side(0);
    Amount exit = 0;
    for (const Arc& arc : graph.arcs) {
      const bool leaves = side[arc.tail] != 0 && side[arc.head] == 0;
      exit += leaves ? arc.capacity : 0;
    }
    CHECK(exit == least);
    CHECK(network.run(0, nodes - 1, 1) == 1);  // cut short, and computed anew
  }
}

void what_is_taken_back_leaves_no_trace() {
  paper::MaxFlow network(2);
  network.add(0, 1, 3);
  const auto mark = network.mark();
  for (int round = 0; round < 2; ++round) {
    const NodeId middle = network.add_node();
    network.add(0, middle, 2);
    network.add(middle, 1, 4);
    network.add(0, 1, 1);
    CHECK(middle == 2);
    CHECK(network.run(0, 1, 100) == 6);
    network.rewind(mark);
    CHECK(network.run(0, 1, 100) == 3);
  }
}

void algorithm_1_finds_the_optimum_of_the_core() {
  Random random(22);
  for (int round = 0; round < 300; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 3));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 6));
    const Graph graph = random_graph(random, nodes, switches, 12);
    const Demand weights = equal_demand(nodes, switches, 1);
    const Bottleneck best = find_bottleneck(graph, weights);
    const paper::Optimality found = paper::find_optimality(graph, weights.is_target);
    CHECK(found.numerator == best.numerator);
    CHECK(found.denominator == best.denominator);
    Amount inside = 0, exit = 0;
    for (NodeId v = 0; v < nodes - switches; ++v) inside += found.cut[v];
    for (const Arc& arc : graph.arcs) {
      const bool leaves = found.cut[arc.tail] != 0 && found.cut[arc.head] == 0;
      exit += leaves ? arc.capacity : 0;
    }
    CHECK(inside * best.denominator == exit * best.numerator);
  }
}

// Capacities and trees at the optimum: U b and k.
Demand scale_to_optimum(Graph& graph, NodeId switches) {
  const Bottleneck best = find_bottleneck(graph, equal_demand(graph.num_nodes, switches, 1));
  for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
  return equal_demand(graph.num_nodes, switches, best.denominator);
}

// Replays the splits from the physical links. No split may take more than is left, and the result
// must be the stated links.
void splits_make_the_logical_links(const Graph& graph, const paper::Removal& removal) {
  std::map<std::pair<NodeId, NodeId>, Amount> capacity;
  for (const Arc& arc : graph.arcs) capacity[{arc.tail, arc.head}] += arc.capacity;
  for (const Split& split : removal.splits) {
    const Amount in = capacity[{split.from, split.via}] -= split.amount;
    const Amount out = capacity[{split.via, split.to}] -= split.amount;
    capacity[{split.from, split.to}] += split.amount;
    CHECK(split.amount > 0 && in >= 0 && out >= 0);
  }
  for (const Arc& arc : removal.logical) {
    const Amount made = capacity[{arc.tail, arc.head}];
    CHECK(arc.capacity == made);
  }
}

void algorithm_3_keeps_condition_c_and_algorithm_4_packs_what_it_leaves() {
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 4));
    const auto compute = static_cast<NodeId>(between(random, 2, 5));
    Graph graph = random_graph(random, switches + compute, switches, 8);
    const Demand demand = scale_to_optimum(graph, switches);
    const paper::Removal removal = paper::remove_switches(graph, demand);
    CHECK(carries({graph.num_nodes, removal.logical}, demand));
    splits_make_the_logical_links(graph, removal);
    bool between_compute = true;  // they come first
    for (const Arc& arc : removal.logical) {
      between_compute = between_compute && arc.tail < compute && arc.head < compute;
    }
    CHECK(between_compute);
    if (!between_compute) continue;
    const Graph logical{compute, removal.logical};
    const std::vector<Amount> trees(static_cast<std::size_t>(compute), demand.trees[0]);
    is_packing(logical, trees, paper::pack_trees(logical, trees));
  }
}

void algorithm_4_packs_unequal_numbers_of_trees() {
  Random random(24);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 8));
    Graph graph = random_graph(random, nodes, 0, 9);
    Demand weights = equal_demand(nodes, 0, 1);
    for (Amount& weight : weights.trees) weight = between(random, 0, 3);
    weights.trees[0] = 1;
    const Bottleneck best = find_bottleneck(graph, weights);
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    for (Amount& trees : weights.trees) trees *= best.denominator;
    is_packing(graph, weights.trees, paper::pack_trees(graph, weights.trees));
  }
}

void refuses_what_it_cannot_do() {
  const Graph star{3, {{0, 2, 1}, {2, 1, 1}, {1, 2, 1}, {2, 0, 1}}};
  CHECK_THROWS(Infeasible, paper::remove_switches(star, equal_demand(3, 1, 2)));
  CHECK(paper::remove_switches(star, equal_demand(3, 1, 1)).logical.size() == 2);
  const Graph surplus{3, {{0, 2, 1}, {2, 1, 2}, {1, 2, 1}, {2, 0, 1}}};
  CHECK_THROWS(Infeasible, paper::remove_switches(surplus, equal_demand(3, 1, 1)));

  const std::vector<Amount> two{2, 2}, negative{1, -1};
  CHECK_THROWS(Infeasible, paper::pack_trees({2, {{0, 1, 1}, {1, 0, 2}}}, two));
  CHECK_THROWS(InvalidInput, paper::pack_trees({2, {{0, 1, 1}, {1, 0, 1}}}, negative));

  CHECK_THROWS(Disconnected, paper::find_optimality({2, {{0, 1, 1}}}, {1, 1}));
  const Graph apart{4, {{0, 1, 1}, {1, 0, 1}, {2, 3, 1}, {3, 2, 1}}};
  CHECK_THROWS(Disconnected, paper::find_optimality(apart, {1, 1, 1, 1}));
  CHECK_THROWS(InvalidInput, paper::find_optimality({2, {{0, 1, 1}, {1, 0, 1}}}, {1, 0}));
  const Amount big = Amount{1} << 32;
  CHECK_THROWS(CapacityOverflow, paper::find_optimality({2, {{0, 1, big}, {1, 0, big}}}, {1, 1}));
}

}  // namespace paper_tests

TESTS(paper) {
  max_flow_equals_the_least_cut();
  what_is_taken_back_leaves_no_trace();
  algorithm_1_finds_the_optimum_of_the_core();
  algorithm_3_keeps_condition_c_and_algorithm_4_packs_what_it_leaves();
  algorithm_4_packs_unequal_numbers_of_trees();
  refuses_what_it_cannot_do();
}
