#include "forestcoll/bounded_depth/parents.hpp"

namespace forestcoll {

Parents::Parents(const LowNetwork& network, TreeState& state, const Prices& prices, int tree_depth)
    : network_(network),
      state_(state),
      prices_(prices),
      uplinks_(network, state, prices, tree_depth),
      ways_(network) {}

Offer Parents::cheapest_within(int v, Amount trees, int deepest) {
  const NodeId start = network_.node[v];
  Offer best;
  ways_.start(start);
  while (const auto place = ways_.next(best.price)) {
    const auto [cost, x] = *place;
    looks_ += static_cast<std::int64_t>(network_.in_from_switches[x].size()) + 1;
    if (x == start) {
      best = beside(v, trees, deepest);
    } else if (!network_.in_from_targets[x].empty()) {
      const Offer& up = uplinks_.cheapest(x, deepest, trees);
      if (up.parent >= 0 && up.parent != v && up.price < kFar - cost &&
          is_better(cost + up.price, up.parent, best)) {
        best = {cost + up.price, up.parent, up.arc};
      }
    }
    for (const int arc : network_.in_from_switches[x]) {
      const Amount price = cost + prices_.price(arc, trees);
      if (price <= best.price) ways_.offer(network_.graph->arcs[arc].tail, price, arc);
    }
  }
  return best;
}

// The cheapest parent over one link, without a switch.
Offer Parents::beside(int v, Amount trees, int deepest) const {
  Offer best;
  for (const int arc : network_.in_from_targets[network_.node[v]]) {
    const int u = network_.rank[network_.graph->arcs[arc].tail];
    if (u == v || state_.depth(u) > deepest) continue;
    const Amount price = prices_.price(arc, trees);
    if (is_better(price, u, best)) best = {price, u, arc};
  }
  return best;
}

std::vector<Offer> Parents::all_when_empty(int v) {
  std::vector<Offer> parents;
  ways_.start(network_.node[v]);
  while (const auto place = ways_.next(kFar)) {
    const auto [cost, x] = *place;
    const int u = network_.rank[x];
    if (u >= 0 && u != v) {
      parents.push_back({cost, u, ways_.onward(x)});
      continue;
    }
    for (const int arc : network_.in[x]) {
      ways_.offer(network_.graph->arcs[arc].tail, cost + prices_.worth(arc), arc);
    }
  }
  return parents;
}

}  // namespace forestcoll
