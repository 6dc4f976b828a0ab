// A flow that was moved and repaired equals one computed from nothing, and both equal the cut.
#include <algorithm>
#include <vector>

#include "forestcoll/common/flow.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace flow_tests {

Amount fresh_shortage(const FlowNetwork& network, const NodeMap<Amount>& supply, NodeId sink) {
  WarmFlow flow(network, supply);
  return flow.settle(sink);
}

// max over X that hold the sink of (supply outside X - ingress of X).
Amount worst_cut(const Graph& graph, const NodeMap<Amount>& supply, NodeId sink) {
  Demand demand{supply, std::vector<std::uint8_t>(supply.size(), 0)};
  demand.is_target[sink] = 1;
  Amount worst = 0;
  each_cut(graph, demand,
           [&](Amount ingress, Amount outside) { worst = std::max(worst, outside - ingress); });
  return worst;
}

void shortage_equals_the_worst_cut_and_source_side_is_one() {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 7));
    const Graph graph = random_graph(random, nodes, 0, 9);
    const FlowNetwork network(graph);
    NodeMap<Amount> supply(nodes);
    for (Amount& amount : supply) amount = between(random, 0, 9);
    const auto sink = static_cast<NodeId>(between(random, 0, nodes - 1));
    WarmFlow flow(network, supply);
    const Amount shortage = flow.settle(sink);
    CHECK(shortage == worst_cut(graph, supply, sink));
    if (shortage == 0) continue;
    const auto side = flow.source_side();
    Amount gap = 0;
    for (std::size_t v = 0; v < side.size(); ++v) gap += side[v] ? supply[v] : 0;
    for (const Arc& arc : graph.arcs) {
      const bool crosses = side[arc.tail] != 0 && side[arc.head] == 0;
      gap -= crosses ? arc.capacity : 0;
    }
    CHECK(gap == shortage);
    CHECK(side[sink] == 0);
  }
}

void warm_flow_equals_fresh_flow_whatever_changes() {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 3, 9));
    FlowNetwork network(random_graph(random, nodes, 0, 6));
    NodeMap<Amount> supply(nodes, 2);
    WarmFlow flow(network, supply);
    for (int step = 0; step < 20; ++step) {
      const auto node = static_cast<NodeId>(between(random, 0, nodes - 1));
      switch (between(random, 0, 2)) {
        case 0: {
          const int arc = static_cast<int>(between(random, 0, network.num_arcs() - 1));
          network.set_capacity(arc, between(random, 0, 6));
          flow.clip(arc);
          break;
        }
        case 1:
          supply[node] = between(random, 0, 5);
          flow.set_supply(node, supply[node]);
          break;
        default:
          flow.clip(network.add(node, (node + 1) % nodes, between(random, 0, 3)));
      }
      const auto sink = static_cast<NodeId>(between(random, 0, nodes - 1));
      CHECK(flow.settle(sink) == fresh_shortage(network, supply, sink));
    }
  }
}

}  // namespace flow_tests

TESTS(flow) {
  shortage_equals_the_worst_cut_and_source_side_is_one();
  warm_flow_equals_fresh_flow_whatever_changes();
}
