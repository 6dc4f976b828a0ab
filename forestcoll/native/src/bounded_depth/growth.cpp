#include "forestcoll/bounded_depth/growth.hpp"

#include <algorithm>
#include <cstddef>

#include "forestcoll/bounded_depth/congestion.hpp"

namespace forestcoll {

Growth::Growth(TreeState& state, const Prices& prices, Parents& parents, const NearHops& near,
               int tree_depth)
    : state_(state),
      prices_(prices),
      parents_(parents),
      near_(near),
      max_depth_(tree_depth),
      spread_(state, prices, parents.uplinks(), near, tree_depth),
      mark_(state.size(), 0) {}

Amount Growth::grow(int batch) {
  const auto& boxes = near_.boxes();
  const int first = near_.box_of(state_.root(batch));
  parents_.uplinks().begin_growth(state_.root(batch));
  Amount sum = spread_.over(boxes[first], batch);
  int left = state_.size();
  // Several rounds, since a box entered late may be the only neighbour of an earlier one.
  for (int before = left + 1; left > 0 && left < before;) {
    before = std::exchange(left, 0);
    for (int next = 0; next < boxes.count(); ++next) {
      const Box& box = boxes[(first + next) % boxes.count()];
      sum += fill(batch, box);
      left += left_out(box);
    }
  }
  parents_.uplinks().end_growth();
  return left > 0 ? kFar : sum;
}

// Enters a box as long as some GPU of it is left out and reachable.
Amount Growth::fill(int batch, const Box& box) {
  Amount sum = 0;
  for (Amount paid = enter(batch, box); paid < kFar; paid = enter(batch, box)) {
    sum += paid + spread_.over(box, batch);
  }
  return sum;
}

int Growth::left_out(const Box& box) const {
  return static_cast<int>(
      std::ranges::count_if(box, [&](int v) { return state_.depth(v) > max_depth_; }));
}

// Adds one more entry into a box: the one with the least cost for each node that it serves.
Amount Growth::enter(int batch, const Box& box) {
  const Entry entry = best_entry(batch, box);
  if (entry.node < 0) return kFar;
  const Offer offer = parents_.cheapest_within(entry.node, state_.trees(batch), entry.deepest);
  const int path = parents_.path_of(offer);
  state_.hang(batch, entry.node, offer.parent, path);
  parents_.uplinks().join(entry.node, path);
  return offer.price;
}

Growth::Entry Growth::best_entry(int batch, const Box& box) {
  Entry best;
  for (const int v : box) {
    if (state_.depth(v) > max_depth_) best = best_entry_at(batch, v, best);
    if (best.node >= 0 && max_depth_ == 1) break;  // each entry serves one node
  }
  return best;
}

// Parents nearer to the root may cost more, but leave more hops behind the entry.
Growth::Entry Growth::best_entry_at(int batch, int v, Entry best) {
  for (int deepest = max_depth_ - 1; deepest >= 0;) {
    const Offer offer = parents_.cheapest_within(v, state_.trees(batch), deepest);
    if (offer.parent < 0) break;
    const int depth = state_.depth(offer.parent);
    const auto [serves, inside] = coverage(batch, v, max_depth_ - 1 - depth);
    const Amount cost = offer.price + inside;
    if (best.node < 0 ||
        static_cast<Wide>(cost) * best.serves < static_cast<Wide>(best.cost) * serves) {
      best = {cost, serves, v, deepest};
    }
    deepest = depth - 1;
  }
  return best;
}

// The nodes without an edge within so many near hops, the first included, and the cost of these
// hops.
std::pair<int, Amount> Growth::coverage(int batch, int v, int hops) {
  std::vector<int> reached{v};
  mark_[v] = ++marked_;
  Amount cost = 0;
  std::size_t next = 0;
  for (; hops > 0; --hops) {
    for (const std::size_t end = reached.size(); next < end; ++next) {
      for (const auto& [w, path] : near_.from(reached[next])) {
        if (state_.depth(w) <= max_depth_ || mark_[w] == marked_) continue;
        mark_[w] = marked_;
        reached.push_back(w);
        cost += prices_.price_of(path, state_.trees(batch));
      }
    }
  }
  return {static_cast<int>(reached.size()), cost};
}

// The old edges are priced while they are attached one by one, as the new tree's are. Both costs
// then include the load of the tree itself.
void Growth::regrow(int batch) {
  const Edges old = edges(batch);
  state_.strip(batch);
  const Amount paid = attach(batch, old);
  state_.strip(batch);
  if (grow(batch) < paid) return;
  state_.strip(batch);
  attach(batch, old);
}

Growth::Edges Growth::edges(int batch) const {
  Edges edges;
  for (int v = 0; v < state_.size(); ++v) {
    edges.emplace_back(state_.parent(batch, v), state_.path(batch, v));
  }
  return edges;
}

// Rebuilds a tree; returns its cost, edge after edge.
Amount Growth::attach(int batch, const Edges& edges) {
  Amount paid = 0;
  for (int v = 0; v < state_.size(); ++v) {
    const auto [parent, path] = edges[static_cast<std::size_t>(v)];
    if (path < 0) continue;
    paid += prices_.price_of(path, state_.trees(batch));
    state_.attach(batch, v, parent, path);
  }
  return paid;
}

}  // namespace forestcoll
