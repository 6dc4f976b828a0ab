#include <algorithm>

#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

// Arcs by tail, with their remaining capacity.
struct TreeRows {
  explicit TreeRows(const Graph& graph) : out(graph.num_nodes) {
    for (const Arc& arc : graph.arcs) out[arc.tail].push_back(arc);
  }
  NodeMap<std::vector<Arc>> out;
};

// The tree grows level by level. Of several parents on a level a node takes the one whose link has
// most capacity left, so scarce links stay free for trees without a choice.
bool grow(TreeRows& rows, Batch& tree, NodeMap<Arc*>& via) {
  std::vector<NodeId> level{tree.root};
  std::size_t reached = 1;
  while (!level.empty()) {
    std::vector<NodeId> next;
    for (const NodeId tail : level) {
      for (Arc& arc : rows.out[tail]) {
        const NodeId head = arc.head;
        if (arc.head == tree.root || tree.parent[head] >= 0 || arc.capacity < tree.multiplicity) {
          continue;
        }
        if (via[head] == nullptr) next.push_back(arc.head);
        if (via[head] == nullptr || via[head]->capacity < arc.capacity) via[head] = &arc;
      }
    }
    for (const NodeId v : next) {
      Arc*& arc = via[v];
      arc->capacity -= tree.multiplicity;
      tree.parent[v] = arc->tail;
      arc = nullptr;
    }
    reached += next.size();
    level = std::move(next);
  }
  return reached == tree.parent.size();
}

}  // namespace

std::optional<std::vector<Batch>> pack_greedily(const Graph& graph, std::span<const Amount> trees) {
  TreeRows rows(graph);
  NodeMap<Arc*> via(trees.size(), nullptr);
  std::vector<Batch> batches;
  for (std::size_t root = 0; root < trees.size(); ++root) {
    if (trees[root] == 0) continue;
    Batch& tree = batches.emplace_back(
        Batch{static_cast<NodeId>(root), trees[root], NodeMap<NodeId>(trees.size(), -1)});
    if (!grow(rows, tree, via)) return std::nullopt;
  }
  return batches;
}

}  // namespace forestcoll
