// Path recovery of splits and loads given row by row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/path_recovery/direct_paths.hpp"
#include "forestcoll/path_recovery/path_recovery.hpp"
#include "support/columns.hpp"

namespace forestcoll::testing {

inline SplitColumns columns(const std::vector<Split>& splits) {
  SplitColumns columns;
  columns.resize(splits.size());
  for (std::size_t i = 0; i < splits.size(); ++i) columns.set(i, splits[i]);
  return columns;
}

inline std::optional<Routes> direct_routes(const Graph& physical, const std::vector<Split>& splits,
                                           const std::vector<Arc>& loads) {
  return recover_direct_paths(physical, columns(splits).view(), ArcColumns(loads).view());
}

inline Routes routes_of(const Graph& physical, const std::vector<Split>& splits,
                        const std::vector<Arc>& loads, std::int64_t most_hops = kMostHops) {
  return recover_paths(physical, columns(splits).view(), ArcColumns(loads).view(), most_hops);
}

inline Routes replayed(const Graph& physical, const std::vector<Split>& splits,
                       const std::vector<Arc>& loads, std::int64_t most_hops = kMostHops) {
  return replay_splits(physical, columns(splits).view(), ArcColumns(loads).view(), most_hops);
}

}  // namespace forestcoll::testing
