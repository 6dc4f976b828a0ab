// Rotated assembly: the trees of the first of several equal boxes, moved to all others.
//
// Suppose that rotations of the boxes (translations.hpp) map every link to one of equal load, and
// the packing of the boxes to itself. Then the trees of all boxes may be the rotations of those of
// box 0, if these use up what the images of a link or batch have by each: the trees of box 0
// together take a link and its images as often as one of them carries trees. In the rotations
// every image then gets an equal share.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/common/translations.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tree_packing/factored.hpp"

namespace forestcoll {

// A tree of box 0.
struct BoxTree {
  // Where it enters a box, and from which box. At the root the parent is -1, and `from` any.
  struct Entry {
    NodeId node, parent, from;
  };

  NodeId root = 0;
  Amount multiplicity = 0;
  int depth = 0;
  NodeMap<NodeId> parent;
  IndexedVector<Entry> entry;  // by box
};

class RotatedBoxes {
 public:
  // Nothing unless the nodes are equal boxes in such a symmetry, the numbers of the forest match,
  // and the trees of each node can stay one batch. `forest` must be checked.
  static std::optional<RotatedBoxes> find(const FactoredForest& forest, const Nesting& nesting);

  // Moves on to the next tree, root by root; false after the last one.
  bool next();

  NodeId root() const { return box_ * size_ + tree().root; }
  Amount multiplicity() const { return tree().multiplicity; }
  int tree_depth() const { return tree().depth; }
  void write_parents(std::span<NodeId> row) const;  // -1 at the root

 private:
  template <NodeId size>
  void write_boxes(std::span<NodeId> row) const;

  RotatedBoxes(NodeId size, Translations moves, std::vector<BoxTree> trees);
  const BoxTree& tree() const { return trees_[place_ - 1]; }

  NodeId size_;
  Translations moves_;  // of boxes
  std::vector<BoxTree> trees_;
  NodeId box_ = -1;
  std::size_t place_;            // one past the present tree
  IndexedVector<NodeId> shift_;  // by box: from its nodes to those of its image
};

}  // namespace forestcoll
