#include "forestcoll/bounded_depth/bounded_depth.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/bounded_depth/beginnings.hpp"
#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/bounded_depth/growth.hpp"
#include "forestcoll/bounded_depth/near_hops.hpp"
#include "forestcoll/bounded_depth/negotiation.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {
namespace {

constexpr int kAttempts = 16;     // at a congestion each
constexpr Amount kWhole = 1024;   // parts of the congestion that worked
constexpr Amount kFine = 1016;    // the failed one is so near that no attempt is made between
constexpr Amount kDeepest = 683;  // the least part that one attempt aims at: two thirds

// A congestion in parts of the one that worked.
Amount parts(const Congestion& congestion, const Congestion& worked) {
  return static_cast<Amount>(static_cast<Wide>(congestion.trees) * worked.capacity * kWhole /
                             (static_cast<Wide>(congestion.capacity) * worked.trees));
}

// Bisects for the least congestion that works, down to the bound, which is tried itself once it is
// near. Leaves the trees that worked.
void bisect(Negotiation& negotiation, TreeState& state, const Congestion& bound) {
  Congestion worked = state.congestion(), failed = bound;
  TreeState::Saved best = state.save();
  bool tried_bound = false;
  for (int tried = 0; tried < kAttempts && bound < worked && !negotiation.is_spent(); ++tried) {
    const Amount below = parts(failed, worked);
    if (below >= kFine) break;
    const Amount next = std::max((below + kWhole) / 2, kDeepest);
    Congestion aim{worked.trees * next, worked.capacity * kWhole};
    if (below >= kDeepest && !std::exchange(tried_bound, true)) aim = bound;
    if (negotiation.attempt(aim)) {
      best = state.save();
      worked = state.congestion();
    } else {
      state.restore(best);
      failed = aim;
    }
  }
  state.restore(best);
}

// Trees by path, over all batches.
IndexedVector<Amount> trees_of_paths(const TreeState& state) {
  IndexedVector<Amount> trees(state.pool().count(), 0);
  for (int batch = 0; batch < state.batches(); ++batch) {
    for (int v = 0; v < state.size(); ++v) {
      const int path = state.path(batch, v);
      if (path >= 0) trees[path] += state.trees(batch);
    }
  }
  return trees;
}

std::vector<int> parents_of(const TreeState& state) {
  std::vector<int> parent;
  for (int batch = 0; batch < state.batches(); ++batch) {
    for (int v = 0; v < state.size(); ++v) parent.push_back(state.parent(batch, v));
  }
  return parent;
}

LowTrees written_out(const LowNetwork& network, const TreeState& state) {
  const PathPool& pool = state.pool();
  const auto& arcs = network.graph->arcs;
  const auto ends_of = [&](int path) {
    return std::pair(network.rank[arcs[*pool.begin(path)].tail],
                     network.rank[arcs[*(pool.end(path) - 1)].head]);
  };
  const IndexedVector<Amount> trees = trees_of_paths(state);
  std::vector<int> used;
  for (int path = 0; path < pool.count(); ++path) {
    if (trees[path] > 0) used.push_back(path);
  }
  std::ranges::stable_sort(used, {}, ends_of);
  LowTrees made;
  made.parent = parents_of(state);
  made.first_hop.push_back(0);
  for (const int path : used) {
    const auto [tail, head] = ends_of(path);
    if (made.tail.empty() || tail != made.tail.back() || head != made.head.back()) {
      made.tail.push_back(tail);
      made.head.push_back(head);
      made.first_path.push_back(static_cast<std::int64_t>(made.path_trees.size()));
    }
    made.path_trees.push_back(trees[path]);
    made.hop.push_back(arcs[*pool.begin(path)].tail);
    for (const int* arc = pool.begin(path); arc != pool.end(path); ++arc) {
      made.hop.push_back(arcs[*arc].head);
    }
    made.first_hop.push_back(static_cast<std::int64_t>(made.hop.size()));
  }
  made.first_path.push_back(static_cast<std::int64_t>(made.path_trees.size()));
  return made;
}

}  // namespace

LowTrees depth_bounded_trees(const Graph& graph, const NodeMap<std::uint8_t>& is_target,
                             const Batches& batches, const HeightLimit& limit, Progress progress) {
  if (limit.bound_capacity < 1 || limit.bound_trees < 0) throw InvalidInput("no bound");
  const Congestion bound{limit.bound_trees, limit.bound_capacity};
  const LowNetwork network(graph, is_target);
  TreeState state(network, batches);
  Prices prices(network, state);
  Parents parents(network, state, prices, limit.tree_depth);
  const NearHops near(state, parents);
  Growth growth(state, prices, parents, near, limit.tree_depth);
  Beginnings beginnings(network, state, parents, growth, limit.tree_depth);
  const auto row = [&](int batch) {
    return batches.parent.data() + static_cast<std::ptrdiff_t>(batch) * state.size();
  };
  for (int batch = 0; batch < state.batches(); ++batch) {
    prices.aim_at(std::max(bound, state.congestion()));  // links as full as the fullest are dear
    progress(batch, state.batches());
    beginnings.begin(batch, batches.parent.empty() ? nullptr : row(batch));
  }
  Negotiation negotiation(state, prices, parents, growth, limit, progress);
  bisect(negotiation, state, bound);
  return written_out(network, state);
}

}  // namespace forestcoll
