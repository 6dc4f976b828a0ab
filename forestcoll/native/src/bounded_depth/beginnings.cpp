#include "forestcoll/bounded_depth/beginnings.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

void Beginnings::begin(int batch, const int* parent) {
  measure_hops(batch);
  if (parent) {
    connect(batch, parent);
    cut(batch);
  } else {
    state_.strip(batch);
    if (growth_.grow(batch) == kFar) take_shortest_ways(batch);
  }
}

void Beginnings::measure_hops(int batch) {
  network_.distances(state_.root(batch), hops_, before_);
  for (const int hops : hops_) {
    if (hops < 0 || hops > max_depth_) {
      throw Infeasible("a tree of tree_depth " + std::to_string(max_depth_) +
                       " does not reach every target");
    }
  }
}

// Every node takes the cheapest parent that is a hop nearer to the root.
void Beginnings::take_shortest_ways(int batch) {
  state_.strip(batch);
  std::vector<int> order(static_cast<std::size_t>(state_.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int v) { return hops_[v]; });
  for (const int v : order) {
    if (v == state_.root(batch)) continue;
    const auto nearer = [&](int u) { return hops_[u] < hops_[v]; };
    parents_.attach(batch, v, parents_.cheapest(v, state_.trees(batch), nearer));
  }
  state_.measure(batch);
}

// Takes the given parents, over the cheapest paths.
void Beginnings::connect(int batch, const int* parent) {
  state_.measure(batch);
  for (int v = 0; v < state_.size(); ++v) {
    if (v == state_.root(batch)) continue;
    const auto given = [&](int u) { return u == parent[v]; };
    const Offer offer = parents_.cheapest(v, state_.trees(batch), given);
    if (offer.parent < 0) throw InvalidInput("no path leads from a parent to its child");
    parents_.attach(batch, v, offer);
  }
  state_.measure(batch);
}

// Moves up nodes that are too deep, the least deep first: with everything below them if that fits,
// otherwise alone.
void Beginnings::cut(int batch) {
  while (state_.below(state_.root(batch)) > max_depth_) {
    const int v = least_too_deep();
    const int deepest = max_depth_ - 1 - std::min(state_.below(v), max_depth_ - 1);
    const Offer offer = parents_.cheapest(v, state_.trees(batch), [&](int u) {
      return state_.depth(u) <= deepest && !state_.is_below(batch, u, v);
    });
    if (offer.parent >= 0) {
      state_.detach(batch, v);
      parents_.attach(batch, v, offer);
    } else {
      follow_shortest_way(batch, v);
    }
    state_.measure(batch);
  }
}

int Beginnings::least_too_deep() const {
  int v = -1;
  for (int u = 0; u < state_.size(); ++u) {
    if (state_.depth(u) > max_depth_ && (v < 0 || state_.depth(u) < state_.depth(v))) v = u;
  }
  return v;
}

// Moves each node on the shortest path that is deeper than necessary below the node before it. That
// node is not below it, or it would be deeper still. So the tree stays a tree, and the cut always
// ends.
void Beginnings::follow_shortest_way(int batch, int v) {
  for (int u = v; before_[u] >= 0; u = before_[u]) {
    if (state_.depth(u) <= hops_[u]) continue;
    const auto next = [&](int w) { return w == before_[u]; };
    const Offer offer = parents_.cheapest(u, state_.trees(batch), next);
    state_.detach(batch, u);
    parents_.attach(batch, u, offer);
  }
}

}  // namespace forestcoll
