// Graphs that look the same from every node: Cayley graphs of products of cyclic groups. Examples
// are circulants, tori and hypercubes.
//
// Nodes are numbered in mixed radix. With radices n1, ..., nr the last digit runs fastest. A
// translation by a node adds its digits, each modulo its radix. If all arcs from v to w have the
// capacity of the arc from 0 to w - v, every translation is a symmetry. Then node 0 stands for all
// nodes.
#pragma once

#include <optional>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

class Translations {
 public:
  // An arc from every node v to v + by.
  struct Offset {
    NodeId by;
    Amount capacity;
  };

  NodeId num_nodes() const { return num_nodes_; }
  const std::vector<NodeId>& radices() const { return radices_; }
  // In ascending order.
  const IndexedVector<Offset>& offsets() const { return offsets_; }
  NodeId difference(NodeId v, NodeId w) const;
  // v + by, for every v.
  NodeMap<NodeId> moved_by(NodeId by) const;

 private:
  friend std::optional<Translations> find_translations(const Graph& graph);

  NodeId num_nodes_ = 0;
  std::vector<NodeId> radices_;
  IndexedVector<Offset> offsets_;
};

// The group with the fewest factors, if this numbering of the nodes has one. Arcs may be parallel;
// those without capacity do not count.
std::optional<Translations> find_translations(const Graph& graph);

// Whether, in addition, all nodes root equally many trees and every tree must reach all nodes.
bool is_alike_everywhere(const Graph& graph, const Demand& demand);

}  // namespace forestcoll
