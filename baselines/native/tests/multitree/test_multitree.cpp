// MultiTree's trees by hand, and properties of all of them.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "baselines/multitree/multitree.hpp"
#include "forestcoll/common/errors.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace multitree_tests {

GroveNetwork with_gpus(Graph graph, NodeId gpus) {
  GroveNetwork network{std::move(graph), {}, {}};
  std::vector<Amount> widths;
  for (const Arc& arc : network.graph.arcs) widths.push_back(arc.capacity);
  std::ranges::sort(widths, std::greater());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  for (const Arc& arc : network.graph.arcs) {
    const auto place = std::ranges::find(widths, arc.capacity) - widths.begin();
    network.narrowness.push_back(static_cast<std::int32_t>(place));
  }
  for (NodeId gpu = 0; gpu < gpus; ++gpu) network.gpus.push_back(gpu);
  return network;
}

// GPUs 0 to n - 1 with one unit to and from the last node.
GroveNetwork star(NodeId gpus) {
  Graph graph{gpus + 1, {}};
  for (NodeId gpu = 0; gpu < gpus; ++gpu) graph.arcs.push_back({gpu, gpus, 1});
  for (NodeId gpu = 0; gpu < gpus; ++gpu) graph.arcs.push_back({gpus, gpu, 1});
  return with_gpus(std::move(graph), gpus);
}

// Three GPUs: each takes the next, then the other. If each takes the first that is left, some wait.
void a_step_lets_one_tree_into_each_gpu() {
  const std::vector<NodeId> stars{-1, 0, 0, 1, -1, 1, 2, 2, -1};
  const Grown onward = grow(star(3), {{1, 0}, true}), first = grow(star(3), {{1, 0}, false});
  CHECK(onward.steps == 2 && onward.parent == stars);
  CHECK(first.steps == 3 && first.parent == stars);
  CHECK((onward.paths.tail == std::vector<NodeId>{0, 0, 1, 1, 2, 2}));
  CHECK((onward.paths.head == std::vector<NodeId>{1, 2, 0, 2, 0, 1}));
  CHECK((onward.paths.trees == std::vector<Amount>(6, 1)));
  CHECK((onward.paths.hop ==
         std::vector<NodeId>{0, 3, 1, 0, 3, 2, 1, 3, 0, 1, 3, 2, 2, 3, 0, 2, 3, 1}));
}

// Another order of preference; the output still goes by position.
void preference_is_not_rank() {
  GroveNetwork network = star(3);
  network.gpus = {2, 0, 1};
  const Grown grown = grow(network, {{1, 0}, false});
  CHECK((grown.parent == std::vector<NodeId>{-1, 0, 0, 1, -1, 1, 2, 2, -1}));
  CHECK((grown.paths.tail == std::vector<NodeId>{0, 0, 1, 1, 2, 2}));
}

void what_cannot_be_reached_has_no_parent() {
  GroveNetwork network = star(3);
  network.graph.arcs[5].capacity = 0;  // into GPU 2
  const Grown grown = grow(network, {{1, 0}, true});
  CHECK((grown.parent == std::vector<NodeId>{-1, 0, -1, 1, -1, -1, 2, 2, -1}));
}

// GPU 0: an arc of 1 to GPU 1, and one of 9 to a switch with GPU 2.
void ports_go_by_distance_or_width() {
  const GroveNetwork network =
      with_gpus({4, {{0, 1, 1}, {0, 3, 9}, {1, 0, 1}, {2, 3, 9}, {3, 0, 9}, {3, 2, 9}}}, 3);
  const SwitchWays ways(network);
  const Ports nearest(network, ways, {9, 1}), widest(network, ways, {1, 9}),
      none(network, ways, {});
  CHECK(nearest[0].head == 1 && nearest[1].head == 3);
  CHECK(widest[0].head == 3 && widest[1].head == 1);
  CHECK(none[0].head == 1 && none[1].head == 3);
  CHECK(nearest.of(0) == std::pair(0, 2));
  // Kinds of one turn differ by their bandwidths.
  CHECK(none.turns() == std::vector<int>({0, 2}) && none[0].kind == 1 && none[1].kind == 0);
}

// GPU 0 has two arcs of 1 and one of 2 to switches that lead to GPU 1: only the widest serves.
void a_gpu_is_served_by_the_widest_of_the_shortest() {
  Graph graph{5, {{0, 2, 1}, {0, 3, 2}, {0, 4, 1}}};
  for (NodeId middle = 2; middle < 5; ++middle) graph.arcs.push_back({middle, 1, 1});
  GroveNetwork network = with_gpus(std::move(graph), 2);
  const SwitchWays ways(network);
  CHECK(Ports(network, ways, {}).of(0) == std::pair(0, 1));
  network.narrowness[1] = 1;
  CHECK(Ports(network, ways, {}).of(0) == std::pair(0, 3));
}

// Trees span, their paths carry them, and no arc carries more than its units in all steps.
void trees_span_and_keep_to_the_units() {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 4));
    const auto gpus = static_cast<NodeId>(between(random, 2, 9));
    Graph graph = random_graph(random, gpus + switches, switches, 5);
    graph.arcs = merged(graph.arcs);
    const GroveNetwork network = with_gpus(graph, gpus);
    const Grown grown = grow(network, {{between(random, 0, 1), between(random, 0, 1)}, true});
    CHECK(std::ranges::count(grown.parent, -1) == gpus);
    std::map<std::pair<NodeId, NodeId>, Amount> load;
    const PathArrays& paths = grown.paths;
    for (std::size_t path = 0; path < paths.trees.size(); ++path) {
      for (auto hop = paths.first_hop[path]; hop + 1 < paths.first_hop[path + 1]; ++hop) {
        const auto at = static_cast<std::size_t>(hop);
        load[{paths.hop[at], paths.hop[at + 1]}] += paths.trees[path];
      }
    }
    for (const Arc& arc : graph.arcs) {
      CHECK((load[{arc.tail, arc.head}] <= grown.steps * arc.capacity));
    }
  }
}

void what_makes_no_sense_is_refused() {
  GroveNetwork network = star(3);
  network.gpus = {0, 1, 1};
  CHECK_THROWS(InvalidInput, grow(network, {{}, false}));
  network.gpus = {0, 1, 4};
  CHECK_THROWS(InvalidInput, grow(network, {{}, false}));
  network.gpus = {0, 1, 2};
  network.narrowness.pop_back();
  CHECK_THROWS(InvalidInput, grow(network, {{}, false}));
}

}  // namespace multitree_tests

TESTS(multitree) {
  a_step_lets_one_tree_into_each_gpu();
  preference_is_not_rank();
  what_cannot_be_reached_has_no_parent();
  ports_go_by_distance_or_width();
  a_gpu_is_served_by_the_widest_of_the_shortest();
  trees_span_and_keep_to_the_units();
  what_makes_no_sense_is_refused();
}
