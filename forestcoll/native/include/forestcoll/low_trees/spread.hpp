// Growth within a box: near hops from what the tree has of it.
#pragma once

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/low_trees/near_hops.hpp"
#include "forestcoll/low_trees/prices.hpp"
#include "forestcoll/low_trees/tree_state.hpp"
#include "forestcoll/low_trees/uplinks.hpp"

namespace forestcoll {

class Spread {
 public:
  Spread(TreeState& state, const Prices& prices, Uplinks& uplinks, const NearHops& near,
         int height);

  // As far as near hops lead within the height; returns what they cost.
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
  int height_;
  IndexedVector<int> most_;          // how deep a node may be at most
  IndexedVector<int> free_, bound_;  // depths that near hops reach, one node's unfixed and fixed
};

}  // namespace forestcoll
