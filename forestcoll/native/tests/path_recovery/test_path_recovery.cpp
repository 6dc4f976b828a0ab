// Logical links lead back to physical paths within the capacities of the physical links.
#include <map>
#include <set>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/path_recovery/path_recovery.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"
#include "support/routes.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace path_recovery_tests {

std::vector<std::size_t> range(const std::vector<std::int64_t>& first, std::size_t row) {
  std::vector<std::size_t> places;
  for (auto i = first[row]; i < first[row + 1]; ++i) places.push_back(static_cast<std::size_t>(i));
  return places;
}

std::vector<NodeId> nodes_of(const Routes& routes, std::size_t path) {
  std::vector<NodeId> nodes;
  for (const std::size_t hop : range(routes.first_hop, path)) nodes.push_back(routes.hop[hop]);
  return nodes;
}

void full_load_fits_the_physical_links(std::int64_t most_hops) {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 1, 4));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 5));
    Graph graph = random_graph(random, nodes, switches, 8);
    const Bottleneck best = find_bottleneck(graph, equal_demand(nodes, switches, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const Demand demand = equal_demand(nodes, switches, best.denominator);
    const SwitchRemoval removal = remove_switches(graph, demand, find_tight_sets(graph, demand));
    std::map<std::pair<NodeId, NodeId>, Amount> left;
    for (const Arc& arc : graph.arcs) left[{arc.tail, arc.head}] += arc.capacity;
    const Routes routes = routes_of(graph, rows(removal.splits), rows(removal.logical), most_hops);
    for (std::size_t i = 0; i < removal.logical.size(); ++i) {
      const Arc link = removal.logical[i];
      Amount carried = 0;
      for (std::size_t path : range(routes.first_path, i)) {
        const std::vector<NodeId> nodes = nodes_of(routes, path);
        carried += routes.multiplicity[path];
        CHECK(nodes.front() == link.tail && nodes.back() == link.head);
        CHECK(std::set(nodes.begin(), nodes.end()).size() == nodes.size());
        for (std::size_t hop = 1; hop < nodes.size(); ++hop) {
          left[{nodes[hop - 1], nodes[hop]}] -= routes.multiplicity[path];
        }
      }
      CHECK(carried == link.capacity);
    }
    for (const auto& [link, capacity] : left) CHECK(capacity >= 0);
  }
}

void loops_through_a_switch_are_cut_short() {
  // 0 -> 2 -> 3 -> 2 -> 1: switch 3 hangs off switch 2.
  const Graph graph{4, {{0, 2, 1}, {2, 3, 1}, {3, 2, 1}, {2, 1, 1}}};
  CHECK_THROWS(InvalidInput, routes_of(graph, {{2, 0, 1, 2}}, {{0, 1, 2}}));
  const auto routes = routes_of(graph, {{2, 0, 3, 1}, {3, 0, 2, 1}, {2, 0, 1, 1}}, {{0, 1, 1}});
  CHECK((routes.first_path == std::vector<std::int64_t>{0, 1}));
  CHECK((nodes_of(routes, 0) == std::vector<NodeId>{0, 2, 1}));
}

void equal_paths_of_a_link_are_one() {
  // As above, and a unit that goes 0 -> 2 -> 1 at once: cut short, the other takes the same path.
  const Graph graph{4, {{0, 2, 2}, {2, 3, 1}, {3, 2, 1}, {2, 1, 2}}};
  const auto routes = routes_of(graph, {{2, 0, 3, 1}, {3, 0, 2, 1}, {2, 0, 1, 2}}, {{0, 1, 2}});
  CHECK((routes.multiplicity == std::vector<Amount>{2}));
  CHECK((routes.first_path == std::vector<std::int64_t>{0, 1}));
  CHECK((routes.hop == std::vector<NodeId>{0, 2, 1}));
}

// The links of a triangle in one direction become walks of two links in the other, 40 times over:
// half of each link joins half of the next.
std::vector<Split> around_a_triangle() {
  std::vector<Split> splits;
  Amount amount = Amount{1} << 40;
  for (int turn = 0; turn < 40; ++turn) {
    const NodeId step = turn % 2 == 0 ? 1 : 2;
    amount /= 2;
    for (NodeId v = 0; v < 3; ++v) {
      const NodeId via = (v + step) % 3;
      splits.push_back({via, v, (via + step) % 3, amount});
    }
  }
  return splits;
}

void walks_that_double_at_each_split_stay_short() {
  // One unit of each link is left, for which 2^40 of the first ones were joined. Those have gone
  // round and round: what is left is one link or two.
  const Amount all = Amount{1} << 40;
  const Graph graph{3, {{0, 1, all}, {1, 2, all}, {2, 0, all}}};
  const auto routes = routes_of(graph, around_a_triangle(), {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}});
  CHECK((routes.multiplicity == std::vector<Amount>{1, 1, 1}));
  CHECK((routes.hop == std::vector<NodeId>{0, 1, 1, 2, 2, 0}));
}

void loops_are_cut_out_late_or_early() {
  // Late, the walk of one link is shorter than that of two loops, which comes first. Early, both
  // are the same path.
  const Graph graph{4, {{0, 2, 2}, {2, 3, 1}, {3, 2, 1}, {2, 1, 2}}};
  const std::vector<Split> splits{{2, 0, 3, 1}, {3, 0, 2, 1}, {2, 0, 1, 2}};
  for (const std::int64_t most_hops : {kMostHops, std::int64_t{0}}) {
    const auto routes = routes_of(graph, splits, {{0, 1, 2}}, most_hops);
    CHECK((routes.multiplicity == std::vector<Amount>{2}));
    CHECK((routes.hop == std::vector<NodeId>{0, 2, 1}));
  }
}

}  // namespace path_recovery_tests

TESTS(path_recovery) {
  full_load_fits_the_physical_links(kMostHops);
  full_load_fits_the_physical_links(0);
  loops_through_a_switch_are_cut_short();
  equal_paths_of_a_link_are_one();
  loops_are_cut_out_late_or_early();
  walks_that_double_at_each_split_stay_short();
}
