// The cheapest link into each switch from targets of the current tree, by the depth that they may
// have. Cached, because many nodes behind a switch need the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/bounded_depth/prices.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// A parent, the cost of the path from it, and the first arc of that path.
struct Offer {
  Amount price = kFar;
  int parent = -1;
  int arc = -1;
};

// Invariant: the cache is current except for changes not reported by `forget`.
class Uplinks {
 public:
  Uplinks(const LowNetwork& network, const TreeState& state, const Prices& prices, int tree_depth);

  // The cheapest link into a switch from a target of at most this depth; of equal ones the nearest
  // to the root, then the first. Without a parent if there is none.
  const Offer& cheapest(NodeId into, int deepest, Amount trees) {
    Known& known = known_[into];
    if (known.version != version_) {
      known.version = version_;
      look(into, trees, known.best);
    }
    return known.best[static_cast<std::size_t>(deepest)];
  }

  // Reports a change of any prices and depths.
  void forget() { ++version_; }
  // Reports a change of the loads on a path's links.
  void forget(int path);

  // While a tree grows, only its inner nodes can be parents.
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
  std::vector<int> inner_;  // inner nodes of a growing tree, which may be parents
  std::int64_t looks_ = 0;
};

}  // namespace forestcoll
