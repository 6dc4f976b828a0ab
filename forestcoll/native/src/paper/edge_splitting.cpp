// Algorithms 2 and 3: one pair of links (u, w), (w, t) at a time, split by as much as Theorem 6
// allows. The network D_k, the graph with a source that feeds k into every compute node, is kept up
// to date. Before and after every split all compute nodes can receive all N k.
//
// The paper asks for balance at every node. In >= out at the switches is enough: Theorem 6 does not
// use balance, and Theorem 5 still holds. Input of a switch beyond its output is dropped with it.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/paper/paper.hpp"

namespace forestcoll::paper {

namespace {

class Splitting {
 public:
  Splitting(const Graph& graph, const Demand& demand, Progress& progress)
      : demand_(demand),
        compute_(demand.targets()),
        needed_(demand.total()),
        source_(graph.num_nodes),
        network_(0),
        progress_(progress) {
    std::map<Ends, Amount> capacity;
    for (const Arc& arc : graph.arcs) capacity[{arc.tail, arc.head}] += arc.capacity;
    build(capacity);
  }

  Removal run() {
    std::vector<NodeId> switches;
    for (NodeId w = 0; w < source_; ++w) {
      if (!demand_.is_target[w]) switches.push_back(w);
    }
    switches_ = std::ssize(switches);
    for (const NodeId w : switches) {
      remove(w);
      ++removed_;
    }
    for (const auto& [ends, arc] : arcs_) {
      found_.logical.push_back({ends.first, ends.second, network_.capacity(arc)});
    }
    return std::move(found_);
  }

 private:
  using Ends = std::pair<NodeId, NodeId>;

  void build(const std::map<Ends, Amount>& capacity) {
    Graph graph{source_, {}};
    arcs_.clear();
    for (const auto& [ends, amount] : capacity) {
      if (amount == 0) continue;
      arcs_[ends] = 2 * graph.arcs.count();
      graph.arcs.push_back({ends.first, ends.second, amount});
    }
    network_ = with_source(graph, demand_.trees);
  }

  void remove(NodeId w) {
    std::vector<NodeId> tails, heads;
    for (const auto& [ends, arc] : arcs_) {
      if (ends.second == w) tails.push_back(ends.first);
      if (ends.first == w) heads.push_back(ends.second);
    }
    refuse_surplus(w, tails, heads);
    for (const NodeId t : heads) {
      for (const NodeId u : tails) {
        split(u, w, t, largest_split(u, w, t));
        if (left(w, t) == 0) break;
      }
      if (left(w, t) > 0) throw InternalError("no ingress link pairs with an egress link");
    }
    std::map<Ends, Amount> capacity;
    for (const auto& [ends, arc] : arcs_) {
      if (ends.first != w && ends.second != w) capacity[ends] = network_.capacity(arc);
    }
    build(capacity);
  }

  void refuse_surplus(NodeId w, const std::vector<NodeId>& tails,
                      const std::vector<NodeId>& heads) const {
    Amount spare = 0;
    for (const NodeId u : tails) spare += left(u, w);
    for (const NodeId t : heads) spare -= left(w, t);
    if (spare < 0) {
      throw Infeasible("switch " + std::to_string(w) + " sends " + std::to_string(-spare) +
                       " more than it receives");
    }
  }

  Amount left(NodeId tail, NodeId head) const { return network_.capacity(arcs_.at({tail, head})); }

  // Theorem 6's gamma: the least surplus of the cuts with (s, u, t | w, v) or (s, w | u, t, v).
  Amount largest_split(NodeId u, NodeId w, NodeId t) {
    Amount room = std::min(left(u, w), left(w, t));
    for (const NodeId v : compute_) {
      room = std::min(room, spare(u, w, {{{u, source_}, {u, t}, {v, w}}}, room));
      room = std::min(room, spare(w, t, {{{w, source_}, {u, t}, {v, t}}}, room));
      if (room == 0) return 0;
    }
    return room;
  }

  // F(tail, head) - N k with unbounded arcs that force nodes to one side of the cut; at most
  // `room`.
  Amount spare(NodeId tail, NodeId head, const std::array<Ends, 3>& forced, Amount room) {
    if (room == 0) return 0;
    progress_(removed_, switches_);
    const Amount limit = needed_ + room;
    const MaxFlow::Mark mark = network_.mark();
    for (const auto& [from, to] : forced) {
      if (from != to) network_.add(from, to, limit);
    }
    const Amount value = network_.run(tail, head, limit);
    network_.rewind(mark);
    return value - needed_;
  }

  void split(NodeId u, NodeId w, NodeId t, Amount amount) {
    if (amount == 0) return;
    change(u, w, -amount);
    change(w, t, -amount);
    if (u == t) return;  // a link from a node to itself is useless
    change(u, t, amount);
    found_.splits.push_back({w, u, t, amount});
  }

  void change(NodeId tail, NodeId head, Amount by) {
    const auto [entry, is_new] = arcs_.try_emplace({tail, head}, 0);
    if (is_new) entry->second = network_.add(tail, head, 0);
    network_.set_capacity(entry->second, network_.capacity(entry->second) + by);
  }

  const Demand& demand_;
  std::vector<NodeId> compute_;
  Amount needed_;  // N k
  NodeId source_;
  MaxFlow network_;           // D_k
  std::map<Ends, int> arcs_;  // of the network; the source's are not among them
  Progress& progress_;
  std::int64_t switches_ = 0;
  std::int64_t removed_ = 0;
  Removal found_;
};

}  // namespace

Removal remove_switches(const Graph& graph, const Demand& demand, Progress progress) {
  check(graph, demand);
  require_carries(graph, demand);
  return Splitting(graph, demand, progress).run();
}

}  // namespace forestcoll::paper
