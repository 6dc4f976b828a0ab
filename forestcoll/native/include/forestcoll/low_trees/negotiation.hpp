// Trees on overfull links look for other ways, and links that stay overfull get dearer from round
// to round, until nothing is overfull at the congestion aimed at.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/low_trees/congestion.hpp"
#include "forestcoll/low_trees/growth.hpp"
#include "forestcoll/low_trees/low_trees.hpp"
#include "forestcoll/low_trees/parents.hpp"
#include "forestcoll/low_trees/prices.hpp"
#include "forestcoll/low_trees/tree_state.hpp"

namespace forestcoll {

// Invariant: every tree stays a tree within the height.
class Negotiation {
 public:
  Negotiation(TreeState& state, Prices& prices, Parents& parents, Growth& growth,
              const HeightLimit& limit, Progress& progress)
      : state_(state),
        prices_(prices),
        parents_(parents),
        growth_(growth),
        limit_(limit),
        progress_(progress) {}

  // Whether nothing stays overfull at a congestion; if something does the trees are any.
  bool attempt(const Congestion& congestion);
  // Whether as many links were looked at as may be.
  bool is_spent() const { return parents_.looks() > limit_.looks; }

 private:
  void round(bool whole);
  bool relieve(int batch, bool whole);
  bool reattach(int batch, int v);

  TreeState& state_;
  Prices& prices_;
  Parents& parents_;
  Growth& growth_;
  const HeightLimit& limit_;
  Progress& progress_;
};

}  // namespace forestcoll
