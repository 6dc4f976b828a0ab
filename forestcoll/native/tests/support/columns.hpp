// Columns as rows, and a factored forest from a packing and its links.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/tree_packing/factored.hpp"

namespace forestcoll::testing {

inline std::vector<Arc> rows(const ArcColumns& arcs) { return arcs_of(arcs.view()); }

inline std::vector<Split> rows(const SplitColumns& splits) {
  std::vector<Split> rows;
  for (std::size_t i = 0; i < splits.size(); ++i) rows.push_back(splits[i]);
  return rows;
}

inline FactoredForest packed_forest(const Graph& graph, std::span<const Amount> trees,
                                    const Family& family, bool thorough = false,
                                    int rotated_from = std::numeric_limits<int>::max()) {
  Progress progress;
  ArcColumns links(graph.arcs);
  SetPacking packing = pack_sets(links.view(), trees, family, progress, thorough, rotated_from);
  if (packing.ends) {
    links.tail = std::move(packing.ends->tail);
    links.head = std::move(packing.ends->head);
  }
  links.capacity = std::move(packing.load);
  return {{trees.begin(), trees.end()},
          std::move(links),
          family,
          std::move(packing.shape_of),
          std::move(packing.shapes)};
}

// Without the link at a place.
inline void erase(ArcColumns& links, std::size_t place) {
  std::vector<Arc> left = rows(links);
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  links = ArcColumns(left);
}

}  // namespace forestcoll::testing
