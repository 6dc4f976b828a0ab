// A partial packing: batches of equal trees and their load on the arcs, which may exceed the
// capacities. A start fills it, repairs remove the overload.
//
// Invariants: depth(b, v) is the number of hops from the root to v in tree b. Load is the sum of
// the multiplicities of the batches on an arc. They hold for every complete tree. A start that
// fills node by node sets all depths first and keeps them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

class PartialPacking {
 public:
  explicit PartialPacking(const Graph& graph);

  const Graph& graph() const { return *graph_; }
  NodeId num_nodes() const { return graph_->num_nodes; }
  int num_batches() const { return roots_.count(); }
  const Arc& arc(int index) const { return graph_->arcs[index]; }
  std::span<const int> in_arcs(NodeId node) const { return in_[node]; }
  // The place of an arc among the in-arcs of its head.
  int place_of(int arc) const { return place_[arc]; }
  Amount left(int index) const { return arc(index).capacity - load_[index]; }

  NodeId root(int batch) const { return roots_[batch]; }
  Amount multiplicity(int batch) const { return multiplicity_[batch]; }
  // The in-arc of a node in a tree; -1 at the root, and where none is chosen yet.
  int via(int batch, NodeId node) const { return trees_[node].via[batch]; }
  int depth(int batch, NodeId node) const { return depths_in(batch)[index(node)]; }
  // The depth of a node in every tree, and of every node in a tree.
  std::span<const int> depths_of(NodeId node) const { return trees_[node].depth; }
  std::span<const int> depths_in(int batch) const {
    return std::span(depths_).subspan(index(batch) * in_.size(), in_.size());
  }
  bool is_leaf(int batch, NodeId node) const { return trees_[node].children[batch] == 0; }
  // No node of the tree is deeper than this.
  int tree_depth(int batch) const { return tree_depths_[batch]; }
  int tree_depth() const;
  // Whether the path from the root to `node` passes `ancestor`.
  bool is_below(int batch, NodeId node, NodeId ancestor) const;
  bool is_overloaded(NodeId node) const;
  // Tree edges that must move, over all arcs.
  Amount overload() const;

  // Problems of so few nodes are worth every try.
  static constexpr NodeId kSmall = 32;
  bool is_small() const { return num_nodes() <= kSmall; }

  // Whether batches have been split into so many parts for each node that shallow trees are too
  // expensive. Trees packed one by one are deeper, but of fewer batches.
  bool is_shattered() const { return num_batches() > 8 * num_nodes(); }

  // Counts the batches and arcs that repairs and regrowth look at, some 10 ns each. Unlike time,
  // the count is the same on every machine, so trees that depend on it are too.
  void spend(std::size_t steps) { spent_ += static_cast<std::int64_t>(steps); }
  std::int64_t spent() const { return spent_; }
  // Whether the budget is used up; the rest is then better packed one by one.
  bool is_overspent() const { return spent_ > budget_; }
  void allow(std::int64_t steps) { budget_ = steps; }

  // A new batch, with no edges yet.
  int add(NodeId root, Amount multiplicity);
  void set_depth(int batch, NodeId node, int depth);
  // Sets the depths of all nodes in all trees, batch by batch.
  void set_depths(std::vector<int> depths);
  // Chooses the in-arc of a node that has none.
  void attach(int batch, int arc);
  // Exchanges the in-arc of a node for another; its tail must not be below the node.
  void move(int batch, int to);
  // Removes all edges of a tree; its depths must be set anew.
  void uproot(int batch);
  // Makes `part` of the batch a batch of its own, with the same tree.
  int split(int batch, Amount part);
  // Takes trees out of a batch.
  void drop(int batch, Amount trees);

  // The batches that still hold trees, by root.
  std::vector<Batch> batches() const;

 private:
  // By node first, because nodes are settled one by one. Each vector has an entry for each batch.
  struct NodeTrees {
    IndexedVector<int> via, depth, children;
  };
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  int& children(int batch, NodeId node) { return trees_[node].children[batch]; }
  void unload(int batch, Amount trees);
  void shift_subtree(int batch, NodeId top, int by);

  const Graph* graph_;
  NodeMap<std::vector<int>> in_, out_;
  IndexedVector<int> place_;
  IndexedVector<Amount> load_;
  IndexedVector<NodeId> roots_;
  IndexedVector<Amount> multiplicity_;
  IndexedVector<int> tree_depths_;
  NodeMap<NodeTrees> trees_;
  std::vector<int> depths_;  // a copy by batch first: searches read many nodes of one tree
  std::int64_t spent_ = 0;
  std::int64_t budget_;
};

}  // namespace forestcoll
