// A forest in factored form: the trees of every tight set by itself, and the links between them.
//
// In a tight set X the trees rooted at a child c number q(c) plus what enters c from outside X:
// each tree that starts in c or comes in at c spans the children of X once. So the packings of all
// sets together stand for trees of the whole graph (see assembly.hpp), in far less room: equal
// sets share one packing.
//
// Invariant: a link's capacity is its load, the trees that use it, exactly. For every set, the
// trees of its packing that use a contracted edge number the loads of the links behind that edge,
// and those rooted at an item number q(item) plus the loads that enter the item from outside the
// set. Then every assembly works out and spends every tree and every load (by induction from the
// whole graph inwards: a tree starts in a set or enters it over exactly one link).
#pragma once

#include <span>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// Spanning out-trees of a number of items, in batches: `multiplicity[b]` equal trees from root[b],
// with parents parent[b * num_items] and following (-1 at the root).
struct Shape {
  int num_items = 0;
  std::vector<NodeId> root;
  std::vector<Amount> multiplicity;
  IndexedVector<NodeId> parent;
  std::span<const NodeId> lent = {};  // instead of `parent`, by whoever keeps it alive

  std::size_t num_batches() const { return root.size(); }
  std::span<const NodeId> parents() const { return parent.empty() ? lent : std::span(parent); }
  std::span<const NodeId> parents(std::size_t batch) const {
    const auto items = static_cast<std::size_t>(num_items);
    return parents().subspan(batch * items, items);
  }
};

// The items of a set and the links behind its contracted edges follow from the family, see
// contraction.hpp.
struct FactoredForest {
  NodeMap<Amount> trees;     // rooted at each node
  IndexedVector<Arc> links;  // sorted by (tail, head), none twice; the capacity is the load
  Family family;
  IndexedVector<int> shape_of;  // of each set
  IndexedVector<Shape> shapes;
};

// Packs trees[v] spanning out-trees rooted at every node v, set by set.
//
// With patience trees may become lower, in some seconds.
// Throws Infeasible if the graph cannot carry the trees or a set of the family is not tight.
FactoredForest pack_sets(const Graph& graph, std::span<const Amount> trees, const Family& family,
                         Progress& progress, bool thorough = false);

// Throws InvalidInput unless the parts fit together and every batch is a spanning out-tree. The
// invariant is left to the assembly.
void check(const FactoredForest& forest);

}  // namespace forestcoll
