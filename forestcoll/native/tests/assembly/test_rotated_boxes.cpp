// Trees of the first box, rotated to all boxes, use up every link; what is not symmetric is left.
#include <algorithm>
#include <functional>
#include <vector>

#include "forestcoll/assembly/assembly.hpp"
#include "forestcoll/assembly/rotated_boxes.hpp"
#include "forestcoll/tree_packing/factored.hpp"
#include "support/boxes.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/packings.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace rotated_boxes_tests {

bool is_found(const FactoredForest& forest) {
  return RotatedBoxes::find(forest, Nesting(forest.family)).has_value();
}

// Boxes of `size` nodes in a torus. Node i of a box has links to node i + 1 of the boxes beside it;
// those of node 0 carry `more` than their share, those of node 1 less.
Graph torus_of_boxes(const std::vector<NodeId>& dims, NodeId size, Amount trees, Amount more) {
  NodeId count = 1;
  for (const NodeId dim : dims) count *= dim;
  const Amount ports = 2 * static_cast<Amount>(dims.size());
  Graph graph{count * size, {}};
  for (NodeId u = 0; u < graph.num_nodes; ++u) {
    const NodeId box = u / size, i = u % size, next = (u + 1) % size;
    const Amount share = trees * (count - 1) / ports + (i == 0 ? more : i == 1 ? -more : 0);
    for (NodeId v = box * size; v < (box + 1) * size; ++v) {
      if (u != v) graph.arcs.push_back({u, v, trees * count * size});
    }
    NodeId unit = 1;
    for (const NodeId dim : dims) {
      const NodeId digit = box / unit % dim, base = box - digit * unit;
      for (const NodeId by : {1, dim - 1}) {
        const NodeId to = base + (digit + by) % dim * unit;
        graph.arcs.push_back({u, to * size + next, share});
      }
      unit *= dim;
    }
  }
  graph.arcs = merged(std::move(graph.arcs));
  return graph;
}

void check_assembly(const Graph& graph, const FactoredForest& forest, bool rotated) {
  CHECK(is_found(forest) == rotated);
  const std::vector<Batch> batches = assembled(forest);
  is_packing(graph, {forest.trees.begin(), forest.trees.end()}, batches);
  CHECK(std::ranges::is_sorted(batches, {}, &Batch::root));
  int depth = 0;
  for (Assembler trees(forest); trees.next();) depth = std::max(depth, trees.tree_depth());
  CHECK(depth == deepest(batches));
  // Every link is used up.
  const std::vector<Arc> links = rows(forest.links);
  CHECK(loads(links, batches) == [&] {
    std::vector<Amount> all;
    for (const Arc& link : links) all.push_back(link.capacity);
    return all;
  }());
  if (rotated) CHECK(batches.size() == forest.trees.size());
}

void complete_graphs_and_tori_of_boxes_are_rotated() {
  for (NodeId count = 2; count < 7; ++count) {
    for (const NodeId size : {2, 3, 4, 8, 16}) {  // those of 8 and 16 have code of their own
      check_assembly(boxes(count, size), packed_boxes(count, size), true);
    }
  }
  for (const auto& dims : std::vector<std::vector<NodeId>>{{5}, {9}, {3, 3}, {5, 5}}) {
    for (NodeId size = 2; size < 4; ++size) {
      NodeId count = 1;
      for (const NodeId dim : dims) count *= dim;
      for (const Amount more : {0, 2}) {
        const Graph graph = torus_of_boxes(dims, size, 2, more);
        const std::vector<Amount> trees(at(graph.num_nodes), 2);
        const FactoredForest forest = packed_forest(graph, trees, family_of_boxes(count, size));
        check_assembly(graph, forest, true);
      }
    }
  }
}

// Three boxes of two nodes: shape 0 is that of a box, shape 1 that of the whole.
void what_is_not_symmetric_is_not_rotated() {
  const auto inside = [](const Arc& link) { return link.tail / 2 == link.head / 2; };
  const auto add_where = [](FactoredForest& f, const auto& is_changed) {
    for (std::size_t i = 0; i < f.links.size(); ++i) {
      f.links.capacity[i] += is_changed(f.links[i]) ? 1 : 0;
    }
  };
  using Change = std::function<void(FactoredForest&)>;
  const std::vector<Change> changes{
      // Boxes that differ, or are not consecutive nodes.
      [](FactoredForest& f) { ++f.trees[3]; },
      [](FactoredForest& f) { f.shapes.push_back(f.shapes[0]), f.shape_of[1] = 2; },
      [](FactoredForest& f) { std::swap(f.family.set_of[1], f.family.set_of[2]); },
      [](FactoredForest& f) { f.shape_of = {1, 1, 1, 1}; },
      [](FactoredForest& f) { f.shape_of = {0, 0, 0, 0}; },
      // Links that differ.
      [](FactoredForest& f) { ++f.links.capacity[7]; },
      [](FactoredForest& f) { erase(f.links, 7); },
      [](FactoredForest& f) { ++f.links.capacity[9]; },
      [](FactoredForest& f) { erase(f.links, 9); },
      // Batches that differ.
      [](FactoredForest& f) { ++f.shapes[1].multiplicity[1]; },
      [](FactoredForest& f) {
        f.shapes[1].multiplicity.push_back(1);
        f.shapes[1].root.push_back(1);
        for (const NodeId parent : {1, -1, 1}) f.shapes[1].parent.push_back(parent);
      },
      [](FactoredForest& f) {
        f.shapes[1].multiplicity[1] = 1;
        f.shapes[1].multiplicity.push_back(1);
        f.shapes[1].root.push_back(1);
        for (const NodeId parent : {1, -1, 1}) f.shapes[1].parent.push_back(parent);
      },
      [](FactoredForest& f) { f.shapes[1].parent[5] = 0; },
      // What is missing or left over in every box.
      [](FactoredForest& f) {
        for (Amount& count : f.trees) ++count;
      },
      [](FactoredForest& f) { f.trees.assign(6, 0); },
      [&](FactoredForest& f) {
        std::vector<Arc> left = rows(f.links);
        std::erase_if(left, [&](const Arc& a) { return inside(a) && a.head < a.tail; });
        f.links = ArcColumns(left);
        f.shapes[0] = {2, {0}, {3}, {-1, 0}};
      },
      [&](FactoredForest& f) { add_where(f, inside); },
      [&](FactoredForest& f) { add_where(f, [&](const Arc& a) { return !inside(a); }); },
      [&](FactoredForest& f) {
        add_where(f, [&](const Arc& a) { return inside(a) && a.tail < a.head; });
        ++f.shapes[0].multiplicity[0];
      },
      [](FactoredForest& f) {
        for (Amount& count : f.shapes[1].multiplicity) ++count;
      },
  };
  // Links 0, 1 and 2 begin at node 0, and so on.
  const FactoredForest right = packed_boxes(3, 2);
  CHECK(inside(right.links[7]) && right.links[9].tail == 3);
  CHECK((right.shapes[1].multiplicity == std::vector<Amount>{2, 2, 2}));
  CHECK(is_found(right));
  for (const Change& change : changes) {
    FactoredForest wrong = right;
    change(wrong);
    CHECK(!is_found(wrong));
  }
}

// Only the first node of a box roots trees and has links to other boxes.
void nodes_without_trees_root_none() {
  Graph graph = boxes(3, 2);
  std::erase_if(graph.arcs,
                [](const Arc& a) { return a.tail % 2 == 1 && a.head / 2 != a.tail / 2; });
  const FactoredForest forest =
      packed_forest(graph, std::vector<Amount>{1, 0, 1, 0, 1, 0}, family_of_boxes(3, 2));
  CHECK(is_found(forest));
  is_packing(graph, {1, 0, 1, 0, 1, 0}, assembled(forest));
}

// The first tree leaves every box from the node where it entered it.
void links_near_the_root_come_first() {
  const std::vector<Amount> trees(10, 2);
  const Batch first =
      assembled(packed_forest(torus_of_boxes({5}, 2, 2, 0), trees, family_of_boxes(5, 2)))[0];
  for (const NodeId from : first.parent) {
    if (from < 0 || from == first.root) continue;
    const NodeId before = first.parent[from];
    CHECK(before / 2 != from / 2);
  }
}

void single_nodes_are_no_boxes() {
  const Graph graph = boxes(3, 2);
  check_assembly(graph, packed_forest(graph, std::vector<Amount>(6, 1), no_tight_sets(6)), false);
}

// Batches of 5 and 1 trees leave one tree each after two times two.
void divided_trees_are_not_rotated() {
  Graph graph = boxes(3, 2);
  for (Arc& arc : graph.arcs) arc.capacity *= 2;
  const std::vector<Amount> trees(6, 2);
  FactoredForest forest = packed_forest(graph, trees, family_of_boxes(3, 2));
  check_assembly(graph, forest, true);
  Shape& box = forest.shapes[0];
  CHECK(box.root[0] == 0 && box.multiplicity[0] == 6);
  box.multiplicity[0] = 5;
  box.multiplicity.push_back(1);
  box.root.push_back(0);
  box.parent.insert(box.parent.end(), {-1, 0});
  check_assembly(graph, forest, false);
}

}  // namespace rotated_boxes_tests

TESTS(rotated_boxes) {
  complete_graphs_and_tori_of_boxes_are_rotated();
  what_is_not_symmetric_is_not_rotated();
  nodes_without_trees_root_none();
  links_near_the_root_come_first();
  single_nodes_are_no_boxes();
  divided_trees_are_not_rotated();
}
