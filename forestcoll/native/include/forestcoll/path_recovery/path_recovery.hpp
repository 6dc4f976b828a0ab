// Path recovery: from logical links back to physical paths (ForestColl E.2, E.3).
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"

namespace forestcoll {

// The paths of some logical links, in compressed rows: those of link i are first_path[i] to
// first_path[i + 1]. Path j carries multiplicity[j] trees over the nodes hop[first_hop[j]] to
// hop[first_hop[j + 1] - 1], both ends included.
struct Routes {
  std::vector<std::int64_t> first_path{0};
  std::vector<Amount> multiplicity;
  std::vector<std::int64_t> first_hop{0};
  std::vector<NodeId> hop;
};

// Finds physical paths for the load of each logical link, by replaying the splits. Each unit of a
// split joins one unit of the in-link's walks to one unit of the out-link's. Shortest paths are
// used first, and a path that passes a switch twice is cut short.
//
// Throws InvalidInput if a load exceeds its logical link.
Routes recover_paths(const Graph& physical, const std::vector<Split>& splits,
                     const std::vector<Arc>& loads);

}  // namespace forestcoll
