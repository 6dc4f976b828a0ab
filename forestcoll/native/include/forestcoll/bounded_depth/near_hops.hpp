// Near hops: those that cost at most half of the dearest hop over empty links. They join GPUs to
// boxes.
#pragma once

#include <vector>

#include "forestcoll/bounded_depth/parents.hpp"
#include "forestcoll/bounded_depth/tree_state.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

using Box = std::vector<int>;  // ranks, ascending

class NearHops {
 public:
  struct Hop {
    int rank;  // of the other end
    int path;
  };

  NearHops(const TreeState& state, Parents& parents);

  const std::vector<Hop>& into(int v) const { return in_[v]; }
  const std::vector<Hop>& from(int v) const { return out_[v]; }
  const IndexedVector<Box>& boxes() const { return boxes_; }
  int box_of(int v) const { return box_of_[v]; }

 private:
  void find_hops(Parents& parents);
  void find_boxes();

  IndexedVector<std::vector<Hop>> in_, out_;
  IndexedVector<Box> boxes_;
  IndexedVector<int> box_of_;
};

}  // namespace forestcoll
