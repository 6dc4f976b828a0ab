// Path recovery where every split joins two physical links.
#pragma once

#include <optional>
#include <vector>

#include "forestcoll/path_recovery/path_recovery.hpp"

namespace forestcoll {

// Finds what replay_splits finds, without a replay: a logical link is made of a physical one and of
// splits, each a path over one switch. These are sorted by their ends and merged with the loads.
//
// Nothing if some split begins or ends at a switch that is split itself, as between layers of
// switches, so that its links may be made of other splits; or if a load leads back to its tail.
//
// Throws InvalidInput as replay_splits.
std::optional<Routes> recover_direct_paths(const Graph& physical, const SplitView& splits,
                                           const ArcView& loads);

}  // namespace forestcoll
