// One set of a laminar family seen by itself: what it directly holds, each child set as one item,
// and everything outside as one more.
#pragma once

#include <vector>

#include "forestcoll/tight_sets.hpp"
#include "forestcoll/types.hpp"

namespace forestcoll {

// The nodes and child sets of every set of a family.
class Nesting {
 public:
  explicit Nesting(const Family& family);

  const Family& family() const { return *family_; }
  // All nodes inside a set, at any depth, in ascending order.
  std::vector<NodeId> nodes_inside(int set) const;
  // The child of `set` that holds a node, or -1 if the set holds it directly. The node must be
  // inside the set.
  int child_around(NodeId node, int set) const;

 private:
  const Family* family_;
  std::vector<std::vector<NodeId>> direct_;
  std::vector<std::vector<int>> children_;
};

// Items are numbered by their smallest node, so that equal sets look equal.
struct Contraction {
  Contraction(const Nesting& nesting, int set);

  int num_items() const { return static_cast<int>(child.size()); }
  int outside() const { return num_items(); }
  int item_of(NodeId node) const { return item[static_cast<std::size_t>(node)]; }

  std::vector<NodeId> nodes;  // inside the set, ascending
  std::vector<int> child;     // the set that each item stands for, or -1 for a node
  std::vector<NodeId> first;  // the smallest node of each item
  std::vector<int> item;      // of every node of the graph; outside() beyond the set
};

}  // namespace forestcoll
