// The cascade: cheap methods first. Any complete result within the capacities is a packing, so the
// methods need no proof. The trees that none of them can place are packed one by one.
#include "forestcoll/tree_packing/tree_packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/tree_packing/completion.hpp"
#include "forestcoll/tree_packing/flattening.hpp"
#include "forestcoll/tree_packing/negotiate.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/repair.hpp"
#include "forestcoll/tree_packing/starts.hpp"

namespace forestcoll {

namespace {

// Rounds of negotiation for each depth; more rounds make shallower trees, but take longer.
constexpr int kRounds = 4;

// Trees that do not fit within the least depth plus this many hops are packed one by one.
constexpr int kMostExtraHops = 8;

// Greedy trees are rejected if the deepest is so many times as deep as the shallowest.
constexpr int kUneven = 3;

// Greedy trees up to this depth are accepted.
constexpr int kShallow = 2;

// Depths at which few trees are left to place; the remaining ones need deeper trees.
constexpr int kCloseTries = 2;

// Trees and capacities are counted in batches of so many trees.
void check_feasible(const Graph& graph, std::span<const Amount> trees, Amount batch = 1) {
  const FlowNetwork network(graph);
  WarmFlow flow(network, trees);
  for (NodeId v = 0; v < graph.num_nodes; ++v) {
    if (const Amount shortage = flow.settle(v); shortage > 0) {
      throw Infeasible("node " + std::to_string(v) + " lacks capacity for " +
                       std::to_string(shortage * batch) + " trees");
    }
  }
}

// Raises the depth limit step by step; returns the depth at which the trees fit, if any. Gives up
// if more depth does not help by an eighth, or if it has cost too much.
std::optional<int> negotiate_depth(PartialPacking& packing, int least, int most,
                                   Progress& progress) {
  int close_tries = 0;
  Amount overload = std::numeric_limits<Amount>::max();
  for (int tree_depth = least; tree_depth <= most; ++tree_depth) {
    if (packing.is_shattered() || packing.is_overspent()) return std::nullopt;
    if (negotiate(packing, tree_depth, kRounds, progress)) return tree_depth;
    if (packing.is_small()) continue;
    const Amount before = std::exchange(overload, packing.overload());
    if (overload > before - before / 8) return std::nullopt;
    if (!is_far_off(packing) && ++close_tries == kCloseTries) return std::nullopt;
  }
  return std::nullopt;
}

int deepest_from(const PartialPacking& start) {
  return std::min(start.tree_depth() + kMostExtraHops, start.num_nodes() - 1);
}

std::optional<std::vector<Batch>> pack_from(PartialPacking start, Progress& progress) {
  const int least = start.tree_depth();
  if (!negotiate_depth(start, least, deepest_from(start), progress)) return std::nullopt;
  return start.batches();
}

int depth_of(const Batch& tree) {
  NodeMap<int> depth(tree.parent.size(), -1);
  depth[tree.root] = 0;
  std::vector<NodeId> path;
  for (NodeId v = 0; v < depth.count(); ++v) {
    for (NodeId u = v; depth[u] < 0;) {
      path.push_back(u);
      u = tree.parent[u];
    }
    for (; !path.empty(); path.pop_back()) {
      const NodeId node = path.back();
      depth[node] = depth[tree.parent[node]] + 1;
    }
  }
  return *std::ranges::max_element(depth);
}

int depth_of(const std::vector<Batch>& batches) {
  int tree_depth = 0;
  for (const Batch& tree : batches) tree_depth = std::max(tree_depth, depth_of(tree));
  return tree_depth;
}

// Greedy trees take their arcs one after the other, and the last ones may be left with long paths.
// If some are much deeper than others, trees that share are tried too.
std::vector<Batch> evened(const Graph& graph, std::span<const Amount> trees,
                          std::vector<Batch> greedy, Progress& progress) {
  const int most = depth_of(greedy);
  int least = most;
  for (const Batch& tree : greedy) least = std::min(least, depth_of(tree));
  if (most <= kUneven * least) return greedy;
  PartialPacking packing(graph);
  const bool started = start_on_shortest_paths(packing, trees, progress);
  if (started && negotiate_depth(packing, packing.tree_depth(),
                                 std::min(most - 1, deepest_from(packing)), progress)) {
    return packing.batches();
  }
  std::vector<Batch> guided = pack_cut_guided(graph, trees, progress);
  return depth_of(guided) < most ? guided : greedy;
}

// Places the trees that repairs left, by negotiation. Small problems also get a second start, which
// can save hops: 11 instead of 13 on three MI250 boxes. If that fails, the fitting trees are kept
// and the rest packed one by one. If the batches are in many parts or little fits, all trees are
// packed one by one.
std::vector<Batch> pack_hard(PartialPacking packing, int least, std::span<const Amount> trees,
                             Progress& progress) {
  if (is_far_off(packing)) return pack_cut_guided(packing.graph(), trees, progress);
  const int most = deepest_from(packing);
  const auto tree_depth = negotiate_depth(packing, least, most, progress);
  if (packing.is_small()) {
    PartialPacking other(packing.graph());
    start_with_prim(other, trees, progress);
    if (negotiate_depth(other, least, tree_depth ? *tree_depth - 1 : most, progress)) {
      return other.batches();
    }
  }
  if (tree_depth) return packing.batches();
  if (packing.is_shattered() || is_far_off(packing))
    return pack_cut_guided(packing.graph(), trees, progress);
  return complete(packing, progress);
}

std::vector<Batch> packed(const Graph& graph, std::span<const Amount> trees, bool thorough,
                          Progress& progress) {
  if (auto batches = pack_vertex_transitive(graph, trees, progress)) return std::move(*batches);
  return pack_without_symmetry(graph, trees, thorough, progress);
}

// The largest number of trees that divides all capacities and all trees.
Amount whole_batch(const Graph& graph, std::span<const Amount> trees) {
  Amount batch = 0;
  for (const Arc& arc : graph.arcs) batch = std::gcd(batch, arc.capacity);
  for (const Amount rooted : trees) batch = std::gcd(batch, rooted);
  return std::max<Amount>(batch, 1);
}

// Shares the arcs among trees on shortest paths, or else among deeper ones, which are flattened.
std::vector<Batch> pack_shared(const Graph& graph, std::span<const Amount> trees, Amount batch,
                               bool thorough, Progress& progress) {
  if (graph.num_nodes > PartialPacking::kSmall) {
    if (auto batches = pack_through_broadcasters(graph, trees)) return std::move(*batches);
  }
  PartialPacking packing(graph);
  // An unreachable node means missing capacity.
  if (!start_on_shortest_paths(packing, trees, progress)) check_feasible(graph, trees, batch);
  const int least = packing.tree_depth();
  if (repair(packing, least, progress)) return packing.batches();
  check_feasible(graph, trees, batch);
  return flatten(graph, pack_hard(std::move(packing), least, trees, progress), progress, thorough);
}

// If a number of trees divides everything, batches of as many are packed as single trees. They are
// repaired in fewer and larger steps, and are never split into odd parts. Small problems are fast
// anyway, and single trees can be shallower than whole batches.
std::vector<Batch> pack_in_batches(const Graph& graph, std::span<const Amount> trees, bool thorough,
                                   Progress& progress) {
  const Amount batch =
      graph.num_nodes > PartialPacking::kSmall ? whole_batch(graph, trees) : Amount{1};
  if (batch == 1) return pack_shared(graph, trees, 1, thorough, progress);
  Graph smaller = graph;
  for (Arc& arc : smaller.arcs) arc.capacity /= batch;
  std::vector<Amount> in_batches(trees.begin(), trees.end());
  for (Amount& rooted : in_batches) rooted /= batch;
  std::vector<Batch> batches = pack_shared(smaller, in_batches, batch, thorough, progress);
  for (Batch& one : batches) one.multiplicity *= batch;
  return batches;
}

}  // namespace

// The cascade.
std::vector<Batch> pack_without_symmetry(const Graph& graph, std::span<const Amount> trees,
                                         bool thorough, Progress& progress) {
  check(graph, {{trees.begin(), trees.end()}, NodeMap<std::uint8_t>(graph.num_nodes, 1)});
  if (auto batches = pack_greedily(graph, trees)) {
    if (depth_of(*batches) <= kShallow) return std::move(*batches);
    return flatten(graph, evened(graph, trees, std::move(*batches), progress), progress, thorough);
  }
  return pack_in_batches(graph, trees, thorough, progress);
}

std::optional<std::vector<Batch>> pack_on_shortest_paths(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress) {
  PartialPacking packing(graph);
  if (!start_on_shortest_paths(packing, trees, progress)) return std::nullopt;
  return pack_from(std::move(packing), progress);
}

std::optional<std::vector<Batch>> pack_with_prim(const Graph& graph, std::span<const Amount> trees,
                                                 Progress& progress) {
  PartialPacking packing(graph);
  if (!start_with_prim(packing, trees, progress)) return std::nullopt;
  return pack_from(std::move(packing), progress);
}

std::vector<Batch> pack(const Graph& graph, std::span<const Amount> trees, Progress& progress) {
  return packed(graph, trees, false, progress);
}

std::vector<Batch> pack_thoroughly(const Graph& graph, std::span<const Amount> trees,
                                   Progress& progress) {
  return packed(graph, trees, true, progress);
}

ArcRows::ArcRows(std::span<const Arc> arcs) : arcs_(arcs) {
  for (std::size_t arc = 0; arc < arcs.size(); ++arc) {
    while (first_.count() <= arcs[arc].tail) first_.push_back(arc);
  }
  first_.push_back(arcs.size());
}

int ArcRows::find_in_long(std::size_t first, std::size_t end, NodeId head) const {
  const auto row = arcs_.subspan(first, end - first);
  const auto arc = std::ranges::lower_bound(row, head, {}, &Arc::head);
  if (arc == row.end() || arc->head != head) return -1;
  return static_cast<int>(arc - arcs_.begin());
}

std::vector<Amount> loads(const std::vector<Arc>& arcs, const std::vector<Batch>& batches) {
  const ArcRows rows(arcs);
  IndexedVector<Amount> loads(arcs.size(), 0);
  for (const Batch& batch : batches) {
    for (NodeId v = 0; v < batch.parent.count(); ++v) {
      if (batch.parent[v] < 0) continue;
      const int arc = rows.find(batch.parent[v], v);
      if (arc < 0) throw InvalidInput("a tree edge is no arc");
      loads[arc] += batch.multiplicity;
    }
  }
  return loads;
}

}  // namespace forestcoll
