// Max-flow with warm starts: the one primitive behind optimality, switch removal and packing.
//
// Every test of the core asks the same question: can the trees of all roots reach one given node?
// That is a flow from fixed supplies to one sink. Consecutive questions differ by a moved sink, a
// few changed capacities or supplies, so the flow is kept and repaired instead of recomputed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/flow_network.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// A flow of supplies towards a sink. The sink may move, and capacities and supplies may change
// between calls of settle. The valid part of the old flow is kept.
//
// Invariant: flow(a) = -flow(a ^ 1), and inflow + supply - outflow = excess at every node. A
// settled flow has excess at the sink only.
class WarmFlow {
 public:
  WarmFlow(const FlowNetwork& network, std::span<const Amount> supply);

  void set_supply(NodeId node, Amount supply);
  // Takes note that the capacity of an arc has fallen (or of any arc).
  void clip(int arc);
  void clip_all();

  // Routes all supply to the sink and returns the amount that cannot reach it. Where that is
  // positive, source_side() is a minimum cut: it lacks that much capacity towards the sink.
  Amount settle(NodeId sink);
  // The flow over an arc, negative if it runs in reverse.
  Amount flow(int arc) const { return flow_[arc]; }
  // Nodes that unrouted supply can still reach, after a settle that fell short.
  NodeMap<std::uint8_t> source_side() const;

  // Of a settled flow: the nodes from which residual arcs lead to the given one, itself included,
  // sorted. They form the smallest set around it that receives exactly the supply outside it.
  std::vector<NodeId> reaching(NodeId node) const;
  // The strongly connected components of the residual graph without the node into which no
  // residual arc leads, in no order.
  std::vector<std::vector<NodeId>> source_components(NodeId without) const;

 private:
  Amount residual(int arc) const { return network_->capacity(arc) - flow_[arc]; }
  void push(int arc, Amount amount);
  void change_excess(NodeId node, Amount by);
  void sync_arcs();
  void cover_deficits(NodeId sink);
  void cover_deficit(NodeId node, NodeId sink);
  Amount drain(NodeId sink);
  bool augment_between(NodeId source, NodeId sink);
  bool label_towards(NodeId sink);
  void augment_from(NodeId source, NodeId sink);
  void forget_labels();

  const FlowNetwork* network_;
  NodeMap<Amount> supply_;
  IndexedVector<Amount> flow_;
  NodeMap<Amount> excess_;
  std::vector<NodeId> active_;  // a superset of the nodes with excess, the sink left out
  NodeMap<std::uint8_t> is_active_;
  NodeId sink_ = -1;

  // Scratch of the searches: distance to the sink (-1: not reached), next arc to try.
  NodeMap<int> level_;
  NodeMap<std::uint32_t> next_;
  std::vector<NodeId> reached_;
  std::vector<int> path_;
  std::array<std::vector<NodeId>, 2> path_ends_;  // what was reached from the source, from the sink
};

}  // namespace forestcoll
