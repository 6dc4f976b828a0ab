// Trees of the whole graph from trees of its tight sets: factored.hpp packs the sets, expansion.hpp
// puts their trees together.
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
