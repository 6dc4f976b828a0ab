// Decomposition: nested tight sets, found from the smallest up. Trimming makes sets tight where
// none are.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

struct Decomposition {
  Family family;
  std::vector<Amount> capacity;  // of each arc, trimmed; the family is tight under it
};

// Finds the smallest sets first, contracts them, and searches the contracted graph. Where the
// search finds nothing new, it trims. The same then happens inside every set found.
//
// Throws Infeasible if the graph cannot carry the demand.
Decomposition decompose(const Graph& graph, const Demand& demand, Progress progress = {},
                        int threads = 1);

// The same without trimming.
Family find_tight_sets(const Graph& graph, const Demand& demand, Progress progress = {});

}  // namespace forestcoll
