// Paths to one target over switches, backwards: Dijkstra's algorithm with the caller's prices.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

class Ways {
 public:
  struct Place {
    Amount cost;  // from there to the target
    NodeId node;
  };

  explicit Ways(const LowNetwork& network);

  // Forgets the paths to the last target.
  void start(NodeId target);
  // The cheapest place not yet visited, if it costs at most so much.
  std::optional<Place> next(Amount most);
  // Offers a path from a node, which begins with this arc.
  void offer(NodeId node, Amount cost, int arc);

  // The first arc of the path from a visited node.
  int onward(NodeId node) const { return onward_[node]; }
  // The path that begins with an arc, to the target of the last search.
  std::vector<int> arcs_from(int first) const;

 private:
  using Entry = std::pair<Amount, NodeId>;

  const LowNetwork& network_;
  std::vector<Entry> heap_;
  NodeMap<Amount> reach_;  // cost from a node to the target
  NodeMap<int> onward_;    // the arc that it starts with
  std::vector<NodeId> touched_;
};

// Defined here because the innermost loops call them.
inline void Ways::start(NodeId target) {
  for (const NodeId x : touched_) reach_[x] = kFar;
  touched_.clear();
  heap_.clear();
  offer(target, 0, -1);
}

inline std::optional<Ways::Place> Ways::next(Amount most) {
  while (!heap_.empty()) {
    const auto [cost, x] = heap_.front();
    if (cost > most) return std::nullopt;
    std::ranges::pop_heap(heap_, std::greater());
    heap_.pop_back();
    if (cost == reach_[x]) return Place{cost, x};
  }
  return std::nullopt;
}

inline void Ways::offer(NodeId node, Amount cost, int arc) {
  if (cost >= reach_[node]) return;
  if (reach_[node] == kFar) touched_.push_back(node);
  reach_[node] = cost;
  onward_[node] = arc;
  heap_.emplace_back(cost, node);
  std::ranges::push_heap(heap_, std::greater());
}

}  // namespace forestcoll
