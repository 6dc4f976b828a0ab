// Grows one tree of a partial packing by Prim's algorithm over the congestion of the other trees.
// The next arc is the one that the tree fills least, in coarse steps, and among those the one
// nearest to the root.
#pragma once

#include <queue>
#include <utility>
#include <vector>

#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

class Prim {
 public:
  explicit Prim(PartialPacking& packing);

  // Gives a batch a new tree, no deeper than the limit if such a tree exists; false if some node is
  // out of reach.
  bool grow(int batch, int max_depth);
  // Makes an arc dearer from now on.
  void add_surcharge(int arc) { ++surcharge_[arc]; }

 private:
  struct Offer {
    std::pair<Amount, Amount> rank;  // price, then depth; or the other way round
    int depth;                       // of the new node
    int arc;
    auto operator<=>(const Offer&) const = default;
  };

  bool span(int batch, int max_depth, bool breadth_first);
  void enter(int batch, NodeId node, bool breadth_first);
  Amount price(int arc, Amount trees) const;

  PartialPacking& packing_;
  NodeMap<std::vector<int>> out_;  // arcs that can carry a tree
  IndexedVector<Amount> surcharge_;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers_;
  NodeMap<std::uint8_t> reached_;
  NodeMap<std::pair<Amount, Amount>> best_;  // rank of the offers for each node
};

}  // namespace forestcoll
