// Of equal boxes one has the targets that stand for all; the optimum and its cut stay the same.
#include <utility>
#include <vector>

#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/optimality/equal_boxes.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace equal_boxes_tests {

using Nodes = std::vector<NodeId>;

// Boxes of three nodes, the last of them a switch, and a switch between all boxes.
struct Cluster {
  Graph graph;
  Demand demand;
};

Cluster cluster(NodeId count) {
  Cluster made{{3 * count + 1, {}}, {}};
  for (NodeId v = 0; v < 3 * count; v += 3) {
    for (const NodeId gpu : {v, v + 1}) {
      made.graph.arcs.insert(made.graph.arcs.end(), {{gpu, v + 2, 6}, {v + 2, gpu, 6}});
      made.graph.arcs.insert(made.graph.arcs.end(), {{gpu, 3 * count, 1}, {3 * count, gpu, 1}});
    }
  }
  made.graph.arcs = merged(std::move(made.graph.arcs));
  for (NodeId v = 0; v < 3 * count; ++v) {
    made.demand.trees.push_back(v % 3 == 2 ? 0 : 1);
    made.demand.is_target.push_back(v % 3 == 2 ? 0 : 1);
  }
  made.demand.trees.push_back(0);
  made.demand.is_target.push_back(0);
  return made;
}

Arc& arc_of(Cluster& made, NodeId tail, NodeId head) {
  for (Arc& arc : made.graph.arcs) {
    if (arc.tail == tail && arc.head == head) return arc;
  }
  return made.graph.arcs.front();
}

Nodes targets_of(const Cluster& made) { return targets_of_unlike_boxes(made.graph, made.demand); }

void the_first_of_equal_boxes_stands_for_all() { CHECK(targets_of(cluster(4)) == (Nodes{0, 1})); }

// Whatever makes a box unlike: an arc within it, to or from the switch, a demand, a missing arc.
void unlike_boxes_keep_their_targets() {
  for (const auto& [tail, head] : {std::pair<NodeId, NodeId>{3, 5}, {4, 12}, {12, 4}}) {
    Cluster made = cluster(4);
    --arc_of(made, tail, head).capacity;
    made.graph.arcs = merged(made.graph.arcs);
    CHECK(targets_of(made) == (Nodes{0, 1, 3, 4}));
  }
  Cluster heavy = cluster(4), waiting = cluster(4), damaged = cluster(4);
  heavy.demand.trees[7] = 2;
  CHECK(targets_of(heavy) == (Nodes{0, 1, 6, 7}));
  waiting.demand.is_target[7] = 0;
  CHECK(targets_of(waiting) == (Nodes{0, 1, 6}));
  std::erase_if(damaged.graph.arcs, [](const Arc& arc) { return arc.tail == 4 && arc.head == 12; });
  CHECK(targets_of(damaged) == (Nodes{0, 1, 3, 4}));
}

void where_nodes_are_no_boxes_all_targets_stay() {
  const Nodes all{0, 1, 3, 4, 6, 7, 9, 10};
  Cluster joined = cluster(4), unsorted = cluster(4);
  joined.graph.arcs.insert(joined.graph.arcs.end(), {{4, 6, 1}, {6, 4, 1}});
  joined.graph.arcs = merged(std::move(joined.graph.arcs));
  // Two boxes with an arc between them are one, and no other is as large.
  CHECK(targets_of(joined) == (Nodes{0, 1, 3, 4, 6, 7}));
  Cluster back = cluster(4);
  back.graph.arcs.push_back({9, 1, 1});
  back.graph.arcs = merged(std::move(back.graph.arcs));
  CHECK(targets_of(back) == all);
  std::swap(unsorted.graph.arcs[0], unsorted.graph.arcs[1]);
  CHECK(targets_of(unsorted) == all);
  block_shortcuts(1U << static_cast<unsigned>(Shortcut::kExchanges));
  CHECK(targets_of(cluster(4)) == all);
  block_shortcuts(0);
  CHECK(targets_of({{2, {{0, 1, 1}, {1, 0, 1}}}, equal_demand(2, 0, 1)}) == (Nodes{0, 1}));
}

// A cluster with a random arc changed has the optimum and the cut that all targets find.
void the_cut_is_that_of_all_targets() {
  Random random(12);
  int fewer = 0;
  for (int round = 0; round < 100; ++round) {
    Cluster made = cluster(static_cast<NodeId>(between(random, 2, 8)));
    for (Amount changes = between(random, 0, 3); changes > 0; --changes) {
      const auto last = static_cast<Amount>(made.graph.arcs.size()) - 1;
      made.graph.arcs[between(random, 0, last)].capacity = between(random, 1, 9);
    }
    fewer += targets_of(made).size() < made.demand.targets().size() ? 1 : 0;
    const Bottleneck found = find_bottleneck(made.graph, made.demand);
    block_shortcuts(1U << static_cast<unsigned>(Shortcut::kExchanges));
    const Bottleneck of_all = find_bottleneck(made.graph, made.demand);
    block_shortcuts(0);
    CHECK(found.numerator == of_all.numerator);
    CHECK(found.denominator == of_all.denominator);
    CHECK(found.cut == of_all.cut);
    CHECK(found.newton_steps == of_all.newton_steps);
  }
  CHECK(fewer > 50);
}

}  // namespace equal_boxes_tests

TESTS(equal_boxes) {
  equal_boxes_tests::the_first_of_equal_boxes_stands_for_all();
  equal_boxes_tests::unlike_boxes_keep_their_targets();
  equal_boxes_tests::where_nodes_are_no_boxes_all_targets_stay();
  equal_boxes_tests::the_cut_is_that_of_all_targets();
}
