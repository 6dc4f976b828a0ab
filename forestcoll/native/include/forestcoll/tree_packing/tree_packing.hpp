// Spanning out-trees in a graph without switches (ForestColl 5.4, E.3).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// `multiplicity` equal out-trees that span all nodes from the root; parent[root] is -1.
struct Batch {
  NodeId root;
  Amount multiplicity;
  NodeMap<NodeId> parent;

  bool operator==(const Batch&) const = default;
};

// Packs trees[v] spanning out-trees rooted at every node v so that no arc carries more trees than
// its capacity. Batches come sorted by root.
//
// Such a packing exists if every node set receives at least the trees rooted outside it
// (Theorem 7); throws Infeasible where it does not.
std::vector<Batch> pack(const Graph& graph, std::span<const Amount> trees, Progress& progress);

// The same, but seconds may be spent on shallower trees.
std::vector<Batch> pack_thoroughly(const Graph& graph, std::span<const Amount> trees,
                                   Progress& progress);

// The methods of `pack` but vertex-transitive packing.
std::vector<Batch> pack_without_symmetry(const Graph& graph, std::span<const Amount> trees,
                                         bool thorough, Progress& progress);

// One or two trees of node 0 that are a packing together with their images at all other roots.
struct TransitivePacking {
  Translations moves;
  std::vector<Batch> first;

  // Writes the parents of the image of a tree. `by_root` is v + root for every v.
  void find_parents(std::size_t tree, const NodeMap<NodeId>& by_root,
                    NodeMap<NodeId>& parent) const;

  // The trees that each arc of the graph carries: as many as all arcs of its offset.
  std::vector<Amount> loads(const std::vector<Arc>& arcs) const;
};

// Trees of least depth. Nothing if the graph does not look the same from all nodes
// (translations.hpp), roots differ in their trees, or no such trees fit.
std::optional<TransitivePacking> find_transitive_packing(const Graph& graph,
                                                         std::span<const Amount> trees);

// Vertex-transitive packing: the same, written out for every root.
std::optional<std::vector<Batch>> pack_vertex_transitive(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress);

// Breadth-first trees, one batch a root; nothing if they do not fit. Complete results are valid by
// construction, so this needs no connectivity test.
std::optional<std::vector<Batch>> pack_greedily(const Graph& graph, std::span<const Amount> trees);

// Trees through broadcasters (common/broadcasters.hpp); nothing if they do not fit, as in most
// graphs whose arcs were not made for them.
std::optional<std::vector<Batch>> pack_through_broadcasters(const Graph& graph,
                                                            std::span<const Amount> trees);

// Shortest-path trees, repaired and negotiated at the least depth at which they fit; nothing if
// they do not.
std::optional<std::vector<Batch>> pack_on_shortest_paths(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress);

// The same from trees grown by Prim's algorithm over congestion.
std::optional<std::vector<Batch>> pack_with_prim(const Graph& graph, std::span<const Amount> trees,
                                                 Progress& progress);

// Packs trees one by one, and takes trees back when the rest cannot be packed. Always succeeds on
// feasible input.
std::vector<Batch> pack_cut_guided(const Graph& graph, std::span<const Amount> trees,
                                   Progress& progress);

// Packs trees one by one; an edge joins a tree only if the unbuilt trees keep enough capacity.
// Always succeeds on feasible input, but may be slow.
std::vector<Batch> pack_exactly(const Graph& graph, std::span<const Amount> trees,
                                Progress& progress);

// The numbers of arcs by their ends. Arcs must be sorted by (tail, head), and outlive this.
class ArcRows {
 public:
  explicit ArcRows(std::span<const Arc> arcs);
  // -1 if there is no such arc.
  int find(NodeId tail, NodeId head) const {
    if (tail + 1 >= first_.count()) return -1;
    const std::size_t first = first_[tail], end = first_[tail + 1];
    // Most rows are so short that scanning one is faster than bisection.
    if (end - first > kShort) return find_in_long(first, end, head);
    for (std::size_t arc = first; arc < end; ++arc) {
      if (arcs_[arc].head == head) return static_cast<int>(arc);
    }
    return -1;
  }

 private:
  static constexpr std::size_t kShort = 16;

  int find_in_long(std::size_t first, std::size_t end, NodeId head) const;

  std::span<const Arc> arcs_;
  IndexedVector<std::size_t> first_;  // of each tail, and one past the last
};

// The trees that each arc carries. Arcs must be sorted by (tail, head) and hold every tree edge.
std::vector<Amount> loads(const std::vector<Arc>& arcs, const std::vector<Batch>& batches);

}  // namespace forestcoll
