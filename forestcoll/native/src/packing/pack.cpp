// The cascade: cheap methods first. Any complete result within the capacities is a packing, so they
// need no proof that they work; the exact packer is left with what none of them can place.
#include <algorithm>
#include <string>
#include <utility>

#include "draft.hpp"
#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"
#include "forestcoll/packing.hpp"
#include "hybrid.hpp"
#include "negotiate.hpp"
#include "repair.hpp"
#include "starts.hpp"

namespace forestcoll {

namespace {

// Rounds of negotiation for each height; more make trees lower, and take longer.
constexpr int kRounds = 3;

// Trees that do not fit with this many hops more than the lowest are left to the exact packer.
constexpr int kMostExtraHops = 8;

void check_feasible(const Graph& graph, std::span<const Amount> trees) {
  const FlowNetwork network(graph);
  WarmFlow flow(network, trees);
  for (NodeId v = 0; v < graph.num_nodes; ++v) {
    if (const Amount shortage = flow.settle(v); shortage > 0) {
      throw Infeasible("node " + std::to_string(v) + " lacks capacity for " +
                       std::to_string(shortage) + " trees");
    }
  }
}

// Allows the trees more and more height, from that of the start on.
bool negotiate_height(Draft& draft, int lowest, Progress& progress) {
  const int highest = std::min(lowest + kMostExtraHops, draft.num_nodes() - 1);
  for (int height = lowest; height <= highest; ++height) {
    if (negotiate(draft, height, kRounds, progress)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<Batch>> pack_on_shortest_paths(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress) {
  Draft draft(graph);
  if (!start_on_shortest_paths(draft, trees, progress)) return std::nullopt;
  if (!negotiate_height(draft, draft.height(), progress)) return std::nullopt;
  return draft.batches();
}

std::optional<std::vector<Batch>> pack_with_prim(const Graph& graph, std::span<const Amount> trees,
                                                 Progress& progress) {
  Draft draft(graph);
  if (!start_with_prim(draft, trees, progress)) return std::nullopt;
  if (!negotiate_height(draft, draft.height(), progress)) return std::nullopt;
  return draft.batches();
}

std::vector<Batch> pack(const Graph& graph, std::span<const Amount> trees, Progress& progress) {
  check(graph, {{trees.begin(), trees.end()},
                std::vector<std::uint8_t>(static_cast<std::size_t>(graph.num_nodes), 1)});
  if (auto batches = pack_greedily(graph, trees)) return std::move(*batches);
  Draft draft(graph);
  if (!start_on_shortest_paths(draft, trees, progress)) check_feasible(graph, trees);
  if (!repair(draft, draft.height(), progress)) {
    check_feasible(graph, trees);
    if (!negotiate_height(draft, draft.height(), progress)) return complete(draft, progress);
  }
  return draft.batches();
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
