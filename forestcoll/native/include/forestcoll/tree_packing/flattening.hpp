// Lower trees for the same capacities: a packing that is complete is a better start for negotiation
// than one that overloads many arcs.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

// Grows trees that are taller than need be anew, within tree_depths that are halved towards the least
// that there is, and repairs what then is overloaded; stops where that fails, or costs too much.
// Never returns taller trees. Equal trees are merged; there may be more distinct ones than before.
// Whoever is thorough lets it take a second or so.
std::vector<Batch> lower(const Graph& graph, std::vector<Batch> batches, Progress& progress,
                         bool thorough = false);

}  // namespace forestcoll
