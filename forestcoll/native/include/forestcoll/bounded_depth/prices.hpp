// Prices of links for trees: higher for narrower links, for fuller links, and for links that have
// long been overfull.
#pragma once

#include <algorithm>
#include <limits>

#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Above all prices.
constexpr Amount kFar = std::numeric_limits<Amount>::max();

// Invariant: prices are those of the current trees; no load is cached.
class Prices {
 public:
  Prices(const LowNetwork& network, const TreeState& state);

  // Sets the loads that a congestion allows, and forgets all surcharges.
  void aim_at(const Congestion& congestion);
  // Raises the surcharge of overfull links.
  void raise();

  // The price of an empty link.
  Amount worth(int arc) const { return worth_[arc]; }
  // Exponential in the fill of the link, with a surcharge where it is overfull. In whole numbers,
  // with the exponent capped at 12.
  Amount price(int arc, Amount trees) const {
    const Amount load = state_.load(arc), room = std::max<Amount>(room_[arc], 1);
    const Amount full = load > 2 * room ? 12 : std::min<Amount>(12, 8 * load / room);
    const Amount over = overfull(arc, trees);
    return worth_[arc] *
           (trees * (1 + ((Amount{1} << full) >> 4)) + dear_[arc] * (over - overfull(arc, 0)));
  }
  Amount price_of(int path, Amount trees) const {
    const PathPool& pool = state_.pool();
    Amount sum = 0;
    for (auto arc = pool.begin(path), end = pool.end(path); arc != end; ++arc) {
      sum += price(*arc, trees);
    }
    return sum;
  }

  bool is_overfull(int path) const {
    const PathPool& pool = state_.pool();
    return std::any_of(pool.begin(path), pool.end(path),
                       [&](int arc) { return overfull(arc, 0) > 0; });
  }
  // Trees above the limits, over all links.
  Amount all_overfull() const;

 private:
  Amount overfull(int arc, Amount more) const {
    return std::max<Amount>(state_.load(arc) + more - room_[arc], 0);
  }
  void value_links();

  const LowNetwork& network_;
  const TreeState& state_;
  IndexedVector<Amount> worth_;  // by capacity
  IndexedVector<Amount> room_;   // trees that a link may carry at the target congestion
  IndexedVector<Amount> dear_;   // surcharge for each tree above that
};

}  // namespace forestcoll
