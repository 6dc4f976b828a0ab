// Assembled trees of tight sets are a complete packing; numbers that do not match are refused.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "forestcoll/tree_packing/factored.hpp"
#include "support/boxes.hpp"
#include "support/check.hpp"
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
    family.set_of.resize(targets);
    const std::vector<Amount> trees(static_cast<std::size_t>(targets), best.denominator);
    Progress progress;
    for (const Family& sets : {family, no_tight_sets(targets)}) {
      const FactoredForest forest = pack_sets(logical, trees, sets, progress);
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

void what_does_not_match_is_refused() {
  const FactoredForest right = packed_boxes(3, 2);
  using Change = std::function<void(FactoredForest&)>;
  const std::vector<Change> changes{
      [](FactoredForest& f) { --f.trees[0]; },
      [](FactoredForest& f) { ++f.trees[0]; },
      [](FactoredForest& f) { ++f.links[0].capacity; },
      [](FactoredForest& f) { f.links.erase(f.links.begin()); },
      [](FactoredForest& f) { f.links[0].head = 99; },
      [](FactoredForest& f) { std::swap(f.links[0], f.links[1]); },
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
  what_does_not_match_is_refused();
  the_refusal_names_the_set();
}
