// Trees under change: each node's parent and path, and the loads of the links.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forestcoll/bounded_depth/bounded_depth.hpp"
#include "forestcoll/bounded_depth/congestion.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Depth of a node without an edge: above all limits.
constexpr int kNoDepth = 1 << 30;

// Paths over switches from target to target, each stored once.
class PathPool {
 public:
  // The number of a path; `arcs` are in the order of travel.
  int number(const std::vector<int>& arcs);
  int count() const { return static_cast<int>(first_.size()) - 1; }
  const int* begin(int path) const { return arcs_.data() + first_[path]; }
  const int* end(int path) const { return arcs_.data() + first_[path + 1]; }

 private:
  IndexedVector<int> arcs_;
  IndexedVector<int> first_{std::vector<int>{0}};
  std::unordered_multimap<std::uint64_t, int> by_hash_;
};

// The network between targets.
struct LowNetwork {
  LowNetwork(const Graph& graph, const NodeMap<std::uint8_t>& is_target);

  // Hops from one rank to every other, and the rank before it on a shortest path.
  void distances(int root, IndexedVector<int>& hops, IndexedVector<int>& before) const;

  const Graph* graph;
  NodeMap<int> rank;                  // -1: a switch
  IndexedVector<NodeId> node;         // by rank
  NodeMap<std::vector<int>> in, out;  // arcs
  NodeMap<std::vector<int>> in_from_targets, in_from_switches;
};

// Invariant: load(a) is the trees of all batches whose edges run over a. Depths, and the depths
// below nodes, are those of the batch that was measured last.
class TreeState {
 public:
  TreeState(const LowNetwork& network, const Batches& batches);

  int batches() const { return root_.count(); }
  int size() const { return network_->node.count(); }
  int root(int batch) const { return root_[batch]; }
  Amount trees(int batch) const { return trees_[batch]; }
  int parent(int batch, int v) const { return parent_[at(batch, v)]; }
  int path(int batch, int v) const { return path_[at(batch, v)]; }
  Amount load(int arc) const { return load_[arc]; }
  PathPool& pool() { return pool_; }
  const PathPool& pool() const { return pool_; }

  // A node without an edge has parent -1 and path -1.
  void detach(int batch, int v);
  void attach(int batch, int v, int parent, int path);

  // Takes a tree apart; then `hang` rebuilds it from the root, with depths.
  void strip(int batch);
  void hang(int batch, int v, int parent, int path) {
    attach(batch, v, parent, path);
    depth_[v] = depth_[parent] + 1;
  }

  // The greatest number of trees on a link for its capacity.
  Congestion congestion() const;

  // Computes, for one batch, the depth of every node and of the subtree below it.
  void measure(int batch);
  int depth(int v) const { return depth_[v]; }
  int below(int v) const { return below_[v]; }
  // Whether u is v or below it, in the batch measured last.
  bool is_below(int batch, int u, int v) const;

  // A state to return to.
  struct Saved {
    std::vector<int> parent, path;
    std::vector<Amount> load;
  };
  Saved save() const { return {parent_, path_, load_}; }
  void restore(const Saved& saved);

 private:
  std::size_t at(int batch, int v) const {
    return static_cast<std::size_t>(batch) * network_->node.size() + static_cast<std::size_t>(v);
  }
  void carry(int path, Amount trees);

  const LowNetwork* network_;
  PathPool pool_;
  IndexedVector<int> root_;
  IndexedVector<Amount> trees_;
  IndexedVector<int> parent_, path_;
  IndexedVector<Amount> load_;
  IndexedVector<int> depth_, below_, order_, first_child_, next_child_;
};

}  // namespace forestcoll
