// Known cuts: sets of nodes that can be short of trees, each with its surplus h(X) while a tree
// grows.
//
// A tree must enter every set without its root once. Each further entry takes its multiplicity from
// h(X), which must not fall below 0.
//
// Invariant: the surplus of each set is that of the remaining capacities, for the unstarted trees
// and the partial tree. A row of bits for each node lists its sets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

using NodeSet = NodeMap<std::uint8_t>;  // 1: in the set

class KnownCuts {
 public:
  explicit KnownCuts(NodeId num_nodes) : in_(num_nodes) {}

  void add(const NodeSet& set, Amount surplus);

  // A tree begins.
  void begin(NodeId root);
  // The greatest multiplicity at which the edge to a node outside the tree is safe.
  Amount safe(NodeId tail, NodeId head, Amount most) const {
    for_each_entered_again(tail, head,
                           [&](std::size_t set) { most = std::min(most, surplus_[set]); });
    return most;
  }
  // The tree takes an edge.
  void enter(NodeId tail, NodeId head, Amount trees);
  // Gives back some of the tree's multiplicity, with its edges.
  void give_back(Amount trees);

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t kWord = 64;

  const std::vector<Word>& row(NodeId node) const { return in_[node]; }

  // Visits the sets that the edge enters and the tree already touches.
  template <typename Visit>
  void for_each_entered_again(NodeId tail, NodeId head, Visit visit) const {
    const auto &from = row(tail), &to = row(head);
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (Word word = to[i] & ~from[i] & touched_[i]; word != 0; word &= word - 1) {
        visit(i * kWord + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  NodeMap<std::vector<Word>> in_;  // by node, a bit for each set
  std::vector<Word> touched_;      // the sets that have a node of the tree
  std::vector<Amount> surplus_;
  std::vector<Amount> further_;  // entries of the tree after its first
};

}  // namespace forestcoll
