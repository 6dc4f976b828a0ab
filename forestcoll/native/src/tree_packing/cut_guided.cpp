// Packs one tree at a time, edge by edge, as in exact.cpp, but known cuts decide whether an edge is
// safe, not a flow.
//
// A violation of an unknown cut shows later: after some trees, one pass of flows over all nodes
// decides whether the rest can still be packed. If not, the pass finds overdrawn cuts. They are
// known from then on, and the trees since the first that overdrew one are taken back. So a pass
// serves many trees, and in dense networks few cuts ever matter.
//
// Invariant: the rest after the first `checked_` trees can be packed, and KnownCuts holds the
// surplus of every known cut.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/tree_packing/known_cuts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

// An edge into a node that the partial tree may take.
//
// Whole trees come first, then those within the free depth, then those on much wider arcs, then
// shallow ones. If the first trees were as shallow as possible, they would use up the narrow arcs
// that lead everywhere. The last trees would then be chains over the wide arcs.
struct Edge {
  Amount whole = 0;         // of the partial tree, as far as the edge is known to be safe
  std::uint64_t merit = 0;  // see below
  Amount capacity = 0;      // left on the arc
  int arc = -1;             // -1: none

  bool operator<(const Edge& other) const {
    if (whole != other.whole) return whole < other.whole;
    if (merit != other.merit) return merit < other.merit;
    if (capacity != other.capacity) return capacity < other.capacity;
    return arc > other.arc;
  }
};

// The merit of a depth and a capacity in one number. The excess over the free depth counts first,
// then the magnitude of the capacity, then the depth. Each has bits of its own, with enough for any
// depth of a tree.
class DepthMerit {
 public:
  DepthMerit(int depth, int free)
      : of_depth_((kDeepest - static_cast<std::uint64_t>(std::max(0, depth - free)))
                      << (kDepthBits + kMagnitudeBits) |
                  (kDeepest - static_cast<std::uint64_t>(depth))) {}

  std::uint64_t with(Amount capacity) const {
    const auto magnitude = std::bit_width(static_cast<std::uint64_t>(capacity));
    return of_depth_ | static_cast<std::uint64_t>(magnitude) << kDepthBits;
  }

 private:
  static constexpr int kDepthBits = 28, kMagnitudeBits = 7;
  static constexpr std::uint64_t kDeepest = (std::uint64_t{1} << kDepthBits) - 1;

  std::uint64_t of_depth_;
};

// If so many passes in a row had to learn cuts, the rest is small and tight, and the exact packer
// finishes it sooner.
constexpr int kMostStalled = 32;

constexpr Edge kNoEdge;

// The entries of a tree into a set beyond the one that it must make.
Amount further_entries(const Batch& tree, const NodeSet& set) {
  Amount entries = set[tree.root] ? 0 : -1;
  for (std::size_t v = 0; v < tree.parent.size(); ++v) {
    const NodeId parent = tree.parent[v];
    if (parent >= 0 && set[v] && !set[parent]) ++entries;
  }
  return entries;
}

// An order of the nodes in which each is, if possible, next to an earlier one over a wide arc. So
// the flow to one moves a short way to the next. Depth first in widest spanning trees.
std::vector<NodeId> along_wide_arcs(NodeId num_nodes, const std::vector<Arc>& arcs) {
  NodeMap<std::vector<Arc>> out(num_nodes);
  for (const Arc& arc : arcs) out[arc.tail].push_back(arc);
  NodeMap<std::uint8_t> spanned(num_nodes, 0);
  NodeMap<std::vector<NodeId>> children(num_nodes);
  const auto narrower = [](const Arc& a, const Arc& b) {
    return std::tuple{a.capacity, -a.head, -a.tail} < std::tuple{b.capacity, -b.head, -b.tail};
  };
  std::priority_queue<Arc, std::vector<Arc>, decltype(narrower)> open(narrower);
  const auto span = [&](NodeId node) {
    spanned[node] = 1;
    for (const Arc& arc : out[node]) open.push(arc);
  };
  std::vector<NodeId> starts;  // a node may reach none of the others
  for (NodeId start = 0; start < num_nodes; ++start) {
    if (spanned[start]) continue;
    starts.push_back(start);
    span(start);
    while (!open.empty()) {
      const Arc widest = open.top();
      open.pop();
      if (spanned[widest.head]) continue;
      children[widest.tail].push_back(widest.head);
      span(widest.head);
    }
  }
  std::vector<NodeId> order, stack(starts.rbegin(), starts.rend());
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    order.push_back(node);
    const auto& below = children[node];
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
  return order;
}

class CutGuidedPacker {
 public:
  CutGuidedPacker(const Graph& graph, std::span<const Amount> trees, Progress& progress)
      : progress_(progress),
        arcs_(merged(graph.arcs)),
        first_out_(trees.size() + 1, 0),
        in_(trees.size()),
        unstarted_(trees.begin(), trees.end()),
        waiting_(std::accumulate(trees.begin(), trees.end(), Amount{0})),
        cuts_(graph.num_nodes),
        window_(trees.size()),
        sinks_(along_wide_arcs(graph.num_nodes, arcs_)) {
    for (int arc = 0; arc < arcs_.count(); ++arc) {
      ++first_out_[arcs_[arc].tail + 1];
      in_[arcs_[arc].head].push_back(arc);
    }
    std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
  }

  std::vector<Batch> run() {
    const Amount all = waiting_;
    int stalled = 0;  // passes in a row without progress
    while (waiting_ > 0) {
      progress_(all - waiting_, all);
      // Roots take turns, because the last roots would otherwise find only narrow remainders.
      const auto largest = std::ranges::max_element(unstarted_);
      const bool spans = grow(static_cast<NodeId>(largest - unstarted_.begin()));
      if (spans && (waiting_ == 0 || trees_.size() < checked_ + window_)) continue;
      if (check()) {
        checked_ = trees_.size();
        stalled = 0;
        window_ = std::min(2 * window_, unstarted_.size());
      } else {
        window_ = std::max<std::size_t>(1, window_ / 2);
        if (++stalled > kMostStalled) break;
      }
    }
    if (waiting_ > 0) pack_rest();
    return std::move(trees_);
  }

 private:
  void pack_rest() {
    while (trees_.size() > checked_) take_back_last();
    for (Batch& tree : pack_exactly({num_nodes(), arcs_}, unstarted_, progress_)) {
      trees_.push_back(std::move(tree));
    }
  }

  NodeId num_nodes() const { return unstarted_.count(); }
  bool is_partial() const { return edges_.size() + 1 < unstarted_.size(); }
  bool is_outside(NodeId node) const { return depth_[node] < 0; }
  Arc& arc(int index) { return arcs_[index]; }

  // --- growing a tree ---

  // False if the known cuts do not let the tree span; it stays partial then.
  bool grow(NodeId root) {
    tree_ = {root, unstarted_[root], NodeMap<NodeId>(unstarted_.size(), -1)};
    start(root, tree_.multiplicity);
    depth_.assign(unstarted_.size(), -1);
    edges_.clear();
    best_.assign(unstarted_.size(), kNoEdge);
    cuts_.begin(root);
    outside_.clear();
    for (NodeId v = 0; v < num_nodes(); ++v) {
      if (v != root) outside_.push_back(v);
    }
    enter(root, 0);
    while (is_partial()) {
      if (!extend()) return false;
    }
    trees_.push_back(tree_);
    return true;
  }

  void start(NodeId root, Amount trees) {
    unstarted_[root] -= trees;
    waiting_ -= trees;
  }

  void enter(NodeId node, int depth) {
    depth_[node] = depth;
    const DepthMerit merit = merit_at(depth + 1);
    for (std::size_t i = first_out_[node]; i < first_out_[node + 1]; ++i) {
      const auto& [_, head, capacity] = arcs_[i];
      if (!is_outside(head) || capacity == 0) continue;
      const Amount whole = clipped(capacity);
      Edge& best = best_[head];
      if (whole < best.whole && whole < tree_.multiplicity) continue;
      const Edge edge{whole, merit.with(capacity), capacity, static_cast<int>(i)};
      best.whole = clipped(best.whole);
      if (best < edge) best = edge;
    }
  }

  // Trees with two children at every node reach all nodes within the free depth.
  DepthMerit merit_at(int depth) const {
    return {depth, static_cast<int>(std::bit_width(unstarted_.size()))};
  }

  Amount clipped(Amount whole) const { return std::min(whole, tree_.multiplicity); }

  // Adds the best edge to the tree; false if the known cuts allow none. An edge only gets worse
  // while a tree grows, so an edge that is still as good as recorded is the best.
  bool extend() {
    for (;;) {
      std::size_t place = 0;
      Edge best = kNoEdge;
      for (std::size_t i = 0; i < outside_.size(); ++i) {
        Edge& edge = best_[outside_[i]];
        edge.whole = clipped(edge.whole);
        if (!(best < edge)) continue;
        best = edge;
        place = i;
      }
      if (best.whole == 0) return false;
      const NodeId head = outside_[place];
      if (safe(best.arc) == best.whole) {
        outside_[place] = outside_.back();
        outside_.pop_back();
        add(best);
        return true;
      }
      best_[head] = best_into(head);
    }
  }

  // The most of the partial tree that the known cuts allow on an arc.
  Amount safe(int index) const {
    const auto& [tail, head, capacity] = arcs_[index];
    return cuts_.safe(tail, head, std::min(tree_.multiplicity, capacity));
  }

  Edge best_into(NodeId head) {
    Edge best = kNoEdge;
    for (const int index : in_[head]) {
      const NodeId tail = arc(index).tail;
      if (is_outside(tail)) continue;
      const Amount capacity = arc(index).capacity;
      const DepthMerit merit = merit_at(depth_[tail] + 1);
      Edge found{clipped(capacity), merit.with(capacity), capacity, index};
      if (found < best) continue;  // cuts can only make it worse
      found.whole = safe(index);
      if (found.whole > 0) best = std::max(best, found);
    }
    return best;
  }

  void add(const Edge& edge) {
    if (edge.whole < tree_.multiplicity) give_back(tree_.multiplicity - edge.whole);
    auto& [tail, head, capacity] = arc(edge.arc);
    capacity -= edge.whole;
    cuts_.enter(tail, head, edge.whole);
    tree_.parent[head] = tail;
    edges_.push_back(edge.arc);
    enter(head, depth_[tail] + 1);
  }

  void give_back(Amount trees) {
    for (const int index : edges_) arc(index).capacity += trees;
    cuts_.give_back(trees);
    start(tree_.root, -trees);
    tree_.multiplicity -= trees;
  }

  // --- looking for unknown cuts ---

  // Whether the rest, with the partial tree if there is one, can still be packed. If not, or if the
  // tree is partial, it is taken back, and so are all trees that overdrew a cut.
  bool check() {
    const std::vector<NodeSet> overdrawn = overdrawn_sets();
    const bool partial = is_partial();
    if (partial) give_back(tree_.multiplicity);
    if (overdrawn.empty() && !partial) return true;
    std::vector<Amount> surplus;
    for (const NodeSet& set : overdrawn) surplus.push_back(surplus_of(set));
    while (std::ranges::any_of(surplus, [](Amount amount) { return amount < 0; })) {
      if (trees_.size() == checked_) throw InternalError("a cut of a feasible rest is overdrawn");
      // A tree that is taken back returns its further entries to the surplus of each set.
      for (std::size_t i = 0; i < overdrawn.size(); ++i) {
        surplus[i] += trees_.back().multiplicity * further_entries(trees_.back(), overdrawn[i]);
      }
      take_back_last();
    }
    for (std::size_t i = 0; i < overdrawn.size(); ++i) cuts_.add(overdrawn[i], surplus[i]);
    return false;
  }

  // Sets that receive too little: the largest and the smallest around each node whose flow falls
  // short. The partial tree is a node of its own that reaches all of its nodes.
  std::vector<NodeSet> overdrawn_sets() const {
    Graph graph{num_nodes() + 1, {}};
    std::ranges::copy_if(arcs_, std::back_inserter(graph.arcs),
                         [](const Arc& arc) { return arc.capacity > 0; });
    FlowNetwork network(graph);
    std::vector<Amount> supply = unstarted_;
    supply.push_back(is_partial() ? tree_.multiplicity : 0);
    for (NodeId v = 0; is_partial() && v < num_nodes(); ++v) {
      if (!is_outside(v)) network.add(num_nodes(), v, tree_.multiplicity);
    }
    WarmFlow flow(network, supply);
    std::vector<NodeSet> sets;
    const auto found = [&](NodeSet set) {
      set.pop_back();
      if (std::ranges::find(sets, set) == sets.end()) sets.push_back(std::move(set));
    };
    for (const NodeId v : sinks_) {
      if (flow.settle(v) == 0) continue;
      NodeSet largest = flow.source_side();
      for (auto& in : largest) in = in == 0;
      found(std::move(largest));
      NodeSet smallest(supply.size(), 0);
      for (const NodeId u : flow.reaching(v)) smallest[u] = 1;
      found(std::move(smallest));
    }
    return sets;
  }

  Amount surplus_of(const NodeSet& set) const {
    Amount surplus = 0;
    for (std::size_t v = 0; v < set.size(); ++v) {
      if (!set[v]) surplus -= unstarted_[v];
    }
    for (const auto& [tail, head, capacity] : arcs_) {
      if (set[head] && !set[tail]) {
        surplus += capacity;
      }
    }
    return surplus;
  }

  void take_back_last() {
    const Batch tree = std::move(trees_.back());
    trees_.pop_back();
    cuts_.begin(tree.root);
    NodeMap<std::vector<NodeId>> children(tree.parent.size());
    for (NodeId v = 0; v < num_nodes(); ++v) {
      const NodeId parent = tree.parent[v];
      if (parent >= 0) children[parent].push_back(v);
    }
    std::vector<NodeId> order{tree.root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const NodeId child : children[order[i]]) {
        arc_between(order[i], child).capacity += tree.multiplicity;
        cuts_.enter(order[i], child, -tree.multiplicity);
        order.push_back(child);
      }
    }
    start(tree.root, -tree.multiplicity);
  }

  Arc& arc_between(NodeId tail, NodeId head) {
    const auto row =
        std::span(arcs_).subspan(first_out_[tail], first_out_[tail + 1] - first_out_[tail]);
    return *std::ranges::lower_bound(row, head, {}, &Arc::head);
  }

  Progress& progress_;
  IndexedVector<Arc> arcs_;  // by tail and head, with what is left of the capacities
  IndexedVector<std::size_t> first_out_;
  NodeMap<std::vector<int>> in_;
  NodeMap<Amount> unstarted_;  // trees to be started, by root
  Amount waiting_;             // the sum of these
  std::vector<Batch> trees_;
  std::size_t checked_ = 0;  // trees after which the rest is known to be feasible
  KnownCuts cuts_;
  std::size_t window_;  // trees between two passes

  std::vector<NodeId> sinks_;  // in the order of a pass

  Batch tree_;                   // the partial tree
  NodeMap<int> depth_;           // of its nodes; -1 outside
  std::vector<NodeId> outside_;  // the others
  std::vector<int> edges_;
  NodeMap<Edge> best_;  // into each node outside
};

}  // namespace

std::vector<Batch> pack_cut_guided(const Graph& graph, std::span<const Amount> trees,
                                   Progress& progress) {
  return CutGuidedPacker(graph, trees, progress).run();
}

}  // namespace forestcoll
