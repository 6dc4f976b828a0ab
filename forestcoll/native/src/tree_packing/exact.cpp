// Packs one tree at a time, edge by edge. The remaining demand is the unstarted trees and one
// partial tree (R, m). All trees can be finished as long as every node set X receives at least the
// unstarted trees rooted outside it, plus m if R lies outside it.
//
// Adding (x, y) to the partial tree at multiplicity m can break that only for sets around y, and
// those no longer wait for the partial tree. So it is safe if, with m taken off the edge, the
// unstarted trees can still reach y: one flow. If only mu < m units are safe, the tree continues
// with mu, and m - mu trees return to the demand and give their edges back. No auxiliary nodes are
// needed (compare Theorem 10).
//
// Each node keeps the flow of its last test and a position in the log of later changes, so a test
// repairs only what those changes broke.
#include <algorithm>
#include <memory>
#include <queue>
#include <tuple>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

struct Candidate {
  Amount whole;     // of the partial tree, as far as this edge is known to be safe
  int depth;        // of the new node
  Amount capacity;  // left on the arc
  int arc;
  Amount bound;  // no more than this is safe, for as long as the tree grows

  // Whole trees first, then shallow ones, then those that leave most.
  bool operator<(const Candidate& other) const {
    return std::tuple{whole, -depth, capacity, -arc} <
           std::tuple{other.whole, -other.depth, other.capacity, -other.arc};
  }
};

// A capacity that fell or a supply that changed.
struct Change {
  bool is_arc;
  int index;
};

class ExactPacker {
 public:
  ExactPacker(const Graph& graph, std::span<const Amount> trees, Progress& progress)
      : progress_(progress),
        network_(graph),
        unstarted_(trees.begin(), trees.end()),
        flow_to_(trees.size()),
        seen_(trees.size(), 0) {}

  std::vector<Batch> run() {
    for (const Amount trees : unstarted_) waiting_ += trees;
    const Amount all = waiting_;
    // Roots take turns, because the last roots would otherwise find only narrow remainders.
    while (waiting_ > 0) {
      const auto largest = std::ranges::max_element(unstarted_);
      grow(static_cast<NodeId>(largest - unstarted_.begin()), all);
    }
    return std::move(batches_);
  }

 private:
  void grow(NodeId root, Amount all) {
    tree_ = {root, unstarted_[root], NodeMap<NodeId>(unstarted_.size(), -1)};
    change_unstarted(root, -tree_.multiplicity);
    depth_.assign(unstarted_.size(), -1);
    edges_.clear();
    candidates_ = {};
    enter(root, 0);
    bool forgave = false;
    while (edges_.size() + 1 < unstarted_.size()) {
      progress_(all - waiting_, all);
      if (extend()) continue;
      // Returned edges can make a rejected edge safe again; once is enough.
      if (forgave) throw InternalError("no edge can extend a tree");
      forgave = true;
      reconsider();
    }
    batches_.push_back(tree_);
  }

  void enter(NodeId node, int depth) {
    depth_[node] = depth;
    for (const int arc : network_.arcs_of(node)) consider(arc, depth + 1);
  }

  void consider(int arc, int depth) {
    if (is_outside(network_.head(arc))) offer(arc, depth, network_.capacity(arc));
  }

  bool is_outside(NodeId node) const { return depth_[node] < 0; }

  void offer(int arc, int depth, Amount bound) {
    const Amount capacity = network_.capacity(arc);
    bound = std::min(bound, capacity);
    if (bound == 0) return;
    candidates_.push({std::min(bound, tree_.multiplicity), depth, capacity, arc, bound});
  }

  void reconsider() {
    candidates_ = {};
    for (NodeId v = 0; v < depth_.count(); ++v) {
      if (depth_[v] >= 0) enter(v, depth_[v]);
    }
  }

  // Adds the best safe edge to the tree. While a tree grows, candidates only get worse. So the best
  // recorded candidate is the best if its record is current and the test confirms it.
  bool extend() {
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      if (!is_outside(network_.head(best.arc))) continue;
      if (best.whole > tree_.multiplicity || best.capacity > network_.capacity(best.arc)) {
        offer(best.arc, best.depth, best.bound);
        continue;
      }
      const Amount safe = safe_amount(best.arc, best.whole);
      if (safe == best.whole) {
        add(best.arc, best.depth, safe);
        return true;
      }
      offer(best.arc, best.depth, safe);
    }
    return false;
  }

  // The most of the partial tree that the edge can carry, up to `hoped`.
  Amount safe_amount(int arc, Amount hoped) {
    const NodeId head = network_.head(arc);
    WarmFlow& flow = current_flow(head);
    const Amount capacity = network_.capacity(arc);
    network_.set_capacity(arc, capacity - hoped);
    flow.clip(arc);
    const Amount shortage = flow.settle(head);
    network_.set_capacity(arc, capacity);
    return hoped - std::min(shortage, hoped);
  }

  // The flow to a node, updated with the changes since its last use.
  WarmFlow& current_flow(NodeId node) {
    auto& flow = flow_to_[node];
    std::size_t& seen = seen_[node];
    if (!flow) {
      flow = std::make_unique<WarmFlow>(network_, unstarted_);
      seen = log_.size();
    }
    for (; seen < log_.size(); ++seen) {
      const auto [is_arc, index] = log_[seen];
      if (is_arc) {
        flow->clip(index);
      } else {
        flow->set_supply(index, unstarted_[index]);
      }
    }
    return *flow;
  }

  void add(int arc, int depth, Amount amount) {
    if (amount < tree_.multiplicity) give_back(tree_.multiplicity - amount);
    network_.set_capacity(arc, network_.capacity(arc) - amount);
    log_.push_back({true, arc});
    const NodeId head = network_.head(arc);
    tree_.parent[head] = network_.tail(arc);
    edges_.push_back(arc);
    enter(head, depth);
  }

  void give_back(Amount trees) {
    for (const int arc : edges_) network_.set_capacity(arc, network_.capacity(arc) + trees);
    change_unstarted(tree_.root, trees);
    tree_.multiplicity -= trees;
  }

  void change_unstarted(NodeId root, Amount by) {
    unstarted_[root] += by;
    waiting_ += by;
    log_.push_back({false, root});
  }

  Progress& progress_;
  FlowNetwork network_;        // what is left of the capacities
  NodeMap<Amount> unstarted_;  // trees to be started, by root
  NodeMap<std::unique_ptr<WarmFlow>> flow_to_;
  std::vector<Change> log_;
  NodeMap<std::size_t> seen_;  // of the log, by the flow to each node
  Amount waiting_ = 0;
  Batch tree_;          // the partial tree
  NodeMap<int> depth_;  // of its nodes; -1 outside
  std::vector<int> edges_;
  std::priority_queue<Candidate> candidates_;
  std::vector<Batch> batches_;
};

}  // namespace

std::vector<Batch> pack_exactly(const Graph& graph, std::span<const Amount> trees,
                                Progress& progress) {
  return ExactPacker(graph, trees, progress).run();
}

}  // namespace forestcoll
