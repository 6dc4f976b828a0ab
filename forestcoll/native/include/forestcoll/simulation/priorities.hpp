// Priorities of transfers by their critical paths.
//
// What remains behind a transfer is the longest chain of transfers that need one another, the
// transfer included. Transfers with more behind them go first, so reductions start late those that
// their root adds last: the order of a reversed allgather, whose transfers start when they can.
//
// Pipeline chunks go in their order, and so does what waits for them. In lockstep chunk p with r
// transfers behind it is in round p - r, up to a constant. Here a chunk counts one and a half times
// as much as a transfer. The ratio is measured: with it no reduce-scatter of our machines, tori and
// hypercubes takes longer than its allgather (docs/simulation.md); with 1 and 2 some do.
#pragma once

#include <cstdint>

#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

// The number of transfers in the longest chain from each transfer on.
IndexedVector<std::int32_t> remaining_transfers(const Transfers& transfers);

// The rank of a pipeline chunk among those that share a link; the largest goes first.
inline std::int32_t rank(std::int32_t remaining, std::int32_t pipeline_chunk) {
  return 2 * remaining - 3 * pipeline_chunk;
}

}  // namespace forestcoll
