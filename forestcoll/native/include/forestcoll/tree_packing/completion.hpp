// Completes a partial packing with overloaded arcs: keeps most of its trees and packs the rest tree
// by tree.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Drops trees until the dropped demand fits into the capacities that the others leave, and packs it
// there tree by tree. The trees so far must be spanning and the demand feasible.
std::vector<Batch> complete(PartialPacking& packing, Progress& progress);

}  // namespace forestcoll
