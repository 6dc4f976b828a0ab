// The cheapest parent of a node over switches, in the tree that was measured or is being grown.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/bounded_depth/paths.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/bounded_depth/uplinks.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

class Parents {
 public:
  Parents(const LowNetwork& network, TreeState& state, const Prices& prices, int tree_depth);

  // The cheapest allowed parent; of equal ones the nearest to the root, then the first. Without a
  // parent if none is allowed.
  template <typename Allowed>
  Offer cheapest(int v, Amount trees, Allowed allowed);
  // The same for a parent of at most this depth, even one below v. Prices of links into switches
  // are those before v's edge was removed.
  Offer cheapest_within(int v, Amount trees, int deepest);
  // All parents that an edge over empty links can start from.
  std::vector<Offer> all_when_empty(int v);

  // For the last search: the number of an offer's path, and the attachment of the node to it.
  int path_of(const Offer& offer) { return state_.pool().number(ways_.arcs_from(offer.arc)); }
  void attach(int batch, int v, const Offer& offer) {
    state_.attach(batch, v, offer.parent, path_of(offer));
  }

  Uplinks& uplinks() { return uplinks_; }
  // Links examined by all searches so far.
  std::int64_t looks() const { return looks_ + uplinks_.looks(); }

 private:
  bool is_better(Amount price, int parent, const Offer& than) const {
    if (price != than.price) return price < than.price;
    return std::pair(state_.depth(parent), parent) <
           std::pair(state_.depth(than.parent), than.parent);
  }
  Offer beside(int v, Amount trees, int deepest) const;

  const LowNetwork& network_;
  TreeState& state_;
  const Prices& prices_;
  Uplinks uplinks_;
  Ways ways_;
  std::int64_t looks_ = 0;
};

template <typename Allowed>
Offer Parents::cheapest(int v, Amount trees, Allowed allowed) {
  Offer best;
  ways_.start(network_.node[v]);
  while (const auto place = ways_.next(best.price)) {
    looks_ += static_cast<std::int64_t>(network_.in[place->node].size());
    for (const int arc : network_.in[place->node]) {
      const NodeId y = network_.graph->arcs[arc].tail;
      const int u = network_.rank[y];
      if (u == v) continue;
      const Amount price = place->cost + prices_.price(arc, trees);
      if (price > best.price) continue;
      if (u < 0) {
        ways_.offer(y, price, arc);
      } else if (is_better(price, u, best) && allowed(u)) {
        best = {price, u, arc};
      }
    }
  }
  return best;
}

}  // namespace forestcoll
