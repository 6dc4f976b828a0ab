#include "baselines/multitree/switch_paths.hpp"

#include "forestcoll/common/errors.hpp"

namespace forestcoll::baselines {

void check(const GroveNetwork& network) {
  const NodeId nodes = network.graph.num_nodes;
  check(network.graph, {NodeMap<Amount>(nodes, 0), NodeMap<std::uint8_t>(nodes, 0)});
  if (network.narrowness.size() != network.graph.arcs.size()) {
    throw InvalidInput("narrowness must have one entry an arc");
  }
  NodeMap<std::uint8_t> seen(nodes, 0);
  for (const NodeId gpu : network.gpus) {
    if (gpu < 0 || gpu >= nodes || seen[gpu]++ != 0) {
      throw InvalidInput("the GPUs must be different nodes of the graph");
    }
  }
}

SwitchWays::SwitchWays(const GroveNetwork& network)
    : network_(network),
      gpu_at_(network.graph.num_nodes, -1),
      out_(network.graph.num_nodes),
      in_(network.graph.num_nodes),
      hops_(cell(network.graph.num_nodes, 0), -1),
      first_(cell(network.graph.num_nodes, 0) + 1, 0) {
  for (int gpu = 0; gpu < network.gpus.count(); ++gpu) gpu_at_[network.gpus[gpu]] = gpu;
  for (int arc = 0; arc < network.graph.arcs.count(); ++arc) {
    out_[network.graph.arcs[arc].tail].push_back(arc);
    in_[network.graph.arcs[arc].head].push_back(arc);
  }
  for (int gpu = 0; gpu < network.gpus.count(); ++gpu) measure(gpu);
  find_onward();
}

// Breadth first and backwards; GPUs do not forward.
void SwitchWays::measure(int gpu) {
  std::vector<NodeId> queue{network_.gpus[gpu]};
  hops_[cell(queue.front(), gpu)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const NodeId head = queue[next];
    if (next > 0 && gpu_at(head) >= 0) continue;
    for (const int arc : in_[head]) {
      const NodeId tail = network_.graph.arcs[arc].tail;
      if (hops(tail, gpu) >= 0) continue;
      hops_[cell(tail, gpu)] = hops(head, gpu) + 1;
      queue.push_back(tail);
    }
  }
}

bool SwitchWays::leads(int arc, int gpu) const {
  const NodeId tail = network_.graph.arcs[arc].tail, head = network_.graph.arcs[arc].head;
  const bool passes = gpu_at(head) < 0 || gpu_at(head) == gpu;
  return passes && hops(head, gpu) >= 0 && hops(tail, gpu) == hops(head, gpu) + 1;
}

void SwitchWays::find_onward() {
  for (NodeId node = 0; node < network_.graph.num_nodes; ++node) {
    for (int gpu = 0; gpu < network_.gpus.count(); ++gpu) {
      if (gpu_at(node) < 0) {
        for (const int arc : out(node)) {
          if (leads(arc, gpu)) onward_.push_back(arc);
        }
      }
      first_[cell(node, gpu) + 1] = onward_.size();
    }
  }
}

}  // namespace forestcoll::baselines
