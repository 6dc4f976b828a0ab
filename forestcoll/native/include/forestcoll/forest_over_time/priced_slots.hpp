// Spanning trees of low price whose hops each have a time slot (docs/mathematics/
// forests-over-time.md).
//
// A GPU sends on what it got `gap` slots later or later. A tree is grown by the cheapest path to
// another GPU, as for Steiner trees. It is improved as in facility location: a GPU moves together
// with all that then save behind it, or gives all behind it away, so that its hop may come late.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

constexpr double kNoHop = std::numeric_limits<double>::infinity();

// The price of the hop from a GPU to another in a slot; kNoHop where there is none.
class SlotPrices {
 public:
  // `prices` are by slot, sender and receiver.
  SlotPrices(int slots, int size, std::span<const double> prices);

  int slots() const { return slots_; }
  int size() const { return size_; }
  double operator()(int slot, int sender, int receiver) const {
    return of_hop(sender, receiver)[slot];
  }
  // Of all slots of a hop, in order.
  const double* of_hop(int sender, int receiver) const {
    return price_.data() + (receiver * size_ + sender) * slots_;
  }
  // GPUs with a hop to a receiver in some slot, ascending; and those with one from a sender.
  const std::vector<int>& senders(int receiver) const { return senders_[receiver]; }
  const std::vector<int>& receivers(int sender) const { return receivers_[sender]; }

 private:
  int slots_, size_;
  std::vector<double> price_;  // by receiver, sender and slot: one hop's slots lie side by side
  IndexedVector<std::vector<int>> senders_, receivers_;
};

// Invariant: the hop to a GPU is in its slot, `gap` or more slots after that to its parent. Parent
// and slot of the root are -1.
struct SlottedTree {
  double price = 0;
  IndexedVector<int> parent, slot;
};

// A tree grown from a root, by one cheapest path after the other; none if the slots do not suffice.
std::optional<SlottedTree> grown_tree(const SlotPrices& prices, int root, int gap);

// The slots of least price for given parents, exactly; none if there are too few slots.
std::optional<SlottedTree> best_slots(const SlotPrices& prices, const IndexedVector<int>& parent,
                                      int gap);

// A tree that sweeps over its GPUs improve; after each, all hops get their best slots. None if the
// parents need more slots.
std::optional<SlottedTree> cheaper_slots(const SlotPrices& prices, const IndexedVector<int>& parent,
                                         int gap);

}  // namespace forestcoll
