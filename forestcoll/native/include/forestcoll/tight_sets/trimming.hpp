// Trimming: takes away capacity that no tree needs, so that slack sets become tight.
//
// A single dead link lowers the optimum and leaves every other box with more ingress than it needs;
// nothing would be tight. A set X with h(X) > 0 becomes tight when h(X) is taken off the links that
// enter it. Links lose capacity in both directions alike, so that no switch loses more on its way
// in than on its way out. Flows test whether (C) still holds, and sets that break it get their
// links back. So the result carries the demand for any choice of sets and links.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

// Trims the problem until some sets of two or more items are tight, and returns those. They are
// disjoint and without the outside. Returns none if nothing could be made tight. Links of the
// outside and of items that are tight by themselves stay as they are.
//
// Precondition: the problem carries its demand. Afterwards it still does. If no switch sent more
// than it received, that still holds.
std::vector<std::vector<NodeId>> trim(Subproblem& problem, Progress& progress);

}  // namespace forestcoll
