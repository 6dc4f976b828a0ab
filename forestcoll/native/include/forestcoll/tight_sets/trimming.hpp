// Trimming: capacity that no tree needs is taken away, so that slack sets become tight.
//
// A single dead link lowers the optimum and leaves every other box with more ingress than it needs;
// nothing would be tight. A set X with h(X) > 0 becomes tight when h(X) is taken off the links
// that enter it. Links are lowered in both directions alike, so that no switch loses more on its
// way in than on its way out. Whether (C) still holds is tested by flows, and sets that break it
// get their links back; so whatever is chosen here, the result carries the demand.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

// Lowers capacities of the problem until some sets of two or more items, disjoint and without the
// outside, are tight, and returns those; none if nothing could be made tight. Links of the outside
// and of items that are tight by themselves stay as they are.
//
// Precondition: the problem carries its demand. Afterwards it does, too, and no switch sends more
// than it receives if that was so before.
std::vector<std::vector<NodeId>> trim(Subproblem& problem, Progress& progress);

}  // namespace forestcoll
