// Contraction: the sets of a laminar family, one at a time. The items of a set are the nodes that
// it holds directly and its child sets; everything outside is one more item.
//
// The cost of everything here is proportional to the inside of a set, not to the whole graph: there
// may be thousands of sets.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// The items of every set: the nodes that it holds directly and its child sets. The items of a set
// are numbered by their smallest node, so that equal sets look equal. The items of all sets
// together, set after set, have one position each. A set without nodes stands for no item.
class Nesting {
 public:
  explicit Nesting(const Family& family);

  const Family& family() const { return *family_; }
  int num_items(int set) const { return static_cast<int>(first_[set + 1] - first_[set]); }
  // The position of item 0 of a set; for the set after the last one, the number of positions.
  std::size_t first_position(int set) const { return first_[set]; }
  std::size_t num_positions() const { return first_.back(); }
  // The set that the item at a position stands for, or -1 for a node.
  int child(std::size_t position) const { return child_[position]; }
  // The smallest node of the item at a position.
  NodeId smallest(std::size_t position) const { return smallest_[position]; }

  // All nodes inside a set, at any depth, in ascending order.
  std::vector<NodeId> nodes_inside(int set) const;
  // The item of `set` that is or holds a node; num_items(set) beyond the set.
  int item_of(NodeId node, int set) const;
  // The smallest set that holds both nodes.
  int common_set(NodeId one, NodeId other) const;
  // The number of a node or set among the items of the set around it.
  int item_of_node(NodeId node) const { return item_of_node_[node]; }
  int item_of_set(int set) const { return item_of_set_[set]; }

 private:
  const Family* family_;
  IndexedVector<std::size_t> first_;
  std::vector<int> child_;
  std::vector<NodeId> smallest_;
  NodeMap<int> item_of_node_;
  IndexedVector<int> item_of_set_;
};

// One set by itself.
struct Contraction {
  Contraction(const Nesting& nesting, int set);

  int num_items() const { return child.count(); }
  int outside() const { return num_items(); }
  int item_of(NodeId node) const { return nesting->item_of(node, set); }
  bool is_whole() const { return set + 1 == nesting->family().num_sets(); }

  const Nesting* nesting;
  int set;
  std::vector<NodeId> nodes;    // inside the set, ascending
  IndexedVector<int> child;     // the set that each item stands for, or -1 for a node
  IndexedVector<NodeId> first;  // the smallest node of each item
};

// The contracted edges of all sets, and the links behind them. A link belongs to the smallest set
// that holds both of its ends; there it joins two items.
struct ContractedEdges {
  struct Edge {
    int from, to;       // items of the set
    std::size_t first;  // place of its first link in `link`; the next edge's first is the end

    bool same_ends(const Edge& other) const { return from == other.from && to == other.to; }
  };

  // `links` must be sorted; the links behind an edge are then sorted too.
  ContractedEdges(const Nesting& nesting, const ArcView& links);

  // The edges of a set, sorted by (from, to).
  std::span<const Edge> of(int set) const {
    return std::span(edges).subspan(first_edge[set], first_edge[set + 1] - first_edge[set]);
  }
  // The links behind an edge, as places in the list of links.
  std::span<const int> links_of(const Edge& edge) const {
    return std::span(link).subspan(edge.first, (&edge)[1].first - edge.first);
  }

  std::vector<Edge> edges;                // set by set; one past the last closes the rows
  IndexedVector<std::size_t> first_edge;  // of each set, and one past the last
  Column<int> link;
  // The load that enters each item, by position, over links from outside its set.
  std::vector<Amount> entering;
};

}  // namespace forestcoll
