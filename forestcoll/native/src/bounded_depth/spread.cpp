#include "forestcoll/bounded_depth/spread.hpp"

#include <algorithm>
#include <cstddef>

namespace forestcoll {

namespace {

constexpr std::size_t kSmall = 32;  // nodes of a box up to which trees are grown by price

}  // namespace

Spread::Spread(TreeState& state, const Prices& prices, Uplinks& uplinks, const NearHops& near,
               int tree_depth)
    : state_(state),
      prices_(prices),
      uplinks_(uplinks),
      near_(near),
      max_depth_(tree_depth),
      most_(state.size()),
      free_(state.size()),
      bound_(state.size()) {}

Amount Spread::over(const Box& box, int batch) {
  if (box.size() == 1) return 0;
  return box.size() <= kSmall ? by_price(box, batch) : by_depth(box, batch);
}

// Breadth first: cheaper to compute, for large boxes.
Amount Spread::by_depth(const Box& box, int batch) {
  Amount sum = 0;
  for (int depth = 0; depth < max_depth_; ++depth) {
    for (const int v : box) {
      if (state_.depth(v) <= max_depth_) continue;
      const Step step = cheapest_at(v, depth, state_.trees(batch));
      if (step.node < 0) continue;
      sum += step.price;
      hang(batch, step);
    }
  }
  return sum;
}

Spread::Step Spread::cheapest_at(int v, int depth, Amount trees) const {
  Step best;
  for (const auto& [u, path] : near_.into(v)) {
    if (state_.depth(u) != depth) continue;
    const Amount cost = prices_.price_of(path, trees);
    if (cost < best.price) best = {cost, v, u, path};
  }
  return best;
}

// The cheapest hop first. A node may be as deep as keeps every other node within reach that is so
// now.
Amount Spread::by_price(const Box& box, int batch) {
  Amount sum = 0;
  for (const int v : box) most_[v] = max_depth_;
  while (true) {
    const Step step = cheapest(box, state_.trees(batch));
    if (step.node < 0) return sum;
    const int depth = state_.depth(step.parent) + 1;
    if (!leaves_reachable(box, step.node, depth)) {
      most_[step.node] = depth - 1;
      continue;
    }
    sum += step.price;
    hang(batch, step);
  }
}

// Of equal hops the last among those nearest to the root.
Spread::Step Spread::cheapest(const Box& box, Amount trees) const {
  Step best;
  for (const int v : box) {
    if (state_.depth(v) <= max_depth_) continue;
    for (const auto& [u, path] : near_.into(v)) {
      if (state_.depth(u) >= most_[v]) continue;
      const Amount cost = prices_.price_of(path, trees);
      if (cost > best.price) continue;
      if (cost == best.price && state_.depth(u) >= state_.depth(best.parent)) continue;
      best = {cost, v, u, path};
    }
  }
  return best;
}

void Spread::hang(int batch, const Step& step) {
  state_.hang(batch, step.node, step.parent, step.path);
  uplinks_.join(step.node, step.path);
}

bool Spread::leaves_reachable(const Box& box, int v, int depth) {
  reach(box, -1, 0, free_);
  if (depth <= free_[v]) return true;
  reach(box, v, depth, bound_);
  return std::ranges::all_of(
      box, [&](int w) { return free_[w] > max_depth_ || bound_[w] <= max_depth_; });
}

// Depths at which near hops can reach the nodes of a box, with one node fixed.
void Spread::reach(const Box& box, int fixed, int depth, IndexedVector<int>& found) const {
  for (const int v : box) found[v] = state_.depth(v);
  if (fixed >= 0) found[fixed] = depth;
  for (int level = 0; level < max_depth_; ++level) {
    for (const int u : box) {
      if (found[u] != level) continue;
      for (const auto& [w, path] : near_.from(u)) {
        if (w != fixed) found[w] = std::min(found[w], level + 1);
      }
    }
  }
}

}  // namespace forestcoll
