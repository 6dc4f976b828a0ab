// Flattening: lower trees within the same capacities. A complete packing is a better start for
// negotiation than one that overloads many arcs.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

// Grows trees that are too tall anew, and repairs the overloads that result. The depth aimed at is
// halved towards the least depth; the search stops where that fails or costs too much. Never
// returns taller trees. Equal trees are merged, but there may be more distinct ones than before.
// With `thorough` it may take a second or so.
std::vector<Batch> lower(const Graph& graph, std::vector<Batch> batches, Progress& progress,
                         bool thorough = false);

}  // namespace forestcoll
