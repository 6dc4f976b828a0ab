// One set of a network as a problem of its own: its items are nodes and contracted children, and
// everything around it is one more item.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// `outside` is the item around the set (-1 if the set is the whole graph). It roots the trees of
// all other nodes; no tree has to reach it.
struct Subproblem {
  Graph graph;
  Demand demand;
  NodeId outside = -1;
};

// The whole problem as numbers. Equal boxes have equal signatures, so each is solved once.
std::vector<Amount> content(const Subproblem& problem);

// A set as a problem, and the arcs of the network behind each of its arcs. Those behind arc i are
// from first[i] to first[i + 1], in no order.
struct Contracted {
  Subproblem problem;
  std::vector<std::size_t> first;
  std::vector<std::size_t> behind;
};

// Contracts the sets of one network with this demand, one after the other.
class Contractor {
 public:
  explicit Contractor(const Demand& demand) : demand_(&demand), all_trees_(demand.total()) {}

  // The set that holds the nodes `inside`. item_of(node) is the item of a node, and num_items for a
  // node outside. each_at(node, visit) calls visit for every arc out of the node or into it.
  template <typename ItemOf, typename EachAt>
  Contracted contract(const std::vector<NodeId>& inside, NodeId num_items, bool is_whole,
                      const std::vector<Arc>& arcs, const ItemOf& item_of,
                      const EachAt& each_at) const {
    Contracted set{without_arcs(inside, num_items, is_whole, item_of), {}, {}};
    std::vector<Crossing> crossings;
    for (const NodeId node : inside) {
      each_at(node, [&](std::size_t arc) {
        const NodeId tail = item_of(arcs[arc].tail), head = item_of(arcs[arc].head);
        // An arc between two items is met at both ends, so it is counted at its tail only.
        if (tail == head || (tail != num_items && node != arcs[arc].tail)) return;
        crossings.push_back({tail, head, arc});
      });
    }
    add_arcs(std::move(crossings), arcs, set);
    return set;
  }

  // The same set, but for its arcs.
  template <typename ItemOf>
  Subproblem without_arcs(const std::vector<NodeId>& inside, NodeId num_items, bool is_whole,
                          const ItemOf& item_of) const {
    const NodeId nodes = num_items + (is_whole ? 0 : 1);
    Subproblem problem{{nodes, {}},
                       {NodeMap<Amount>(nodes, 0), NodeMap<std::uint8_t>(nodes, 0)},
                       is_whole ? -1 : num_items};
    Demand& demand = problem.demand;
    for (const NodeId node : inside) {
      const int item = item_of(node);
      demand.trees[item] += demand_->trees[node];
      demand.is_target[item] |= demand_->is_target[node];
    }
    if (!is_whole) demand.trees.back() = all_trees_ - demand.total();
    return problem;
  }

 private:
  struct Crossing {
    NodeId tail, head;  // items
    std::size_t arc;    // between them
  };

  static void add_arcs(std::vector<Crossing> crossings, const std::vector<Arc>& arcs,
                       Contracted& set);

  const Demand* demand_;
  Amount all_trees_;
};

}  // namespace forestcoll
