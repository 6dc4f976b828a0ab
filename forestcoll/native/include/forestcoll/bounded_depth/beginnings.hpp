// First trees of a search, within the depth: grown, or given ones that are cut.
#pragma once

#include "forestcoll/bounded_depth/growth.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

class Beginnings {
 public:
  Beginnings(const LowNetwork& network, TreeState& state, Parents& parents, Growth& growth,
             int tree_depth)
      : network_(network),
        state_(state),
        parents_(parents),
        growth_(growth),
        max_depth_(tree_depth) {}

  // Gives a batch its first tree: the given parents by rank, or a grown tree if there are none.
  //
  // Throws Infeasible if some target is farther than the depth limit from its root.
  void begin(int batch, const int* parent);

 private:
  void measure_hops(int batch);
  void take_shortest_ways(int batch);
  void connect(int batch, const int* parent);
  void cut(int batch);
  int least_too_deep() const;
  void follow_shortest_way(int batch, int v);

  const LowNetwork& network_;
  TreeState& state_;
  Parents& parents_;
  Growth& growth_;
  int max_depth_;
  IndexedVector<int> hops_, before_;  // shortest paths from the root of the current batch
};

}  // namespace forestcoll
