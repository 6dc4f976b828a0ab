// Trees for each unit of capacity, as an exact fraction.
#pragma once

#include "forestcoll/common/types.hpp"

namespace forestcoll {

__extension__ using Wide = __int128;

struct Congestion {
  Amount trees;
  Amount capacity;

  Amount carried_by(Amount link) const {
    return static_cast<Amount>(static_cast<Wide>(trees) * link / capacity);
  }
  bool operator<(const Congestion& other) const {
    return static_cast<Wide>(trees) * other.capacity < static_cast<Wide>(other.trees) * capacity;
  }
};

}  // namespace forestcoll
