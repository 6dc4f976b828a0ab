// Dinic's algorithm. Distances are measured from the sink, so that no search enters a dead end of
// the network. The paper uses JGraphT's push-relabel; both answer the same questions from nothing.
#include <algorithm>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/paper/paper.hpp"

namespace forestcoll::paper {

MaxFlow::MaxFlow(NodeId num_nodes) : num_nodes_(num_nodes), out_(num_nodes) {}

NodeId MaxFlow::add_node() {
  if (num_nodes_ == out_.count()) out_.emplace_back();
  return num_nodes_++;
}

int MaxFlow::add(NodeId tail, NodeId head, Amount capacity) {
  const int arc = head_.count();
  head_.insert(head_.end(), {head, tail});
  capacity_.insert(capacity_.end(), {capacity, 0});
  out_[tail].push_back(arc);
  out_[head].push_back(arc + 1);
  return arc;
}

void MaxFlow::rewind(const Mark& mark) {
  while (head_.count() > mark.arcs) {
    // Each list ends in its newest arc; an arc's opposite is listed at the head of the arc.
    out_[head_[head_.size() - 2]].pop_back();
    out_[head_.back()].pop_back();
    head_.resize(head_.size() - 2);
    capacity_.resize(capacity_.size() - 2);
  }
  num_nodes_ = mark.nodes;
}

Amount MaxFlow::run(NodeId source, NodeId sink, Amount limit) {
  residual_ = capacity_;
  Amount value = 0;
  while (value < limit && label(source, sink)) {
    next_.assign(num_nodes_, 0);
    value += push(source, sink, limit - value);
  }
  return value;
}

// Breadth first against the arcs, until the source has its distance.
bool MaxFlow::label(NodeId source, NodeId sink) {
  level_.assign(num_nodes_, -1);
  level_[sink] = 0;
  queue_.assign(1, sink);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const NodeId v = queue_[i];
    for (const int out : out_[v]) {
      const NodeId u = head_[out];
      auto& level = level_[u];
      if (level >= 0 || residual_[out ^ 1] == 0) continue;
      level = level_[v] + 1;
      if (u == source) return true;
      queue_.push_back(u);
    }
  }
  return false;
}

// A blocking flow of at most `amount` along arcs that come one step nearer to the sink.
Amount MaxFlow::push(NodeId from, NodeId sink, Amount amount) {
  if (from == sink) return amount;
  Amount pushed = 0;
  for (auto& i = next_[from]; i < out_[from].size(); ++i) {
    const int arc = out_[from][i];
    const NodeId to = head_[arc];
    if (residual_[arc] == 0 || level_[to] != level_[from] - 1) continue;
    const Amount sent = push(to, sink, std::min(amount - pushed, residual_[arc]));
    residual_[arc] -= sent;
    residual_[arc ^ 1] += sent;
    pushed += sent;
    if (pushed == amount) break;  // this arc may have room for the next
  }
  return pushed;
}

NodeMap<std::uint8_t> MaxFlow::source_side(NodeId source) const {
  NodeMap<std::uint8_t> side(num_nodes_, 0);
  side[source] = 1;
  std::vector<NodeId> queue{source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int arc : out_[queue[i]]) {
      const NodeId u = head_[arc];
      if (side[u] || residual_[arc] == 0) {
        continue;
      }
      side[u] = 1;
      queue.push_back(u);
    }
  }
  return side;
}

MaxFlow with_source(const Graph& graph, const NodeMap<Amount>& supply, Amount scale) {
  const NodeId source = graph.num_nodes;
  MaxFlow network(source + 1);
  for (const Arc& arc : graph.arcs) network.add(arc.tail, arc.head, arc.capacity * scale);
  for (NodeId v = 0; v < source; ++v) {
    const Amount amount = supply[v];
    if (amount > 0) network.add(source, v, amount);
  }
  return network;
}

void require_carries(const Graph& graph, const Demand& demand) {
  MaxFlow network = with_source(graph, demand.trees);
  const Amount needed = demand.total();
  for (const NodeId v : demand.targets()) {
    const Amount received = network.run(graph.num_nodes, v, needed);
    if (received < needed) {
      throw Infeasible("the capacities cannot carry the trees: node " + std::to_string(v) +
                       " lacks capacity for " + std::to_string(needed - received) + " of them");
    }
  }
}

}  // namespace forestcoll::paper
