// A violated cut is found exactly if some cut is violated, for any roots and targets.
#include <algorithm>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/violation/violation.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace violation_tests {

Amount least_surplus(const Graph& graph, const Demand& demand) {
  Amount least = 0;
  each_cut(graph, demand,
           [&](Amount ingress, Amount outside) { least = std::min(least, ingress - outside); });
  return least;
}

// Surplus of the set beyond the cut.
Amount surplus_beyond(const Graph& graph, const Demand& demand, const NodeMap<std::uint8_t>& cut) {
  std::vector<NodeId> beyond;
  for (NodeId v = 0; v < graph.num_nodes; ++v) {
    if (cut[v] == 0) beyond.push_back(v);
  }
  return surplus(graph, demand, beyond);
}

// Returns whether a cut was found.
bool agrees_with_all_cuts(const Graph& graph, const Demand& demand) {
  const auto found = find_violation(graph, demand);
  CHECK(found.has_value() == (least_surplus(graph, demand) < 0));
  if (!found) return false;
  CHECK(surplus_beyond(graph, demand, found->cut) < 0);
  const std::vector<NodeId> targets = demand.targets();
  CHECK(found->cut[targets[found->targets_before]] == 0);
  Demand front = demand;  // with the reached targets before it
  for (std::size_t i = found->targets_before; i < targets.size(); ++i) {
    front.is_target[targets[i]] = 0;
  }
  CHECK(least_surplus(graph, front) == 0);
  const auto again = find_violation(graph, demand, found->targets_before);
  CHECK(again && again->targets_before == found->targets_before);
  CHECK(!find_violation(graph, demand, targets.size()));
  return true;
}

void a_violation_is_found_exactly_when_there_is_one() {
  Random random(5);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 3));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 6));
    Demand demand = equal_demand(nodes, switches, between(random, 1, 3));
    if (round % 2 == 1) {  // a root of its own weight, and one that sends nothing
      demand.trees[0] = between(random, 1, 6);
      demand.trees[1] = 0;
    }
    if (round % 3 == 2 && switches > 0) demand.trees.back() = between(random, 1, 3);  // no target
    found += agrees_with_all_cuts(random_graph(random, nodes, switches, 12), demand) ? 1 : 0;
  }
  CHECK(found > 100 && found < 300);
}

void a_broadcast_is_bound_by_the_narrowest_cut() {
  // 0 -> 1 carries 2 and 0 -> 2 -> 1 one more.
  const Graph graph{3, {{0, 1, 2}, {0, 2, 3}, {2, 1, 1}, {1, 0, 1}, {1, 2, 1}}};
  Demand demand{{3, 0, 0}, {1, 1, 1}};
  CHECK(!find_violation(graph, demand));
  demand.trees[0] = 4;
  const auto found = find_violation(graph, demand);
  CHECK(found && found->targets_before == 1);  // the root itself is reached
  CHECK((found->cut == std::vector<std::uint8_t>{1, 0, 1}));
}

void refuses_what_it_cannot_hold() {
  const Amount huge = Amount{1} << 62;
  CHECK_THROWS(CapacityOverflow, find_violation({2, {{0, 1, huge}, {1, 0, 1}}}, {{1, 1}, {1, 1}}));
  CHECK_THROWS(CapacityOverflow, find_violation({2, {{0, 1, 1}}}, {{huge, 1}, {1, 1}}));
  CHECK_THROWS(InvalidInput, find_violation({2, {{0, 2, 1}}}, {{1, 1}, {1, 1}}));
}

}  // namespace violation_tests

TESTS(violation) {
  a_violation_is_found_exactly_when_there_is_one();
  a_broadcast_is_bound_by_the_narrowest_cut();
  refuses_what_it_cannot_hold();
}
