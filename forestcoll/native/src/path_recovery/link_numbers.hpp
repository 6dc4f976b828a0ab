// Numbers of links by their ends.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Numbers the links in the order of their first use. Open addressing, since there is a look-up for
// each logical link, and these may be millions.
class LinkNumbers {
 public:
  explicit LinkNumbers(std::size_t most_links)
      : cells_(std::bit_ceil(2 * most_links + 2), -1),
        mask_(cells_.size() - 1),
        shift_(std::countl_zero(mask_)) {
    ends_.reserve(most_links);
  }

  // The number of a link, a new one if it is not known.
  int add(NodeId tail, NodeId head) {
    int& number = cells_[place(ends(tail, head))];
    if (number < 0) {
      number = ends_.count();
      ends_.push_back(ends(tail, head));
    }
    return number;
  }
  // The number of a link, or -1.
  int find(NodeId tail, NodeId head) const { return cells_[place(ends(tail, head))]; }

 private:
  std::size_t place(std::uint64_t wanted) const {
    // The top bits of a product: only these depend on all bits of both ends.
    std::size_t at = (wanted * 0x9e3779b97f4a7c15U) >> shift_;
    while (cells_[at] >= 0 && ends_[cells_[at]] != wanted) at = (at + 1) & mask_;
    return at;
  }

  std::vector<int> cells_;  // a link's number; -1 where there is none
  std::size_t mask_;
  int shift_;
  IndexedVector<std::uint64_t> ends_;  // by number
};

}  // namespace forestcoll
