// All trees at once, node by node. If every node takes its parent from the nodes that are nearer to
// the root, any choice of parents is a tree, so the choices at different nodes do not touch each
// other. At each node the batches with the fewest choices come first and take the emptiest in-arc;
// what is overloaded then is repaired, first among nearer nodes, which keeps all trees as low as
// the distances, and at last with any parents.
#include <algorithm>

#include "forestcoll/tree_packing/repair.hpp"
#include "forestcoll/tree_packing/starts.hpp"

namespace forestcoll {

namespace {

// Hops from each root, over arcs that can carry a tree, become the depths; false if a node is out
// of reach.
bool measure_distances(PartialPacking& packing) {
  const Graph& graph = packing.graph();
  const NodeId nodes = graph.num_nodes;
  NodeMap<std::vector<NodeId>> out(nodes);
  for (const Arc& arc : graph.arcs) {
    if (arc.capacity > 0) out[arc.tail].push_back(arc.head);
  }
  NodeMap<int> hops(nodes);
  std::vector<NodeId> queue;
  for (int batch = 0; batch < packing.num_batches(); ++batch) {
    std::ranges::fill(hops, -1);
    hops[packing.root(batch)] = 0;
    queue.assign(1, packing.root(batch));
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const int next = hops[queue[i]] + 1;
      for (const NodeId u : out[queue[i]]) {
        if (hops[u] >= 0) continue;
        hops[u] = next;
        queue.push_back(u);
      }
    }
    if (std::ssize(queue) < nodes) return false;
    for (NodeId v = 0; v < nodes; ++v) {
      packing.set_depth(batch, v, hops[v]);
    }
  }
  return true;
}

// Gives each batch the emptiest in-arc from a nearer node; those with few choices go first.
void place(PartialPacking& packing, NodeId node) {
  const auto arcs = packing.in_arcs(node);
  const auto usable = [&](int arc, int batch) {
    return packing.arc(arc).capacity > 0 &&
           packing.depth(batch, packing.arc(arc).tail) < packing.depth(batch, node);
  };
  IndexedVector<std::vector<int>> by_choices(arcs.size() + 1);
  for (int batch = 0; batch < packing.num_batches(); ++batch) {
    const auto choices = std::ranges::count_if(arcs, [&](int arc) { return usable(arc, batch); });
    by_choices[choices].push_back(batch);
  }
  by_choices[0].clear();  // the batches rooted here
  for (const auto& batches : by_choices) {
    for (const int batch : batches) {
      int best = -1;
      for (const int arc : arcs) {
        if (usable(arc, batch) && (best < 0 || packing.left(arc) > packing.left(best))) best = arc;
      }
      packing.attach(batch, best);
    }
  }
}

}  // namespace

bool start_on_shortest_paths(PartialPacking& packing, std::span<const Amount> trees,
                             Progress& progress) {
  for (std::size_t root = 0; root < trees.size(); ++root) {
    if (trees[root] > 0) packing.add(static_cast<NodeId>(root), trees[root]);
  }
  if (!measure_distances(packing)) return false;
  for (NodeId v = 0; v < packing.num_nodes(); ++v) {
    progress(v, packing.num_nodes());
    place(packing, v);
    repair(packing, v, {Rule::Change::kNotDeeper, 0, true});
  }
  return true;
}

}  // namespace forestcoll
