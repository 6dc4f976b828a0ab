// Negotiation: repairs, and regrowth of the trees that repairs cannot place.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Whether too many tree edges must move for repairs: more than a sixteenth. The limit is a half as
// long as no tree has been split, and a 64th once trees may not be split further.
bool is_far_off(const PartialPacking& packing);

// Repairs the packing with trees no deeper than the limit. Then it regrows trees on overloaded arcs
// and repairs again, for at most `rounds` rounds. It stops earlier if the trees are far too shallow
// to be repaired or the packing is overspent. Returns whether no arc is overloaded any more. Every
// tree stays a spanning tree.
//
// Which trees give way depends on the order of regrowth, and that on `turn`: another turn gives
// another outcome.
bool negotiate(PartialPacking& packing, int max_depth, int rounds, Progress& progress,
               int turn = 0);

}  // namespace forestcoll
