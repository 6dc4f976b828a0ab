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
std::vector<Offset> offsets_of(const Graph& graph) {
  const NodeId n = graph.num_nodes;
  std::vector<Amount> capacity(static_cast<std::size_t>(n), 0);
  for (const Arc& arc : graph.arcs) {
    if (arc.tail == 0) capacity[static_cast<std::size_t>(arc.head)] += arc.capacity;
  }
  std::vector<Offset> offsets;
  for (NodeId by = 1; by < n; ++by) {
    const Amount own = capacity[static_cast<std::size_t>(by)];
    if (own > 0) offsets.push_back({by, own});
  }
  const bool alike = std::ranges::all_of(graph.arcs, [&](const Arc& arc) {
    return arc.capacity == capacity[static_cast<std::size_t>((arc.head - arc.tail + n) % n)];
  });
  if (!alike || graph.arcs.size() != offsets.size() * static_cast<std::size_t>(n)) return {};
  return offsets;
}

std::vector<int> distances(NodeId n, const std::vector<Offset>& offsets) {
  std::vector<int> distance(static_cast<std::size_t>(n), -1);
  std::vector<NodeId> queue{0};
  distance[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Offset& offset : offsets) {
      const NodeId v = (queue[i] + offset.by) % n;
      if (distance[static_cast<std::size_t>(v)] >= 0) continue;
      distance[static_cast<std::size_t>(v)] = distance[static_cast<std::size_t>(queue[i])] + 1;
      queue.push_back(v);
    }
  }
  return distance;
}

// Parents of a tree of root 0 with at most capacity / multiplicity edges of each offset; nothing if
// there is none among those of least depth.
std::vector<NodeId> tree_within(NodeId n, const std::vector<Offset>& offsets, Amount multiplicity) {
  const std::vector<int> distance = distances(n, offsets);
  const auto at = [&](NodeId v) { return distance[static_cast<std::size_t>(v)]; };
  const auto before = [n](NodeId v, const Offset& offset) { return (v - offset.by + n) % n; };
  const NodeId sink = n + static_cast<NodeId>(offsets.size());
  FlowNetwork network(sink + 1);
  std::vector<Amount> supply(static_cast<std::size_t>(sink) + 1, 0);
  for (NodeId v = 1; v < n; ++v) {
    if (at(v) < 0) return {};
    supply[static_cast<std::size_t>(v)] = 1;
    for (std::size_t g = 0; g < offsets.size(); ++g) {
      if (at(before(v, offsets[g])) < at(v)) network.add(v, n + static_cast<NodeId>(g), 1);
    }
  }
  for (std::size_t g = 0; g < offsets.size(); ++g) {
    network.add(n + static_cast<NodeId>(g), sink, offsets[g].capacity / multiplicity);
  }
  WarmFlow flow(network, supply);
  if (flow.settle(sink) > 0) return {};
  std::vector<NodeId> parent(static_cast<std::size_t>(n), -1);
  for (NodeId v = 1; v < n; ++v) {
    for (const int arc : network.arcs_of(v)) {
      if (flow.flow(arc) == 0) continue;
      const auto g = static_cast<std::size_t>(network.head(arc) - n);
      parent[static_cast<std::size_t>(v)] = before(v, offsets[g]);
    }
  }
  return parent;
}

Batch turned(const std::vector<NodeId>& parent, NodeId root, Amount multiplicity) {
  const auto n = static_cast<NodeId>(parent.size());
  Batch batch{root, multiplicity, std::vector<NodeId>(parent.size(), -1)};
  for (NodeId v = 1; v < n; ++v) {
    batch.parent[static_cast<std::size_t>((v + root) % n)] =
        (parent[static_cast<std::size_t>(v)] + root) % n;
  }
  return batch;
}

}  // namespace

std::optional<std::vector<Batch>> pack_by_turning(const Graph& graph,
                                                  std::span<const Amount> trees) {
  const bool equal =
      std::ranges::all_of(trees, [&](Amount count) { return count == trees[0] && count > 0; });
  const std::vector<Offset> offsets = equal ? offsets_of(graph) : std::vector<Offset>{};
  if (offsets.empty()) return std::nullopt;
  const std::vector<NodeId> parent = tree_within(graph.num_nodes, offsets, trees[0]);
  if (parent.empty()) return std::nullopt;
  std::vector<Batch> batches;
  for (NodeId root = 0; root < graph.num_nodes; ++root) {
    batches.push_back(turned(parent, root, trees[0]));
  }
  return batches;
}

}  // namespace forestcoll
