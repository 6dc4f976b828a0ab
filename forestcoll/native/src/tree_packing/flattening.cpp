// Of a complete packing only the trees that are too tall are taken out. They grow anew by Prim's
// algorithm within the tree_depth aimed at, over the congestion that the others leave, and what they
// overload is negotiated: every other tree may change its parents too, as long as it stays within
// the tree_depth. If that works out, the packing is as complete as before, and lower. If not, it is
// left as it was, and a tree_depth half as far away is tried.
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

// Rounds of negotiation in a turn, and turns for each tree_depth.
struct Effort {
  int rounds, turns;
  std::int64_t steps;  // in all, see PartialPacking::spend
};

// Some 20 ms for small problems and 0.1 s for others; or some seconds.
constexpr Effort kSmall{16, 4, std::int64_t{1} << 21}, kLarge{8, 1, std::int64_t{1} << 22};
constexpr Effort kPatient{16, 32, std::int64_t{1} << 26};

// What the search for the least tree_depth may take in steps.
constexpr std::int64_t kSearch = std::int64_t{1} << 22;

// Hops from the root to every node, over arcs that can carry a tree, are at most this.
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

// What no packing of these trees is lower than.
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

// Whether all trees come to fit within the tree_depth.
bool squeeze(PartialPacking& packing, int tree_depth, int rounds, int turn, Progress& progress) {
  Prim prim(packing);
  const int batches = packing.num_batches();
  for (int batch = 0; batch < batches && !packing.is_overspent(); ++batch) {
    progress(batch, batches);
    if (packing.tree_depth(batch) > tree_depth) prim.grow(batch, tree_depth);
  }
  return negotiate(packing, tree_depth, rounds, progress, turn) && packing.tree_depth() <= tree_depth;
}

// The packing within a tree_depth, if one of the turns comes to that before the steps are used up.
std::optional<PartialPacking> squeezed(const PartialPacking& packing, int tree_depth, Effort& effort,
                                       Progress& progress) {
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

std::vector<Batch> lower(const Graph& graph, std::vector<Batch> batches, Progress& progress,
                         bool thorough) {
  const std::int64_t search = std::int64_t{graph.num_nodes} * std::ssize(graph.arcs);
  if (batches.empty() || search > kSearch) return batches;
  const auto place = [](const Arc& arc) { return ends(arc.tail, arc.head); };
  const bool is_merged = std::ranges::adjacent_find(graph.arcs, std::ranges::greater_equal{},
                                                    place) == graph.arcs.end();
  if (!is_merged) {
    return lower({graph.num_nodes, merged(graph.arcs)}, std::move(batches), progress, thorough);
  }
  PartialPacking packing = taken_up(graph, batches);
  const int tree_depth = packing.tree_depth();
  int least = least_depth(graph, batches);
  Effort effort = thorough ? kPatient : packing.is_small() ? kSmall : kLarge;
  while (least < packing.tree_depth() && effort.steps > 0) {
    const int aim = (least + packing.tree_depth()) / 2;
    if (auto lower = squeezed(packing, aim, effort, progress)) {
      packing = std::move(*lower);
    } else {
      least = aim + 1;
    }
  }
  return packing.tree_depth() < tree_depth ? packing.batches() : batches;
}

}  // namespace forestcoll
