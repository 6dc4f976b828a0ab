// Growth within a box: near hops from what the tree has of it.
#pragma once

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/bounded_depth/near_hops.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/bounded_depth/uplinks.hpp"

namespace forestcoll {

class Spread {
 public:
  Spread(TreeState& state, const Prices& prices, Uplinks& uplinks, const NearHops& near,
         int tree_depth);

  // As far as near hops lead within the tree_depth; returns what they cost.
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
  IndexedVector<int> most_;          // how deep a node may be at most
  IndexedVector<int> free_, bound_;  // depths that near hops reach, one node's unfixed and fixed
};

}  // namespace forestcoll
