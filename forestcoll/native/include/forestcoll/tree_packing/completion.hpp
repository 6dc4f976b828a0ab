// A packing from a draft with overloaded arcs: most of its trees stay, the rest is packed tree by
// tree.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Drops trees until what was dropped fits into the capacities that the others leave, and packs it
// there tree by tree. The draft's trees must be spanning and its demand feasible.
std::vector<Batch> complete(Draft& draft, Progress& progress);

}  // namespace forestcoll
