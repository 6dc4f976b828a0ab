// The numbers of a factored forest match, and assembly uses them up exactly.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/assembly/assembly.hpp"
#include "forestcoll/common/errors.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "forestcoll/tree_packing/factored.hpp"
#include "support/boxes.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace factored_tests {

int tree_depth(const Batch& batch) {
  int tree_depth = 0;
  for (NodeId v = 0; at(v) < batch.parent.size(); ++v) {
    int depth = 0;
    for (NodeId up = v; batch.parent[up] >= 0; up = batch.parent[up]) ++depth;
    tree_depth = std::max(tree_depth, depth);
  }
  return tree_depth;
}

void items_are_numbered_by_their_smallest_node() {
  // {{0, 4}, 1, {{2, 5}, 3}}: sets 0 = {0, 4}, 1 = {2, 5}, 2 = {set 1, 3}, 3 = all.
  const Family family{{0, 3, 1, 2, 0, 1}, {3, 2, 3, -1}};
  const Nesting nesting(family);
  CHECK(nesting.num_items(3) == 3 && nesting.num_items(2) == 2);
  CHECK((nesting.nodes_inside(2) == std::vector<NodeId>{2, 3, 5}));
  CHECK(nesting.item_of(4, 3) == 0 && nesting.item_of(1, 3) == 1 && nesting.item_of(5, 3) == 2);
  CHECK(nesting.item_of(5, 2) == 0 && nesting.item_of(3, 2) == 1);
  CHECK(nesting.item_of(0, 2) == nesting.num_items(2));
  const Contraction whole(nesting, 3);
  CHECK((whole.child == std::vector<int>{0, -1, 2}));
  CHECK((whole.first == std::vector<NodeId>{0, 1, 2}));
  // 5 -> 0 joins items 2 and 0 of the whole, and enters node 0 from outside of set 0.
  const ArcColumns links(std::vector<Arc>{{0, 4, 7}, {2, 3, 1}, {5, 0, 2}, {5, 3, 1}});
  const ContractedEdges edges(nesting, links.view());
  CHECK(edges.of(3).size() == 1 && edges.of(3)[0].from == 2 && edges.of(3)[0].to == 0);
  CHECK(edges.of(2).size() == 1 && edges.links_of(edges.of(2)[0]).size() == 2);
  CHECK(edges.of(1).empty());
  CHECK(edges.entering[nesting.first_position(0)] == 2);
}

// The invariant of factored.hpp.
void check_numbers(const FactoredForest& forest) {
  const Nesting nesting(forest.family);
  const ContractedEdges edges(nesting, forest.arcs());
  for (int set = 0; set < forest.family.num_sets(); ++set) {
    const Shape& shape = forest.shapes[forest.shape_of[set]];
    std::map<std::pair<int, int>, Amount> uses;
    IndexedVector<Amount> rooted(shape.num_items, 0);
    for (std::size_t batch = 0; batch < shape.num_batches(); ++batch) {
      rooted[shape.root[batch]] += shape.multiplicity[batch];
      for (int item = 0; item < shape.num_items; ++item) {
        const int parent = shape.parents(batch)[at(item)];
        if (parent >= 0) uses[{parent, item}] += shape.multiplicity[batch];
      }
    }
    CHECK(uses.size() == edges.of(set).size());
    for (const auto& edge : edges.of(set)) {
      Amount load = 0;
      for (const int link : edges.links_of(edge)) load += forest.links[link].capacity;
      CHECK((uses[{edge.from, edge.to}] == load));
    }
    for (const NodeId v : nesting.nodes_inside(set)) {
      rooted[nesting.item_of(v, set)] -= forest.trees[v];
    }
    for (int item = 0; item < shape.num_items; ++item) {
      CHECK(rooted[item] == edges.entering[nesting.first_position(set) + at(item)]);
    }
  }
}

void numbers_match_and_are_spent() {
  Random random(21);
  int nested = 0;
  for (int round = 0; round < 300; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 4));
    const auto targets = static_cast<NodeId>(between(random, 2, 7));
    Graph graph = random_graph(random, targets + switches, switches, 6);
    const Bottleneck best = find_bottleneck(graph, equal_demand(graph.num_nodes, switches, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const Demand demand = equal_demand(graph.num_nodes, switches, best.denominator);
    Family family = find_tight_sets(graph, demand);
    nested += family.num_sets() > 1 ? 1 : 0;
    const Graph logical{targets, rows(remove_switches(graph, demand, family).logical)};
    family.set_of.resize(at(targets));
    const NodeMap<Amount> trees(targets, best.denominator);
    const FactoredForest forest = packed_forest(logical, trees, family);
    check_numbers(forest);
    const std::vector<Batch> batches = assembled(forest);
    is_packing(logical, trees, batches);
    const std::vector<Amount> used = loads(rows(forest.links), batches);
    CHECK(used.size() == forest.links.size());
    for (std::size_t i = 0; i < used.size(); ++i) CHECK(used[i] == forest.links[i].capacity);
    std::size_t batch = 0;
    for (Assembler again(forest); again.next(); ++batch) {
      CHECK(again.tree_depth() == tree_depth(batches[batch]));
    }
    CHECK(batch == batches.size());
  }
  CHECK(nested > 60);
}

void equal_boxes_share_a_shape() {
  const FactoredForest forest = packed_boxes(4, 3);
  CHECK(forest.shapes.size() == 2);
  CHECK((forest.shape_of == std::vector<int>{0, 0, 0, 0, 1}));
  for (const Batch& batch : assembled(forest)) CHECK(tree_depth(batch) == 2);
}

// Six boxes of two: the set of boxes is large enough for rotations, the boxes are not.
void large_sets_keep_one_tree_and_its_rotations() {
  const Family family = family_of_boxes(6, 2);
  const NodeMap<Amount> trees(12, 1);
  const FactoredForest all = packed_forest(boxes(6, 2), trees, family);
  const FactoredForest kept = packed_forest(boxes(6, 2), trees, family, false, 6);
  const FactoredForest none = packed_forest(boxes(6, 2), trees, family, false, 7);
  CHECK(rows(kept.links) == rows(all.links));
  CHECK(kept.shapes[0].radices.empty());
  CHECK(kept.shapes[1].radices == std::vector<NodeId>{6});
  CHECK(all.shapes[1].radices.empty());
  CHECK(none.shapes[1].parent == all.shapes[1].parent);
  CHECK(kept.shapes[1].num_batches() * 6 == all.shapes[1].num_batches());
  for (std::size_t batch = 0; batch < kept.shapes[1].num_batches(); ++batch) {
    CHECK(kept.shapes[1].root[batch] == 0);
    CHECK(std::ranges::equal(kept.shapes[1].parents(batch), all.shapes[1].parents(batch)));
  }
  std::string said;
  try {
    forestcoll::check(kept);
  } catch (const InvalidInput& error) {
    said = error.what();
  }
  CHECK(said == "shape 1: its rotated trees must be written out");
}

void a_set_that_is_not_tight_is_refused() {
  Graph graph = boxes(3, 2);
  graph.arcs.push_back({0, 2, 1});
  const NodeMap<Amount> trees(6, 1);
  std::string said;
  try {
    packed_forest(graph, trees, family_of_boxes(3, 2));
  } catch (const Infeasible& error) {
    said = error.what();
  }
  CHECK(said.find("is not tight: 7 trees start in it or enter it, 6 are to pass") !=
        std::string::npos);
}

SetPacking packed(const std::vector<Arc>& links) {
  Progress progress;
  const NodeMap<Amount> trees(6, 1);
  return pack_sets(ArcColumns(links).view(), trees, family_of_boxes(3, 2), progress);
}

// Only links that change have ends of their own.
void links_as_given_are_not_copied() {
  const std::vector<Arc> all = boxes(3, 2).arcs;
  const SetPacking as_given = packed(all);
  CHECK(!as_given.ends);
  std::vector<Arc> mixed(all.rbegin(), all.rend());
  mixed.push_back({0, 1, 0});
  mixed.push_back(mixed.front());
  mixed.front().capacity = 0;
  const SetPacking merged_first = packed(mixed);
  CHECK(merged_first.ends.has_value());
  CHECK(merged_first.load == as_given.load);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(merged_first.ends->tail[i] == all[i].tail && merged_first.ends->head[i] == all[i].head);
  }
}

// Two ways to node 2; the tree needs only one.
void links_without_trees_are_dropped() {
  Progress progress;
  const std::vector<Arc> links{{0, 1, 1}, {0, 2, 1}, {1, 2, 1}};
  const SetPacking packing =
      pack_sets(ArcColumns(links).view(), std::vector<Amount>{1, 0, 0}, no_tight_sets(3), progress);
  CHECK(packing.ends.has_value());
  CHECK((packing.ends->tail == Column<NodeId>{0, 0}));
  CHECK((packing.ends->head == Column<NodeId>{1, 2}));
  CHECK((packing.load == Column<Amount>{1, 1}));
}

}  // namespace factored_tests

TESTS(factored) {
  links_as_given_are_not_copied();
  links_without_trees_are_dropped();
  items_are_numbered_by_their_smallest_node();
  numbers_match_and_are_spent();
  equal_boxes_share_a_shape();
  large_sets_keep_one_tree_and_its_rotations();
  a_set_that_is_not_tight_is_refused();
}
