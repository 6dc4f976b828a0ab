// Unequal ports of one switch: the split for trees through broadcasters, and their packing.
#include <algorithm>

#include "forestcoll/edge_splitting/split_matrix.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace broadcaster_packing_tests {

Progress quiet;

// Every third node roots 8 trees, the others 5. All receive what the others root; they send
// different amounts.
struct Unequal {
  explicit Unequal(NodeId nodes) : trees(static_cast<std::size_t>(nodes), 5) {
    for (std::size_t v = 0; v < trees.size(); v += 3) trees[v] = 8;
    Amount all = 0;
    for (const Amount rooted : trees) all += rooted;
    for (NodeId v = 0; v < nodes; ++v) {
      const Amount rooted = trees[static_cast<std::size_t>(v)];
      ports.push_back({v, (nodes - 1) * rooted, all - rooted, v});
    }
    for (std::size_t v = 0; v + 1 < trees.size(); v += 2) {  // some send for their neighbours
      const Amount less = static_cast<Amount>(v) + 1;
      ports[v].in -= less;
      ports[v + 1].in += less;
    }
  }

  Graph split(std::span<const Amount> rooted) const {
    const SplitMatrix matrix = guess_split_matrix(ports, 1, false, 1, rooted);
    Graph graph{static_cast<NodeId>(ports.size()), {}};
    for (std::size_t i = 0; i < ports.size(); ++i) {
      for (const auto& [j, amount] : matrix.row(i)) {
        CHECK(i != j);
        graph.arcs.push_back({ports[i].node, ports[j].node, amount});
      }
    }
    return graph;
  }

  std::vector<Amount> trees;
  std::vector<Port> ports;
};

void split_ports_are_packed_through_broadcasters() {
  const Unequal unequal(PartialPacking::kSmall + 8);
  const Graph graph = unequal.split(unequal.trees);
  const auto batches = pack_through_broadcasters(graph, unequal.trees);
  CHECK(batches.has_value());
  is_packing(graph, unequal.trees, *batches);
  CHECK(deepest(*batches) <= 4);
  CHECK(batches->size() <= 3 * unequal.trees.size());
  CHECK(std::ranges::is_sorted(*batches, {}, &Batch::root));
  CHECK(pack(graph, unequal.trees, quiet) == *batches);
}

// Proportional shares have no room for them, and neither has a ring.
void other_arcs_are_left_to_other_methods() {
  const Unequal unequal(PartialPacking::kSmall + 8);
  const Graph graph = unequal.split({});
  CHECK(!pack_through_broadcasters(graph, unequal.trees));
  is_packing(graph, unequal.trees, pack(graph, unequal.trees, quiet));
  CHECK(!pack_through_broadcasters({3, {{0, 1, 9}, {1, 2, 9}, {2, 0, 9}}},
                                   std::vector<Amount>{1, 1, 1}));
}

void few_ports_keep_proportional_shares() {
  const Unequal unequal(PartialPacking::kSmall);
  CHECK(unequal.split(unequal.trees).arcs == unequal.split({}).arcs);
}

// Twelve units of each port and tree make a batch.
void whole_batches_stay_whole() {
  Unequal unequal(PartialPacking::kSmall + 8);
  for (Port& port : unequal.ports) {
    port.in *= 12;
    port.out *= 12;
  }
  for (Amount& rooted : unequal.trees) rooted *= 12;
  const SplitMatrix matrix = guess_split_matrix(unequal.ports, 1, false, 12, unequal.trees);
  for (std::size_t i = 0; i < unequal.ports.size(); ++i) {
    for (const auto& entry : matrix.row(i)) CHECK(entry.amount % 12 == 0);
  }
}

}  // namespace broadcaster_packing_tests

TESTS(broadcaster_packing) {
  split_ports_are_packed_through_broadcasters();
  other_arcs_are_left_to_other_methods();
  few_ports_keep_proportional_shares();
  whole_batches_stay_whole();
}
