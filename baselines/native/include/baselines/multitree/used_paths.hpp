// The paths that trees have taken between two GPUs, and the number of trees on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baselines/multitree/switch_paths.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

// In compressed rows: link i, between ranks, has paths first_path[i] to first_path[i + 1]. Path j
// carries trees[j] over the nodes hop[first_hop[j]] to before hop[first_hop[j + 1]]. Links are
// sorted; the paths of a link are in the order of first use.
struct PathArrays {
  std::vector<NodeId> tail, head;
  std::vector<std::int64_t> first_path{0};
  std::vector<Amount> trees;
  std::vector<std::int64_t> first_hop{0};
  std::vector<NodeId> hop;
};

class UsedPaths {
 public:
  explicit UsedPaths(int gpus) : gpus_(gpus), first_(cell(gpus, 0), -1) {}

  void add(int tail, int head, std::span<const int> arcs);
  // `by_rank` holds the GPUs in the order of their ranks.
  PathArrays arrays(const GroveNetwork& network, const std::vector<int>& by_rank) const;

 private:
  struct Used {
    std::size_t begin, end;  // of its arcs
    Amount trees;
    int next;  // path of the same link, -1 for none
  };

  std::size_t cell(int tail, int head) const {
    return static_cast<std::size_t>(tail) * static_cast<std::size_t>(gpus_) +
           static_cast<std::size_t>(head);
  }
  std::span<const int> arcs_of(const Used& path) const {
    return {arcs_.data() + path.begin, arcs_.data() + path.end};
  }
  void append(const Used& path, const GroveNetwork& network, PathArrays& arrays) const;

  int gpus_;
  IndexedVector<int> first_;
  IndexedVector<Used> paths_;
  std::vector<int> arcs_;
};

}  // namespace forestcoll::baselines
