// Path recovery: from logical links back to physical paths (ForestColl E.2, E.3).
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/errors.hpp"
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

  // Makes room for so many links.
  void reserve(std::size_t links);
};

// Hops that are followed in a second or two.
constexpr std::int64_t kMostHops = std::int64_t{1} << 27;

// Finds physical paths for the load of each logical link: by direct_paths.hpp if every split joins
// two physical links, else by a replay of the splits.
//
// Throws InvalidInput if a load exceeds its logical link.
Routes recover_paths(const Graph& physical, const SplitView& splits, const ArcView& loads,
                     std::int64_t most_hops = kMostHops);

// Finds the paths of any loads by replaying the splits. Each unit of a
// split joins one unit of the in-link's walks to one unit of the out-link's. Shortest paths are
// used first, and a path that passes a switch twice is cut short.
//
// Walks are cut last, after the shortest were chosen. But a walk may double in length at each
// switch that is removed. If those in use have more than `most_hops` hops in all, loops are cut out
// as soon as they arise, and no walk has more hops than nodes.
//
// Throws InvalidInput if a load exceeds its logical link.
Routes replay_splits(const Graph& physical, const SplitView& splits, const ArcView& loads,
                     std::int64_t most_hops = kMostHops);

// The error of a load that exceeds its logical link.
InvalidInput load_exceeds(const Arc& load);

}  // namespace forestcoll
