// Negotiation: trees on overfull links look for other paths. Links that stay overfull get dearer
// from round to round, until no link is overfull at the target congestion.
#pragma once

#include "forestcoll/bounded_depth/bounded_depth.hpp"
#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/bounded_depth/growth.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/progress.hpp"

namespace forestcoll {

// Invariant: every tree stays a tree within the depth.
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

  // Whether no link stays overfull at a congestion; if one does, the trees are arbitrary.
  bool attempt(const Congestion& congestion);
  // Whether the limit on examined links is reached.
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
