// Starts: they fill an empty partial packing with complete trees for the demand, of any load.
#pragma once

#include <span>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"

namespace forestcoll {

// Puts every node at its distance from the root. False if a node is out of reach of a root.
bool start_on_shortest_paths(PartialPacking& packing, std::span<const Amount> trees,
                             Progress& progress);

// Prim's algorithm over congestion, root by root. False if a node is out of reach of a root.
bool start_with_prim(PartialPacking& packing, std::span<const Amount> trees, Progress& progress);

}  // namespace forestcoll
