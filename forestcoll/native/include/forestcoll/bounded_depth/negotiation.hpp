// Trees on overfull links look for other ways, and links that stay overfull get dearer from round
// to round, until nothing is overfull at the congestion aimed at.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/bounded_depth/growth.hpp"
#include "forestcoll/bounded_depth/bounded_depth.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"

namespace forestcoll {

// Invariant: every tree stays a tree within the tree_depth.
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
