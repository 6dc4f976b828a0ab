// Flattening: shallower trees within the same capacities. A complete packing is a better start for
// negotiation than one that overloads many arcs.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

// Grows trees that are too deep anew, and repairs the overloads that result. The depth aimed at is
// halved towards the least depth; the search stops where that fails or costs too much. Never
// returns deeper trees. Equal trees are merged, but there may be more distinct ones than before.
// With `thorough` it may take a second or so.
std::vector<Batch> flatten(const Graph& graph, std::vector<Batch> batches, Progress& progress,
                           bool thorough = false);

}  // namespace forestcoll
