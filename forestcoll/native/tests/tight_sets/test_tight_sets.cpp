// Every set found is tight, the sets are nested, and a bottleneck box is found.
#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace tight_sets_tests {

void every_set_is_tight_and_holds_a_target() {
  Random random(9);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 3));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 6));
    Graph graph = random_graph(random, nodes, switches, 6);
    const Bottleneck best = find_bottleneck(graph, equal_demand(nodes, switches, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const Demand demand = equal_demand(nodes, switches, best.denominator);
    const Family family = find_tight_sets(graph, demand);
    forestcoll::check(family, nodes);
    const Nesting nesting(family);
    for (int set = 0; set < family.num_sets(); ++set) {
      const std::vector<NodeId> inside = nesting.nodes_inside(set);
      CHECK(surplus(graph, demand, inside) == 0);
      CHECK(std::ranges::any_of(inside, [&](NodeId v) { return demand.is_target[v] != 0; }));
      CHECK(set + 1 < family.num_sets() || inside.size() == static_cast<std::size_t>(nodes));
      found += set + 1 < family.num_sets() ? 1 : 0;
    }
  }
  CHECK(found > 100);
}

void bottleneck_boxes_are_found() {
  // Three boxes of 4 GPUs, each with a switch (12, 13, 14), on one switch 15. A box needs the 8
  // trees of the others and has 4 links of 2; no GPU is tight.
  Graph graph{16, {}};
  for (NodeId gpu = 0; gpu < 12; ++gpu) {
    for (const auto& [a, b, c] : {std::tuple{gpu, 12 + gpu / 4, 20}, {gpu, NodeId{15}, 2}}) {
      graph.arcs.push_back({a, b, c});
      graph.arcs.push_back({b, a, c});
    }
  }
  const Family family = find_tight_sets(graph, equal_demand(16, 4, 1));
  CHECK((family.set_of == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 1, 2, 3}));
  CHECK((family.parent == std::vector<int>{3, 3, 3, -1}));
}

void refuses_what_is_no_family() {
  CHECK_THROWS(InvalidInput, forestcoll::check(Family{{0, 0}, {}}, 2));
  CHECK_THROWS(InvalidInput, forestcoll::check(Family{{0, 1}, {-1}}, 2));
  CHECK_THROWS(InvalidInput, forestcoll::check(Family{{0, 1}, {0, -1}}, 2));
  CHECK_THROWS(InvalidInput, forestcoll::check(Family{{0}, {-1}}, 2));
  CHECK_THROWS(Infeasible, find_tight_sets({2, {{0, 1, 1}, {1, 0, 1}}}, equal_demand(2, 0, 2)));
}

}  // namespace tight_sets_tests

TESTS(tight_sets) {
  every_set_is_tight_and_holds_a_target();
  bottleneck_boxes_are_found();
  refuses_what_is_no_family();
}
