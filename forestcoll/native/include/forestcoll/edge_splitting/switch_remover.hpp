// Edge splitting of whole switches at once, in one set with its children contracted.
//
// All splits of a switch form a matrix with its in-ports as rows and its out-ports as columns. The
// matrix is guessed, tested by one pass of flows to every target, and repaired where a cut falls
// short. Only if the repairs do not end is it built pair by pair from exact largest splits.
#pragma once

#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

// The splits of one set, between its items, in the order in which they were made.
struct ItemSplits {
  std::vector<Split> splits;
  int exact_switches = 0;  // switches whose matrix had to be built pair by pair
};

// Removes the nodes that are neither targets nor the outside. Unequal ports share in batches of so
// many trees where possible.
//
// Throws Infeasible if the graph cannot carry the demand, or a removed node sends more than it
// receives.
ItemSplits remove_switches(const Subproblem& problem, Amount batch, const RemovalOptions& options,
                           Progress& progress);

}  // namespace forestcoll
