// Assembly: trees of the whole graph from a factored forest, one batch after the other.
//
// A tree is put together from the whole graph inwards. In each set it takes a batch of the set's
// packing, rooted at the item where the tree starts or enters. For each contracted edge of that
// batch it takes a link with load left, behind which it enters the next set. Its multiplicity is
// the least remainder of all that it takes. Everything taken is subtracted, so at the end every
// batch and every load is used up exactly. A factored forest whose numbers do not match is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forestcoll/assembly/rotated_boxes.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tree_packing/factored.hpp"

namespace forestcoll {

// Trees come root by root. Each takes the fullest batch of every set, and links that carry the
// whole of it from nodes near the root.
class Assembler {
 public:
  // Throws InvalidInput if the parts of the forest do not fit together.
  explicit Assembler(FactoredForest forest);
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // Moves on to the next batch; false after the last one. The parents of its tree are written to
  // `row`, if one is given: -1 at the root. Throws InvalidInput, naming the set, if a set has no
  // batch left, a contracted edge no load, or the last tree leaves any unspent.
  bool next(std::span<NodeId> row = {});

  NodeId root() const { return root_; }
  Amount multiplicity() const { return multiplicity_; }
  int tree_depth();
  Amount trees_built() const { return built_; }

  // Whether all nodes are one set of plain items, so that its batches are the trees.
  bool is_one_packing() const { return inside_.size() == 1 && inside_[0].is_plain; }
  // Which batch of that packing the tree is, from now on in place of its parents.
  void name_batches() { named_only_ = true; }
  int batch() const { return batch_; }

 private:
  // A tree edge of a set's batch: which contracted edge, its items, and whether the tree ends
  // there.
  struct Step {
    int edge;
    int from, to;
    bool ends;
  };
  // The trees of a shape to copy: parents and depths below the root, num_items a batch, and the
  // largest depth of each batch.
  struct Copies {
    std::span<const NodeId> parents;
    std::vector<int> below;
    std::vector<int> most;
  };
  // All of a set that is read where a tree enters it, side by side: each tree enters every set.
  struct Inside {
    std::size_t position = 0;  // of item 0
    std::size_t edge = 0;      // the first contracted edge, unless plain
    int shape = 0;
    NodeId first = 0;       // the smallest node
    bool is_plain = false;  // whether it holds nodes only, with one link behind every edge
    bool is_run = false;    // whether these are consecutive nodes
  };
  // A batch and what is left of it in one set.
  struct Stock {
    Amount left;
    int batch;
  };
  // A link and what is left of its load.
  struct Supply {
    Amount left;
    NodeId tail, head;
  };
  // The links behind a contracted edge, in supply_: those with load left come first. None of these
  // has less than `least` left.
  struct Behind {
    std::size_t first;
    int live;
    Amount least;
  };

  // A place in supply_, and the contracted edge it is of.
  struct Taken {
    std::size_t edge, place;
  };

  void prepare();
  void find_plain();
  void prepare(const Shape& shape, std::span<const ContractedEdges::Edge> edges);
  void prepare(int set, const ContractedEdges& edges);
  void expect_used_up(int set, const ContractedEdges& edges) const;
  bool next_rotated(std::span<NodeId> row);
  void assemble();
  // Where a tree enters an item, and its depth there. In what `ends`, no more depths are read.
  struct Entry {
    NodeId node, parent;
    int depth;
    bool ends;
  };
  void enter(int set, const Entry& entry);
  void span_from(int set, const Entry& entry);
  std::size_t take_batch(int set, std::size_t position);
  void copy(const Inside& inside, std::size_t batch, const Entry& entry);
  template <std::size_t known_size>
  void copy_run(std::span<const NodeId> parents, std::span<const int> below, NodeId first,
                const Entry& entry);
  void copy(std::span<const NodeId> parent);
  void find_depths();
  const Supply& take_link(int set, std::size_t edge, std::size_t from);
  const Supply* leaving(const Behind& links, std::size_t from) const;
  const Supply* nearest(const Behind& links) const;
  const Supply* fullest(Behind& links) const;
  std::span<Stock> stock_of(std::size_t position);
  void settle();
  void expect_nothing_left() const;
  [[noreturn]] void fail(int set, const std::string& what) const;

  FactoredForest forest_;  // once prepared, without its links, which are in supply_
  Nesting nesting_;
  std::optional<RotatedBoxes> rotated_;  // then nothing below is prepared

  // By shape: num_items - 1 a batch, parents first.
  IndexedVector<std::vector<Step>> steps_;
  IndexedVector<Copies> copies_;               // where is_copied_
  IndexedVector<IndexedVector<Amount>> uses_;  // of each contracted edge, by shape
  IndexedVector<Inside> inside_;               // by set
  IndexedVector<std::uint8_t> in_steps_;       // by shape: whether a set that is not plain has it
  IndexedVector<std::uint8_t> is_copied_;      // by shape: whether its batches are copied
  // Batches by the position of the item they are rooted at: heaps, the fullest on top.
  IndexedVector<Stock> stock_;
  std::vector<std::size_t> first_stock_;
  // Links by contracted edge, set after set, plain ones left out.
  std::vector<Supply> supply_;
  std::vector<Behind> behind_;

  NodeId root_ = 0;
  Amount of_root_ = 0;  // trees of the present root not yet built
  Amount built_ = 0;
  Amount multiplicity_ = 0;
  int max_depth_ = 0;
  bool at_start_ = true;
  bool named_only_ = false;
  int batch_ = -1;
  NodeMap<NodeId> scratch_;   // the parents, unless they are written to a row
  NodeId* parent_ = nullptr;  // by node, of the present tree
  NodeMap<int> depth_;
  std::vector<NodeId> entry_;  // by position: where the present tree enters the item
  std::vector<std::span<Stock>> taken_stock_;
  std::vector<Taken> taken_links_;
  std::vector<NodeId> path_;  // scratch of find_depths()
};

}  // namespace forestcoll
