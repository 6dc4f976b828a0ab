// Where a network falls apart: nested tight sets, found bottom up and made tight where they are
// not.
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

// Smallest sets first: they are contracted, and the search goes on in the contracted graph; where
// it finds nothing new, it trims. The same then happens inside every set found.
//
// Throws Infeasible if the graph cannot carry the demand.
Decomposition decompose(const Graph& graph, const Demand& demand, Progress progress = {},
                        int threads = 1);

// The same without trimming.
Family find_tight_sets(const Graph& graph, const Demand& demand, Progress progress = {});

}  // namespace forestcoll
