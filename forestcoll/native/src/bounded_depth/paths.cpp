#include "forestcoll/bounded_depth/paths.hpp"

namespace forestcoll {

Ways::Ways(const LowNetwork& network)
    : network_(network),
      reach_(network.graph->num_nodes, kFar),
      onward_(network.graph->num_nodes, -1) {}

std::vector<int> Ways::arcs_from(int first) const {
  const auto& arcs = network_.graph->arcs;
  std::vector<int> way{first};
  for (NodeId x = arcs[first].head; onward_[x] >= 0 && network_.rank[x] < 0;
       x = arcs[onward_[x]].head) {
    way.push_back(onward_[x]);
  }
  return way;
}

}  // namespace forestcoll
