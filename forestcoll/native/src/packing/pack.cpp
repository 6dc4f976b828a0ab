#include <algorithm>
#include <string>
#include <utility>

#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"
#include "forestcoll/packing.hpp"

namespace forestcoll {

std::vector<Batch> pack(const Graph& graph, std::span<const Amount> trees, Progress& progress) {
  check(graph, {{trees.begin(), trees.end()},
                std::vector<std::uint8_t>(static_cast<std::size_t>(graph.num_nodes), 1)});
  if (auto batches = pack_greedily(graph, trees)) return std::move(*batches);
  if (auto batches = pack_on_shortest_paths(graph, trees, progress)) return std::move(*batches);
  const FlowNetwork network(graph);
  WarmFlow flow(network, trees);
  for (NodeId v = 0; v < graph.num_nodes; ++v) {
    if (const Amount shortage = flow.settle(v); shortage > 0) {
      throw Infeasible("node " + std::to_string(v) + " lacks capacity for " +
                       std::to_string(shortage) + " trees");
    }
  }
  return pack_exactly(graph, trees, progress);
}

std::vector<Amount> loads(const std::vector<Arc>& arcs, const std::vector<Batch>& batches) {
  // Where the arcs of each tail begin.
  std::vector<std::size_t> first;
  for (std::size_t arc = 0; arc < arcs.size(); ++arc) {
    while (first.size() <= static_cast<std::size_t>(arcs[arc].tail)) first.push_back(arc);
  }
  const auto row_end = [&](std::size_t tail) {
    return tail + 1 < first.size() ? first[tail + 1] : arcs.size();
  };
  std::vector<Amount> loads(arcs.size(), 0);
  for (const Batch& batch : batches) {
    for (std::size_t v = 0; v < batch.parent.size(); ++v) {
      const NodeId parent = batch.parent[v];
      if (parent < 0) continue;
      const auto tail = static_cast<std::size_t>(parent);
      if (tail >= first.size()) throw InvalidInput("a tree edge is no arc");
      const auto row = std::span(arcs).subspan(first[tail], row_end(tail) - first[tail]);
      const auto arc = std::ranges::lower_bound(row, static_cast<NodeId>(v), {}, &Arc::head);
      if (arc == row.end() || arc->head != static_cast<NodeId>(v) || arc->tail != parent) {
        throw InvalidInput("a tree edge is no arc");
      }
      loads[first[tail] + static_cast<std::size_t>(arc - row.begin())] += batch.multiplicity;
    }
  }
  return loads;
}

}  // namespace forestcoll
