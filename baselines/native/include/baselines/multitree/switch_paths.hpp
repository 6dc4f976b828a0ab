// The shortest paths to GPUs over switches alone, from any node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

// The graph, with units a step as capacities; for each arc, the number of wider bandwidths; the
// positions of the GPUs in the order of preference.
struct GroveNetwork {
  Graph graph;
  IndexedVector<std::int32_t> narrowness;  // by arc
  IndexedVector<NodeId> gpus;
};

// Throws InvalidInput unless the parts are consistent.
void check(const GroveNetwork& network);

class SwitchWays {
 public:
  // The caller owns the network and must keep it alive.
  explicit SwitchWays(const GroveNetwork& network);

  // Arcs on a path to the GPU, -1 if switches do not lead there.
  int hops(NodeId node, int gpu) const { return hops_[cell(node, gpu)]; }
  // Whether a shortest path from the arc's tail to the GPU starts with the arc.
  bool leads(int arc, int gpu) const;
  // Those arcs of a switch, in order; none for a GPU.
  std::span<const int> onward(NodeId node, int gpu) const {
    const std::size_t at = cell(node, gpu);
    return {onward_.data() + first_[at], onward_.data() + first_[at + 1]};
  }
  // The arcs out of a node, in order.
  const std::vector<int>& out(NodeId node) const { return out_[node]; }
  // The node's place in the network's `gpus`, -1 for a switch.
  int gpu_at(NodeId node) const { return gpu_at_[node]; }

 private:
  std::size_t cell(NodeId node, int gpu) const {
    return static_cast<std::size_t>(node) * network_.gpus.size() + static_cast<std::size_t>(gpu);
  }
  void measure(int gpu);
  void find_onward();

  const GroveNetwork& network_;
  NodeMap<int> gpu_at_;
  NodeMap<std::vector<int>> out_, in_;
  IndexedVector<std::int32_t> hops_;
  IndexedVector<std::size_t> first_;
  std::vector<int> onward_;
};

}  // namespace forestcoll::baselines
