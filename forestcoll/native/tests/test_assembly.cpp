// Trees put together from tight sets are a complete packing.
#include "check.hpp"
#include "forestcoll/assembly.hpp"
#include "forestcoll/decomposition.hpp"
#include "forestcoll/optimality.hpp"
#include "forestcoll/switch_removal.hpp"
#include "packings.hpp"
#include "random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace {

void assembled_trees_are_a_packing() {
  Random random(10);
  int nested = 0;
  for (int round = 0; round < 500; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 4));
    const auto targets = static_cast<NodeId>(between(random, 2, 7));
    Graph graph = random_graph(random, targets + switches, switches, 6);
    const Bottleneck best = find_bottleneck(graph, equal_demand(graph.num_nodes, switches, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const Demand demand = equal_demand(graph.num_nodes, switches, best.denominator);
    Family family = find_tight_sets(graph, demand);
    nested += family.num_sets() > 1 ? 1 : 0;
    const Graph logical{targets, remove_switches(graph, demand, family).logical};
    family.set_of.resize(static_cast<std::size_t>(targets));
    const std::vector<Amount> trees(static_cast<std::size_t>(targets), best.denominator);
    is_packing(logical, trees, pack_forest(logical, trees, family));
    is_packing(logical, trees, pack_forest(logical, trees, no_tight_sets(targets)));
  }
  CHECK(nested > 100);
}

}  // namespace

int main() {
  assembled_trees_are_a_packing();
  return check::report();
}
