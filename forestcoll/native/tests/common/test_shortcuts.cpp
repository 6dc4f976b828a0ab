// A blocked shortcut is not taken, and the result is right without it.
#include <algorithm>
#include <utility>

#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"
#include "forestcoll/tight_sets/trimming.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace shortcuts_tests {

unsigned bit(Shortcut shortcut) { return 1U << static_cast<unsigned>(shortcut); }

Graph ring(NodeId nodes) {
  Graph graph{nodes, {}};
  for (NodeId v = 0; v < nodes; ++v) {
    graph.arcs.push_back({v, (v + 1) % nodes, 3});
    graph.arcs.push_back({v, (v + nodes - 1) % nodes, 3});
  }
  graph.arcs = merged(std::move(graph.arcs));
  return graph;
}

void all_are_open_until_they_are_blocked() {
  const auto count = static_cast<unsigned>(kShortcutNames.size());
  for (unsigned one = 0; one < count; ++one) {
    CHECK(is_open(static_cast<Shortcut>(one)));
    block_shortcuts(1U << one);
    for (unsigned other = 0; other < count; ++other) {
      CHECK(is_open(static_cast<Shortcut>(other)) == (other != one));
    }
    block_shortcuts(0);
  }
}

// A path from one node to the last has the same amount of flow in either search.
void flows_are_as_large_from_one_end() {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 9));
    const FlowNetwork network(random_graph(random, nodes, 0, 5));
    NodeMap<Amount> supply(nodes);
    for (Amount& amount : supply) amount = between(random, 0, 5);
    Amount shortage[2];
    for (const bool blocked : {false, true}) {
      block_shortcuts(blocked ? bit(Shortcut::kBothEnds) : 0);
      WarmFlow flow(network, supply);
      for (NodeId sink = 0; sink < nodes; ++sink) shortage[blocked] = flow.settle(sink);
    }
    block_shortcuts(0);
    CHECK(shortage[0] == shortage[1]);
  }
}

// A ring of six: five edges of each of six trees over twelve arcs that carry three.
void symmetry_is_not_looked_for() {
  const Graph six = ring(6);
  const Demand demand{NodeMap<Amount>(6, 2), NodeMap<std::uint8_t>(6, 1)};
  Progress progress;
  CHECK(is_alike_everywhere(six, demand));
  block_shortcuts(bit(Shortcut::kAlike));
  CHECK(!is_alike_everywhere(six, demand));
  CHECK(pack_vertex_transitive(six, NodeMap<Amount>(6, 1), progress).has_value());
  block_shortcuts(bit(Shortcut::kTurning));
  CHECK(!pack_vertex_transitive(six, NodeMap<Amount>(6, 1), progress).has_value());
  CHECK(std::ranges::all_of(loads(six.arcs, pack(six, NodeMap<Amount>(6, 1), progress)),
                            [](Amount load) { return load <= 3; }));
  block_shortcuts(0);
}

// Boxes of four GPUs on one hub, of which some have a slower NIC, at the optimum.
Subproblem boxes_with_slow_nics(Random& random, NodeId boxes) {
  const NodeId gpus = 4 * boxes, hub = 5 * boxes;
  Subproblem problem{{hub + 1, {}}, equal_demand(hub + 1, boxes + 1, 1), -1};
  for (NodeId gpu = 0; gpu < gpus; ++gpu) {
    const Amount nic = between(random, 0, 5) == 0 ? 1 : 2;
    for (const auto& [to, capacity] : {std::pair{gpus + gpu / 4, Amount{20}}, {hub, nic}}) {
      problem.graph.arcs.push_back({gpu, to, capacity});
      problem.graph.arcs.push_back({to, gpu, capacity});
    }
  }
  const Bottleneck best = find_bottleneck(problem.graph, problem.demand);
  for (Arc& arc : problem.graph.arcs) arc.capacity *= best.numerator;
  problem.demand = equal_demand(hub + 1, boxes + 1, best.denominator);
  return problem;
}

// As many tight sets, the same ones, as without exchanges.
void exchanged_tight_sets_are_those_of_every_search() {
  Random random(17);
  std::size_t found = 0;
  for (int round = 0; round < 100; ++round) {
    const auto boxes = static_cast<NodeId>(between(random, 2, 4));
    const Subproblem problem = boxes_with_slow_nics(random, boxes);
    Progress progress;
    const auto sets = minimal_tight_sets(problem, progress);
    block_shortcuts(bit(Shortcut::kExchanges));
    CHECK(minimal_tight_sets(problem, progress) == sets);
    block_shortcuts(0);
    found += sets.size();
  }
  CHECK(found > 50);
}

// The same sets become tight, with the same losses.
void exchanged_sets_are_trimmed_like_those_of_every_search() {
  Random random(18);
  std::size_t found = 0;
  for (int round = 0; round < 100; ++round) {
    const auto boxes = static_cast<NodeId>(between(random, 2, 6));
    Subproblem exchanged = boxes_with_slow_nics(random, boxes), searched = exchanged;
    Progress progress;
    const auto sets = trim(exchanged, progress);
    block_shortcuts(bit(Shortcut::kExchanges));
    CHECK(trim(searched, progress) == sets);
    block_shortcuts(0);
    CHECK(exchanged.graph.arcs == searched.graph.arcs);
    found += sets.size();
  }
  CHECK(found > 50);
}

}  // namespace shortcuts_tests

TESTS(shortcuts) {
  all_are_open_until_they_are_blocked();
  flows_are_as_large_from_one_end();
  symmetry_is_not_looked_for();
  exchanged_tight_sets_are_those_of_every_search();
  exchanged_sets_are_trimmed_like_those_of_every_search();
}
