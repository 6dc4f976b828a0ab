// Repairs, and regrowth of the trees that they cannot fit in.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Whether more than a sixteenth of the tree edges must go elsewhere, which is too much for repairs:
// half of them as long as trees have not been split yet, a 64th once they may not be split further.
bool is_far_off(const PartialPacking& packing);

// Repairs the packing with trees no deeper than the limit where possible, then regrows trees on
// overloaded arcs and repairs again, so many rounds at most, fewer if the trees are far too low to
// be repaired or the packing is overspent; true if no arc is overloaded any more. Every tree stays
// a spanning tree. Who gives way to whom depends on the order in which trees are regrown, and that
// on the turn: for another one another order, and another outcome.
bool negotiate(PartialPacking& packing, int max_depth, int rounds, Progress& progress,
               int turn = 0);

}  // namespace forestcoll
