// Grows a whole tree within the depth: first in the root's box, then box by box. A box is filled
// over near hops as far as they lead; each rest is entered over one dear hop after the other.
#pragma once

#include <utility>
#include <vector>

#include "forestcoll/bounded_depth/near_hops.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/spread.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

class Growth {
 public:
  Growth(TreeState& state, const Prices& prices, Parents& parents, const NearHops& near,
         int tree_depth);

  // Grows a tree that was stripped. Returns its cost, or kFar if some node is left out.
  Amount grow(int batch);
  // Grows a tree anew, and keeps the new one if it is cheaper.
  void regrow(int batch);

 private:
  using Edges = std::vector<std::pair<int, int>>;  // parent and path, by rank
  struct Entry {
    Amount cost = kFar;  // with the near hops behind it
    int serves = 1;      // nodes
    int node = -1;
    int deepest = 0;  // depth limit of its parent
  };

  Amount fill(int batch, const Box& box);
  Amount enter(int batch, const Box& box);
  Entry best_entry(int batch, const Box& box);
  Entry best_entry_at(int batch, int v, Entry best);
  std::pair<int, Amount> coverage(int batch, int v, int hops);
  int left_out(const Box& box) const;
  Edges edges(int batch) const;
  Amount attach(int batch, const Edges& edges);

  TreeState& state_;
  const Prices& prices_;
  Parents& parents_;
  const NearHops& near_;
  int max_depth_;
  Spread spread_;
  IndexedVector<int> mark_;  // nodes marked while the coverage of an entry is computed
  int marked_ = 0;
};

}  // namespace forestcoll
