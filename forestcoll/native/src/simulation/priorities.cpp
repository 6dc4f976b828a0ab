#include "forestcoll/simulation/priorities.hpp"

#include <algorithm>

namespace forestcoll {

IndexedVector<std::int32_t> remaining_transfers(const Transfers& transfers) {
  IndexedVector<std::int32_t> remaining(transfers.count(), 1);
  for (int i = transfers.count() - 1; i >= 0; --i) {  // those that need it have larger numbers
    for (const auto need : transfers.needs[i]) {
      remaining[need] = std::max(remaining[need], remaining[i] + 1);
    }
  }
  return remaining;
}

}  // namespace forestcoll
