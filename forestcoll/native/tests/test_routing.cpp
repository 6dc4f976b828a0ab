// Logical links lead back to physical paths that spend no more than the physical links have.
#include <map>
#include <set>

#include "check.hpp"
#include "forestcoll/decomposition.hpp"
#include "forestcoll/errors.hpp"
#include "forestcoll/optimality.hpp"
#include "forestcoll/routing.hpp"
#include "random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace {

void full_load_fits_the_physical_links() {
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
    for (const Route& route : route(graph, removal.splits, removal.logical)) {
      Amount carried = 0;
      for (const PhysicalPath& path : route.paths) {
        carried += path.multiplicity;
        CHECK(path.nodes.front() == route.link.tail && path.nodes.back() == route.link.head);
        CHECK(std::set(path.nodes.begin(), path.nodes.end()).size() == path.nodes.size());
        for (std::size_t i = 1; i < path.nodes.size(); ++i) {
          left[{path.nodes[i - 1], path.nodes[i]}] -= path.multiplicity;
        }
      }
      CHECK(carried == route.link.capacity);
    }
    for (const auto& [link, capacity] : left) CHECK(capacity >= 0);
  }
}

void loops_through_a_switch_are_cut_short() {
  // 0 -> 2 -> 3 -> 2 -> 1: switch 3 hangs off switch 2.
  const Graph graph{4, {{0, 2, 1}, {2, 3, 1}, {3, 2, 1}, {2, 1, 1}}};
  CHECK_THROWS(InvalidInput, route(graph, {{2, 0, 1, 2}}, {{0, 1, 2}}));
  const auto routes = route(graph, {{2, 0, 3, 1}, {3, 0, 2, 1}, {2, 0, 1, 1}}, {{0, 1, 1}});
  CHECK(routes.size() == 1);
  CHECK((routes[0].paths[0].nodes == std::vector<NodeId>{0, 2, 1}));
}

}  // namespace

int main() {
  full_load_fits_the_physical_links();
  loops_through_a_switch_are_cut_short();
  return check::report();
}
