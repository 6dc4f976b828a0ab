#include "baselines/multitree/used_paths.hpp"

#include <algorithm>

namespace forestcoll::baselines {

void UsedPaths::add(int tail, int head, std::span<const int> arcs) {
  int last = -1;
  for (int path = first_[cell(tail, head)]; path >= 0; path = paths_[path].next) {
    if (std::ranges::equal(arcs_of(paths_[path]), arcs)) {
      ++paths_[path].trees;
      return;
    }
    last = path;
  }
  (last < 0 ? first_[cell(tail, head)] : paths_[last].next) = paths_.count();
  paths_.push_back({arcs_.size(), arcs_.size() + arcs.size(), 1, -1});
  arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
}

PathArrays UsedPaths::arrays(const GroveNetwork& network, const std::vector<int>& by_rank) const {
  PathArrays arrays;
  for (NodeId tail = 0; tail < gpus_; ++tail) {
    for (NodeId head = 0; head < gpus_; ++head) {
      const auto at = [&](NodeId rank) { return by_rank[static_cast<std::size_t>(rank)]; };
      const int first = first_[cell(at(tail), at(head))];
      if (first < 0) continue;
      arrays.tail.push_back(tail);
      arrays.head.push_back(head);
      for (int path = first; path >= 0; path = paths_[path].next) {
        append(paths_[path], network, arrays);
      }
      arrays.first_path.push_back(static_cast<std::int64_t>(arrays.trees.size()));
    }
  }
  return arrays;
}

void UsedPaths::append(const Used& path, const GroveNetwork& network, PathArrays& arrays) const {
  const auto& arcs = network.graph.arcs;
  arrays.hop.push_back(arcs[arcs_of(path).front()].tail);
  for (const int arc : arcs_of(path)) arrays.hop.push_back(arcs[arc].head);
  arrays.first_hop.push_back(static_cast<std::int64_t>(arrays.hop.size()));
  arrays.trees.push_back(path.trees);
}

}  // namespace forestcoll::baselines
