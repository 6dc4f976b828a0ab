// Logical links back to physical paths (ForestColl E.2, E.3).
#pragma once

#include <vector>

#include "forestcoll/switch_removal.hpp"
#include "forestcoll/types.hpp"

namespace forestcoll {

// The paths that carry `capacity` trees of one logical link.
struct PhysicalPath {
  std::vector<NodeId> nodes;  // both ends included
  Amount multiplicity;
};

struct Route {
  Arc link;  // its capacity is the number of trees it carries
  std::vector<PhysicalPath> paths;
};

// Finds physical paths for the load of each logical link, by replaying the splits: each unit of a
// split joins one unit of what the in-link stood for to one unit of what the out-link stood for.
// Shortest paths are used first, and a path that passes a switch twice is cut short.
//
// Throws InvalidInput if a load exceeds its logical link.
std::vector<Route> route(const Graph& physical, const std::vector<Split>& splits,
                         const std::vector<Arc>& loads);

}  // namespace forestcoll
