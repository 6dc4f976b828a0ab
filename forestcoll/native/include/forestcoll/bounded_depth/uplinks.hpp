// The cheapest link into each switch from targets of the tree at hand, by how deep these may be:
// many nodes behind a switch ask for the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"

namespace forestcoll {

// A parent, what the way from it costs, and the first arc of that way.
struct Offer {
  Amount price = kFar;
  int parent = -1;
  int arc = -1;
};

// Invariant: what is remembered is current but for changes that `forget` was not told of.
class Uplinks {
 public:
  Uplinks(const LowNetwork& network, const TreeState& state, const Prices& prices, int tree_depth);

  // Into a switch from a target at most so deep, of equal ones the nearest to the root, then the
  // first; without a parent if there is none.
  const Offer& cheapest(NodeId into, int deepest, Amount trees) {
    Known& known = known_[into];
    if (known.version != version_) {
      known.version = version_;
      look(into, trees, known.best);
    }
    return known.best[static_cast<std::size_t>(deepest)];
  }

  // After a change of any prices and depths.
  void forget() { ++version_; }
  // After a change of what a path's links carry.
  void forget(int path);

  // While a tree is grown only its inner nodes need be looked at.
  void begin_growth(int root);
  void join(int v, int path);  // the tree, over a path
  void end_growth() { inner_.clear(); }

  std::int64_t looks() const { return looks_; }

 private:
  struct Known {
    std::int64_t version = -1;
    std::vector<Offer> best;  // by depth
  };
  void look(NodeId into, Amount trees, std::vector<Offer>& best);
  void consider(int arc, Amount trees, std::vector<Offer>& best) const;

  const LowNetwork& network_;
  const TreeState& state_;
  const Prices& prices_;
  int max_depth_;
  NodeMap<Known> known_;
  std::int64_t version_ = 0;
  std::vector<int> inner_;  // of a tree that is grown: its nodes that may be parents
  std::int64_t looks_ = 0;
};

}  // namespace forestcoll
