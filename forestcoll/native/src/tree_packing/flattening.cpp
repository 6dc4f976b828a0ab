// Takes only the trees that are too deep out of a complete packing. Prim's algorithm grows them
// anew within the target depth, over the congestion of the others. The overloads are negotiated:
// every other tree may change its parents too, as long as it stays within the depth. If that works,
// the packing is complete as before, and shallower. If not, it stays as it was, and a depth half as
// far away is tried.
#include "forestcoll/tree_packing/flattening.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "forestcoll/tree_packing/negotiate.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/prim.hpp"

namespace forestcoll {

namespace {

// Rounds of negotiation in a turn, and turns for each depth.
struct Effort {
  int rounds, turns;
  std::int64_t steps;  // in total, see PartialPacking::spend
};

// About 20 ms for small problems and 0.1 s for others; some seconds with kPatient.
constexpr Effort kSmall{16, 4, std::int64_t{1} << 21}, kLarge{8, 1, std::int64_t{1} << 22};
constexpr Effort kPatient{16, 32, std::int64_t{1} << 26};

// The most steps for the lower bound on the depth.
constexpr std::int64_t kSearch = std::int64_t{1} << 22;

// The hops from the root to the farthest node, over arcs that can carry a tree.
int farthest(const NodeMap<std::vector<NodeId>>& out, NodeId root) {
  NodeMap<int> hops(out.size(), -1);
  std::vector<NodeId> queue{root};
  hops[root] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const NodeId u : out[queue[i]]) {
      if (hops[u] >= 0) continue;
      hops[u] = hops[queue[i]] + 1;
      queue.push_back(u);
    }
  }
  return hops[queue.back()];
}

// Lower bound on the depth of any packing of these trees.
int least_depth(const Graph& graph, const std::vector<Batch>& batches) {
  NodeMap<std::vector<NodeId>> out(graph.num_nodes);
  for (const Arc& arc : graph.arcs) {
    if (arc.capacity > 0) out[arc.tail].push_back(arc.head);
  }
  int least = 0;
  NodeId before = -1;
  for (const Batch& batch : batches) {
    if (batch.root != before) least = std::max(least, farthest(out, batch.root));
    before = batch.root;
  }
  return least;
}

// Sets the depths of all nodes of a tree whose parents are known.
void set_depths(PartialPacking& packing, int batch, const Batch& tree) {
  NodeMap<int> depth(tree.parent.size(), -1);
  depth[tree.root] = 0;
  std::vector<NodeId> path;
  for (NodeId v = 0; v < depth.count(); ++v) {
    for (NodeId u = v; depth[u] < 0; u = tree.parent[u]) path.push_back(u);
    for (; !path.empty(); path.pop_back()) {
      depth[path.back()] = depth[tree.parent[path.back()]] + 1;
    }
    packing.set_depth(batch, v, depth[v]);
  }
}

// The arcs must be sorted by (tail, head).
PartialPacking taken_up(const Graph& graph, const std::vector<Batch>& batches) {
  const ArcRows rows(graph.arcs);
  PartialPacking packing(graph);
  for (const Batch& tree : batches) {
    const int batch = packing.add(tree.root, tree.multiplicity);
    set_depths(packing, batch, tree);
    for (NodeId v = 0; v < graph.num_nodes; ++v) {
      if (tree.parent[v] >= 0) packing.attach(batch, rows.find(tree.parent[v], v));
    }
  }
  return packing;
}

// Whether all trees could be brought within the depth.
bool squeeze(PartialPacking& packing, int tree_depth, int rounds, int turn, Progress& progress) {
  Prim prim(packing);
  const int batches = packing.num_batches();
  for (int batch = 0; batch < batches && !packing.is_overspent(); ++batch) {
    progress(batch, batches);
    if (packing.tree_depth(batch) > tree_depth) prim.grow(batch, tree_depth);
  }
  return negotiate(packing, tree_depth, rounds, progress, turn) &&
         packing.tree_depth() <= tree_depth;
}

// The packing within a depth, if one of the turns finds it before the steps are used up.
std::optional<PartialPacking> squeezed(const PartialPacking& packing, int tree_depth,
                                       Effort& effort, Progress& progress) {
  for (int turn = 0; turn < effort.turns && effort.steps > 0; ++turn) {
    PartialPacking next = packing;
    next.allow(packing.spent() + effort.steps);
    const bool fits = squeeze(next, tree_depth, effort.rounds, turn, progress);
    effort.steps -= next.spent() - packing.spent();
    if (fits) return next;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Batch> flatten(const Graph& graph, std::vector<Batch> batches, Progress& progress,
                           bool thorough) {
  const std::int64_t search = std::int64_t{graph.num_nodes} * std::ssize(graph.arcs);
  if (batches.empty() || search > kSearch) return batches;
  const auto place = [](const Arc& arc) { return ends(arc.tail, arc.head); };
  const bool is_merged = std::ranges::adjacent_find(graph.arcs, std::ranges::greater_equal{},
                                                    place) == graph.arcs.end();
  if (!is_merged) {
    return flatten({graph.num_nodes, merged(graph.arcs)}, std::move(batches), progress, thorough);
  }
  PartialPacking packing = taken_up(graph, batches);
  const int tree_depth = packing.tree_depth();
  int least = least_depth(graph, batches);
  Effort effort = thorough ? kPatient : packing.is_small() ? kSmall : kLarge;
  while (least < packing.tree_depth() && effort.steps > 0) {
    const int aim = (least + packing.tree_depth()) / 2;
    if (auto flatter = squeezed(packing, aim, effort, progress)) {
      packing = std::move(*flatter);
    } else {
      least = aim + 1;
    }
  }
  return packing.tree_depth() < tree_depth ? packing.batches() : batches;
}

}  // namespace forestcoll
