// Trees of one root, turned to all others.
//
// In a circulant graph, with an arc from each v to v + g (mod n) for every offset g of a set,
// turning by one is a symmetry. Turn a tree T of root 0 to every root, and the arc v -> v + g is
// used once for each edge of T with offset g. So T fits if it has at most c(g) / m edges of offset
// g, where m is the number of trees per root; and if every node takes its parent from a node nearer
// to the root, any choice of offsets is a tree. What is left is to share the offsets out: one small
// flow.
#include <algorithm>

#include "forestcoll/common/flow.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

struct Offset {
  NodeId by;
  Amount capacity;
};

// The offsets of a circulant graph; none if it is something else.
IndexedVector<Offset> offsets_of(const Graph& graph) {
  const NodeId n = graph.num_nodes;
  NodeMap<Amount> capacity(n, 0);
  for (const Arc& arc : graph.arcs) {
    if (arc.tail == 0) capacity[arc.head] += arc.capacity;
  }
  IndexedVector<Offset> offsets;
  for (NodeId by = 1; by < n; ++by) {
    const Amount own = capacity[by];
    if (own > 0) offsets.push_back({by, own});
  }
  const bool alike = std::ranges::all_of(graph.arcs, [&](const Arc& arc) {
    return arc.capacity == capacity[(arc.head - arc.tail + n) % n];
  });
  if (!alike || graph.arcs.size() != offsets.size() * static_cast<std::size_t>(n)) return {};
  return offsets;
}

NodeMap<int> distances(NodeId n, const IndexedVector<Offset>& offsets) {
  NodeMap<int> distance(n, -1);
  std::vector<NodeId> queue{0};
  distance[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Offset& offset : offsets) {
      const NodeId v = (queue[i] + offset.by) % n;
      if (distance[v] >= 0) continue;
      distance[v] = distance[queue[i]] + 1;
      queue.push_back(v);
    }
  }
  return distance;
}

// Parents of a tree of root 0 with at most capacity / multiplicity edges of each offset; nothing if
// there is none among those of least depth.
NodeMap<NodeId> tree_within(NodeId n, const IndexedVector<Offset>& offsets, Amount multiplicity) {
  const NodeMap<int> distance = distances(n, offsets);
  const auto at = [&](NodeId v) { return distance[v]; };
  const auto before = [n](NodeId v, const Offset& offset) { return (v - offset.by + n) % n; };
  const NodeId sink = n + offsets.count();
  FlowNetwork network(sink + 1);
  NodeMap<Amount> supply(sink + 1, 0);
  for (NodeId v = 1; v < n; ++v) {
    if (at(v) < 0) return {};
    supply[v] = 1;
    for (int g = 0; g < offsets.count(); ++g) {
      if (at(before(v, offsets[g])) < at(v)) network.add(v, n + g, 1);
    }
  }
  for (int g = 0; g < offsets.count(); ++g) {
    network.add(n + g, sink, offsets[g].capacity / multiplicity);
  }
  WarmFlow flow(network, supply);
  if (flow.settle(sink) > 0) return {};
  NodeMap<NodeId> parent(n, -1);
  for (NodeId v = 1; v < n; ++v) {
    for (const int arc : network.arcs_of(v)) {
      if (flow.flow(arc) == 0) continue;
      const int g = network.head(arc) - n;
      parent[v] = before(v, offsets[g]);
    }
  }
  return parent;
}

Batch turned(const NodeMap<NodeId>& parent, NodeId root, Amount multiplicity) {
  const NodeId n = parent.count();
  Batch batch{root, multiplicity, NodeMap<NodeId>(parent.size(), -1)};
  for (NodeId v = 1; v < n; ++v) {
    batch.parent[(v + root) % n] = (parent[v] + root) % n;
  }
  return batch;
}

}  // namespace

std::optional<std::vector<Batch>> pack_by_turning(const Graph& graph,
                                                  std::span<const Amount> trees) {
  const bool equal =
      std::ranges::all_of(trees, [&](Amount count) { return count == trees[0] && count > 0; });
  const IndexedVector<Offset> offsets = equal ? offsets_of(graph) : IndexedVector<Offset>{};
  if (offsets.empty()) return std::nullopt;
  const NodeMap<NodeId> parent = tree_within(graph.num_nodes, offsets, trees[0]);
  if (parent.empty()) return std::nullopt;
  std::vector<Batch> batches;
  for (NodeId root = 0; root < graph.num_nodes; ++root) {
    batches.push_back(turned(parent, root, trees[0]));
  }
  return batches;
}

}  // namespace forestcoll
