// Exchanges: symmetries that swap equal parts of a problem and leave all else in place.
//
// Without its largest switches a cluster falls into components. Two components of equal content,
// with equal arcs to and from the nodes around them, can be swapped: their nodes in order, each for
// its counterpart. So can two nodes of a component that are not adjacent and have equal arcs. Both
// swaps are automorphisms by construction. What holds around one node then holds around all its
// images, so a search may be made once for each orbit.
#pragma once

#include <array>
#include <vector>

#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

class Exchanges {
 public:
  explicit Exchanges(const Subproblem& problem);

  // The node that stands for the orbit of a node; the node itself if there is no exchange.
  NodeId first_of(NodeId node) const { return first_[node]; }
  // The image of a node, or of a set, under the exchanges that map first_of(node) to the node; sets
  // are sorted.
  NodeId image_of(NodeId v, NodeId node) const;
  std::vector<NodeId> image(const std::vector<NodeId>& set, NodeId node) const;

 private:
  // An arc as a node meets it: the place of the other end in the component, or ~node around it;
  // whether it leads out; its capacity. The last entry of a row is the demand of the node.
  using Row = std::vector<std::array<Amount, 3>>;

  void find_components(const Subproblem& problem);
  NodeMap<Row> rows_of(const Subproblem& problem) const;
  void match_components(const NodeMap<Row>& rows);
  void match_nodes(const NodeMap<Row>& rows);

  NodeMap<NodeId> first_;
  NodeMap<int> component_;                      // -1: a node around the components
  NodeMap<int> place_;                          // in the component
  IndexedVector<std::vector<NodeId>> members_;  // of each component, in order
  IndexedVector<int> model_;                    // the first component of equal content
};

}  // namespace forestcoll
