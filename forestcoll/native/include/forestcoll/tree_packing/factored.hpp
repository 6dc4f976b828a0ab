// Factored forest: the packing of every tight set by itself, and the loads of the links between
// sets.
//
// In a tight set X the trees rooted at a child c number q(c) plus the trees that enter c from
// outside X. Each tree that starts in c or enters c spans the children of X once. So the packings
// of all sets together stand for trees of the whole graph (see assembly.hpp) in far less memory:
// equal sets share one packing.
//
// Invariant: a link's capacity is exactly its load, the trees that use it. For every set, the trees
// of its packing that use a contracted edge number the loads of the links behind that edge. Those
// rooted at an item number q(item) plus the loads that enter the item from outside the set. Then
// every assembly works and uses up every tree and every load. The proof is by induction from the
// whole graph inwards: a tree starts in a set or enters it over exactly one link.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// Spanning out-trees of a number of items, in batches: `multiplicity[b]` equal trees from root[b],
// with parents parent[b * num_items] and following (-1 at the root).
//
// With radices, every batch stands for its images under all translations (translations.hpp) too.
struct Shape {
  int num_items = 0;
  std::vector<NodeId> root;
  std::vector<Amount> multiplicity;
  IndexedVector<NodeId> parent;
  std::span<const NodeId> lent = {};  // instead of `parent`; the caller keeps it alive
  std::vector<NodeId> radices = {};

  std::size_t num_batches() const { return root.size(); }
  std::span<const NodeId> parents() const { return parent.empty() ? lent : std::span(parent); }
  std::span<const NodeId> parents(std::size_t batch) const {
    const auto items = static_cast<std::size_t>(num_items);
    return parents().subspan(batch * items, items);
  }
};

// The edges of a batch, level by level.
std::vector<std::pair<NodeId, NodeId>> parents_first(const Shape& shape, std::size_t batch);

// A forest by sets. The family determines the items of a set and the links behind its contracted
// edges, see contraction.hpp.
struct FactoredForest {
  NodeMap<Amount> trees;  // rooted at each node
  ArcColumns links;       // sorted by (tail, head), without duplicates; the capacity is the load
  Family family;
  IndexedVector<int> shape_of;  // of each set
  IndexedVector<Shape> shapes;
  ArcView lent = {};  // instead of `links`; the caller keeps them alive

  ArcView arcs() const { return lent.size() > 0 ? lent : links.view(); }
};

// Of links sorted by (tail, head), each once.
struct LinkEnds {
  Column<NodeId> tail, head;
};

// The packings of all sets, and the loads of the links.
struct SetPacking {
  std::optional<LinkEnds> ends;  // nothing if every link is as it was given
  Column<Amount> load;           // of each link
  IndexedVector<int> shape_of;   // of each set
  IndexedVector<Shape> shapes;
};

// Packs trees[v] spanning out-trees rooted at every node v, set by set. Links need not be sorted.
//
// With `thorough`, seconds may be spent on shallower trees. Sets of at least `rotated_from` items
// keep a vertex-transitive packing as the trees of item 0 and radices.
// Throws Infeasible if the graph cannot carry the trees or a set of the family is not tight.
SetPacking pack_sets(const ArcView& links, std::span<const Amount> trees, const Family& family,
                     Progress& progress, bool thorough = false,
                     int rotated_from = std::numeric_limits<int>::max());

// Throws InvalidInput unless the parts fit together and every batch, all of them written out, is a
// spanning out-tree. The assembly checks the invariant.
void check(const FactoredForest& forest);

}  // namespace forestcoll
