// Trees of the whole graph from trees of its tight sets.
//
// In a tight set X the trees rooted at a child c number q(c) plus what enters c from outside X:
// each tree that starts in c or comes in at c spans the children of X once. A tree of the whole
// graph is put together from the root's innermost set outwards and, along each contracted edge,
// into the child behind it. Tight sets consume exactly what enters them, so the numbers match.
#pragma once

#include <span>
#include <vector>

#include "forestcoll/packing.hpp"
#include "forestcoll/progress.hpp"
#include "forestcoll/tight_sets.hpp"
#include "forestcoll/types.hpp"

namespace forestcoll {

// Packs trees[v] spanning out-trees rooted at every node v, set by set. Batches come sorted by
// root.
//
// Throws Infeasible if the graph cannot carry the trees or a set of the family is not tight.
std::vector<Batch> pack_forest(const Graph& graph, std::span<const Amount> trees,
                               const Family& family, Progress progress = {});

}  // namespace forestcoll
