// Assembled trees of tight sets are a complete packing; numbers that do not match are refused.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/shortcuts.hpp"
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

namespace assembly_tests {

// The depth of each assembled tree is that of its deepest node.
void check_depths(const FactoredForest& forest) {
  NodeMap<NodeId> parent(forest.trees.size());
  for (Assembler trees(forest); trees.next(parent);) {
    CHECK(trees.tree_depth() == deepest({{trees.root(), trees.multiplicity(), parent}}));
  }
}

// Of the links behind a contracted edge that carry all trees of the root still to be built, a tree
// takes none that leaves from farther from the root than another, or as far and later.
void check_nearest_links(const FactoredForest& forest, const std::vector<Batch>& trees) {
  const Nesting nesting(forest.family);
  const ContractedEdges edges(nesting, forest.arcs());
  IndexedVector<Amount> left;
  for (const Arc& link : rows(forest.links)) left.push_back(link.capacity);
  NodeMap<Amount> to_build = forest.trees;
  for (const Batch& tree : trees) {
    const auto depth = [&](NodeId v) {
      int steps = 0;
      for (; tree.parent[v] >= 0; v = tree.parent[v]) ++steps;
      return steps;
    };
    const auto is_taken = [&](int link) {
      return tree.parent[forest.links[link].head] == forest.links[link].tail;
    };
    for (std::size_t e = 0; e + 1 < edges.edges.size(); ++e) {
      const auto links = edges.links_of(edges.edges[e]);
      const auto taken = std::ranges::find_if(links, is_taken);
      if (taken == links.end()) continue;
      const int depth_taken = depth(forest.links[*taken].tail);
      for (auto other = links.begin(); other != links.end(); ++other) {
        if (left[*other] < to_build[tree.root]) continue;
        const int depth_here = depth(forest.links[*other].tail);
        CHECK(depth_taken < depth_here || (depth_taken == depth_here && taken <= other));
      }
    }
    for (int link = 0; link < left.count(); ++link) {
      if (is_taken(link)) left[link] -= tree.multiplicity;
    }
    to_build[tree.root] -= tree.multiplicity;
  }
}

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
    const Graph logical{targets, rows(remove_switches(graph, demand, family).logical)};
    family.set_of.resize(targets);
    const std::vector<Amount> trees(static_cast<std::size_t>(targets), best.denominator);
    for (const Family& sets : {family, no_tight_sets(targets)}) {
      const FactoredForest forest = packed_forest(logical, trees, sets);
      is_packing(logical, trees, assembled(forest));
      check_depths(forest);
    }
  }
  CHECK(nested > 100);
}

// Two boxes of two GPUs: the problem of a box is that of both boxes.
void nodes_and_sets_may_share_a_shape() {
  const FactoredForest forest = packed_boxes(2, 2);
  CHECK(forest.shapes.size() == 1);
  is_packing(boxes(2, 2), {1, 1, 1, 1}, assembled(forest));
  check_depths(forest);
}

// Boxes as those of boxes(), but rings inside, and links between them leave from the second half of
// the nodes only, two to a box.
Graph rings_with_half_of_the_tails(NodeId count, NodeId size) {
  Graph graph = boxes(count, size);
  for (Arc& arc : graph.arcs) {
    if (arc.tail / size != arc.head / size) {
      const NodeId first = arc.tail / size * size;
      arc.tail = first + size / 2 + (arc.tail - first) / 2;
    } else {
      const NodeId steps = (arc.head - arc.tail + size) % size;
      arc.capacity = steps == 1 || steps == size - 1 ? Amount{count} * size : 0;
    }
  }
  graph.arcs = merged(std::move(graph.arcs));
  std::erase_if(graph.arcs, [](const Arc& arc) { return arc.capacity == 0; });
  return graph;
}

// A link that carries a whole batch goes before one that is nearer to the root.
void whole_batches_go_first() {
  block_shortcuts(1U << static_cast<unsigned>(Shortcut::kRotatedBoxes));
  const Graph graph{
      4, {{0, 1, 6}, {0, 2, 1}, {1, 0, 6}, {1, 3, 3}, {2, 0, 1}, {2, 3, 6}, {3, 1, 3}, {3, 2, 6}}};
  const FactoredForest forest =
      packed_forest(graph, std::vector<Amount>(4, 2), family_of_boxes(2, 2));
  const std::vector<Batch> built = assembled(forest);
  is_packing(graph, std::vector<Amount>(4, 2), built);
  CHECK(built[0].root == 0);
  CHECK(built[0].multiplicity == 2);
  CHECK(built[0].parent == (NodeMap<NodeId>{-1, 0, 3, 1}));
  block_shortcuts(0);
}

void links_near_the_root_are_taken() {
  block_shortcuts(1U << static_cast<unsigned>(Shortcut::kRotatedBoxes));
  for (NodeId count = 2; count < 6; ++count) {
    for (const NodeId size : {2, 4, 8, 16}) {
      const std::vector<Amount> trees(at(count * size), 1);
      for (const Graph& graph : {boxes(count, size), rings_with_half_of_the_tails(count, size)}) {
        const FactoredForest forest = packed_forest(graph, trees, family_of_boxes(count, size));
        const std::vector<Batch> built = assembled(forest);
        is_packing(graph, trees, built);
        check_nearest_links(forest, built);
        check_depths(forest);
      }
    }
  }
  block_shortcuts(0);
}

void what_does_not_match_is_refused() {
  const FactoredForest right = packed_boxes(3, 2);
  using Change = std::function<void(FactoredForest&)>;
  const std::vector<Change> changes{
      [](FactoredForest& f) { --f.trees[0]; },
      [](FactoredForest& f) { ++f.trees[0]; },
      [](FactoredForest& f) { ++f.links.capacity[0]; },
      [](FactoredForest& f) { erase(f.links, 0); },
      [](FactoredForest& f) { f.links.head[0] = 99; },
      [](FactoredForest& f) { std::swap(f.links.head[0], f.links.head[1]); },
      [](FactoredForest& f) { ++f.shapes[0].multiplicity[0]; },
      [](FactoredForest& f) { f.shapes[0].multiplicity[0] = 0; },
      [](FactoredForest& f) { f.shapes[0].root[0] = 1 - f.shapes[0].root[0]; },
      [](FactoredForest& f) { f.shapes[0].root[0] = 2; },
      [](FactoredForest& f) { f.shapes[1].parent[1] = 1; },
      [](FactoredForest& f) { f.shapes[1].parent[1] = -2; },
      [](FactoredForest& f) { f.shapes[1].parent.pop_back(); },
      [](FactoredForest& f) { f.shapes.push_back(f.shapes[0]); },
      [](FactoredForest& f) { f.shape_of[0] = 1; },
      [](FactoredForest& f) { f.shape_of[0] = 7; },
      [](FactoredForest& f) { f.shape_of.pop_back(); },
      [](FactoredForest& f) { f.family.set_of[0] = 1; },
      [](FactoredForest& f) { std::swap(f.family.set_of[1], f.family.set_of[2]); },
      [](FactoredForest& f) { f.family.parent[0] = 1; },
      [](FactoredForest& f) { f.family.parent[0] = 0; },
  };
  CHECK(assembled(right).size() == 6);
  for (const Change& change : changes) {
    FactoredForest wrong = right;
    change(wrong);
    CHECK_THROWS(InvalidInput, assembled(wrong));
  }
}

std::string refusal_of(const FactoredForest& wrong) {
  try {
    assembled(wrong);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

void the_refusal_names_the_set() {
  const FactoredForest right = packed_boxes(3, 2);
  FactoredForest more = right, fewer = right;
  more.shapes[0].multiplicity[0] += 5;
  CHECK(refusal_of(more) ==
        "set 0 (2 nodes from 0 on) needs more trees over the link 0 -> 1 than it carries");
  fewer.shapes[0].multiplicity[0] -= 1;
  CHECK(refusal_of(fewer).starts_with("set 0 (2 nodes from 0 on) leaves 1 trees of the link"));
  more = right;
  more.shapes[1].multiplicity[0] += 5;
  CHECK(refusal_of(more).starts_with("set 3 (6 nodes from 0 on) "));
}

}  // namespace assembly_tests

TESTS(assembly) {
  assembled_trees_are_a_packing();
  nodes_and_sets_may_share_a_shape();
  links_near_the_root_are_taken();
  whole_batches_go_first();
  what_does_not_match_is_refused();
  the_refusal_names_the_set();
}
