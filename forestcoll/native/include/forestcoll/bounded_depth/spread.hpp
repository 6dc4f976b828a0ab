// Growth within a box: near hops from the tree's nodes in it.
#pragma once

#include "forestcoll/bounded_depth/near_hops.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/bounded_depth/uplinks.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

class Spread {
 public:
  Spread(TreeState& state, const Prices& prices, Uplinks& uplinks, const NearHops& near,
         int tree_depth);

  // Spreads as far as near hops lead within the depth; returns their cost.
  Amount over(const Box& box, int batch);

 private:
  struct Step {
    Amount price = kFar;
    int node = -1, parent = -1, path = -1;
  };

  Amount by_depth(const Box& box, int batch);
  Step cheapest_at(int v, int depth, Amount trees) const;
  Amount by_price(const Box& box, int batch);
  Step cheapest(const Box& box, Amount trees) const;
  void hang(int batch, const Step& step);
  bool leaves_reachable(const Box& box, int v, int depth);
  void reach(const Box& box, int fixed, int depth, IndexedVector<int>& found) const;

  TreeState& state_;
  const Prices& prices_;
  Uplinks& uplinks_;
  const NearHops& near_;
  int max_depth_;
  IndexedVector<int> most_;  // greatest depth that a node may have
  IndexedVector<int> free_,
      bound_;  // depths that near hops reach: without a fixed node, and with one
};

}  // namespace forestcoll
