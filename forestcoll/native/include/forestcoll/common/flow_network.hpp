// The network of a flow: capacities between nodes, both directions of a pair of nodes together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Capacities between nodes. Arcs come in opposite pairs, a and a ^ 1, so that one residual entry
// serves both directions; a missing direction has capacity 0.
class FlowNetwork {
 public:
  explicit FlowNetwork(NodeId num_nodes) : out_(num_nodes), neighbours_(out_.size()) {}
  explicit FlowNetwork(const Graph& graph);

  // Adds to the capacity from tail to head, making the pair of arcs if it is not there.
  int add(NodeId tail, NodeId head, Amount capacity);
  // At most so many more pairs of arcs will be made.
  void expect(std::size_t pairs);
  // The arc from tail to head, or -1.
  int find(NodeId tail, NodeId head) const;

  NodeId num_nodes() const { return out_.count(); }
  int num_arcs() const { return head_.count(); }
  NodeId head(int arc) const { return head_[arc]; }
  NodeId tail(int arc) const { return head(arc ^ 1); }
  Amount capacity(int arc) const { return capacity_[arc]; }
  void set_capacity(int arc, Amount capacity) { capacity_[arc] = capacity; }
  // Arcs that leave the node, with those of capacity 0 that oppose an incoming one.
  std::span<const int> arcs_of(NodeId node) const { return out_[node]; }
  // The heads of these arcs: searches pass most of them by, as they lead to nodes already reached.
  std::span<const NodeId> neighbours(NodeId node) const { return neighbours_[node]; }
  // The arcs with capacity left, as a graph.
  std::vector<Arc> arcs() const;

 private:
  void add_sorted(const IndexedVector<Arc>& arcs);
  int append(NodeId tail, NodeId head);
  std::size_t slot(NodeId one, NodeId other) const;
  void index(std::size_t pairs);

  IndexedVector<NodeId> head_;
  IndexedVector<Amount> capacity_;
  NodeMap<std::vector<int>> out_;
  NodeMap<std::vector<NodeId>> neighbours_;
  // Pairs of arcs by their ends: open addressing with linear probing. -1: free. A power of two of
  // slots, at most half full; none in networks that are searched only, until an arc is added.
  std::vector<int> slots_;
};

}  // namespace forestcoll
