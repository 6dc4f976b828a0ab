// What links ask for trees: more the narrower they are, the fuller, and the longer they have been
// carrying more than they should.
#pragma once

#include <algorithm>
#include <limits>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"

namespace forestcoll {

// Beyond all prices.
constexpr Amount kFar = std::numeric_limits<Amount>::max();

// Invariant: prices are those of the trees as they are now; nothing is remembered of loads.
class Prices {
 public:
  Prices(const LowNetwork& network, const TreeState& state);

  // From now on links are to carry what a congestion allows; none is dear yet.
  void aim_at(const Congestion& congestion);
  // Links that are overfull get dearer.
  void raise();

  // Of an empty link.
  Amount worth(int arc) const { return worth_[arc]; }
  // Exponential in how full the link is, and more where it is overfull.
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
  // Trees too many, over all links.
  Amount all_overfull() const;

 private:
  Amount overfull(int arc, Amount more) const {
    return std::max<Amount>(state_.load(arc) + more - room_[arc], 0);
  }
  void value_links();

  const LowNetwork& network_;
  const TreeState& state_;
  IndexedVector<Amount> worth_;  // by capacity
  IndexedVector<Amount> room_;   // what a link carries at the congestion aimed at
  IndexedVector<Amount> dear_;   // for each tree too many
};

}  // namespace forestcoll
