// Grows a whole tree within the tree_depth: within the root's box, then box by box, over near hops as
// far as these lead, and over one dear hop after the other into what is left.
#pragma once

#include <utility>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/bounded_depth/near_hops.hpp"
#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/spread.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"

namespace forestcoll {

class Growth {
 public:
  Growth(TreeState& state, const Prices& prices, Parents& parents, const NearHops& near,
         int tree_depth);

  // Grows a tree that was taken apart. Returns what it cost, or kFar if some node is left out.
  Amount grow(int batch);
  // Grows one anew, and keeps it if it is cheaper.
  void regrow(int batch);

 private:
  using Edges = std::vector<std::pair<int, int>>;  // parent and path, by rank
  struct Entry {
    Amount cost = kFar;  // with the near hops behind it
    int serves = 1;      // nodes
    int node = -1;
    int deepest = 0;  // that its parent may be
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
  IndexedVector<int> mark_;  // nodes that a look at what an entry covers has seen
  int marked_ = 0;
};

}  // namespace forestcoll
