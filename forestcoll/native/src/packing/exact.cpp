// One tree at a time, edge by edge. What is still to be built is the demand of the trees not yet
// started and one partial tree (R, m); the trees can all be finished as long as every node set X
// receives at least the unstarted trees rooted outside it, plus m if R lies outside it.
//
// Adding (x, y) to the partial tree at multiplicity m can break that for sets around y only, and
// those no longer wait for the partial tree. So it is safe if, with m taken off the edge, the
// unstarted trees can still reach y: one flow. Where only mu < m units are safe, the tree goes on
// with mu, and m - mu trees return to the demand and give their edges back; no auxiliary nodes
// are ever needed (compare Theorem 10).
#include <algorithm>
#include <memory>
#include <tuple>

#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"
#include "forestcoll/packing.hpp"

namespace forestcoll {

namespace {

struct Candidate {
  int arc;
  int depth;     // of the new node
  Amount bound;  // no more than this is safe, for as long as the tree grows
};

class ExactPacker {
 public:
  ExactPacker(const Graph& graph, std::span<const Amount> trees, Progress& progress)
      : progress_(progress),
        network_(graph),
        unstarted_(trees.begin(), trees.end()),
        flow_to_(trees.size()) {}

  std::vector<Batch> run() {
    for (const Amount trees : unstarted_) waiting_ += trees;
    const Amount all = waiting_;
    for (std::size_t root = 0; root < unstarted_.size(); ++root) {
      while (unstarted_[root] > 0) {
        grow(static_cast<NodeId>(root));
        progress_(all - waiting_, all);
      }
    }
    return std::move(batches_);
  }

 private:
  void grow(NodeId root) {
    tree_ = {root, unstarted_[static_cast<std::size_t>(root)],
             std::vector<NodeId>(unstarted_.size(), -1)};
    unstarted_[static_cast<std::size_t>(root)] = 0;
    waiting_ -= tree_.multiplicity;
    depth_.assign(unstarted_.size(), -1);
    edges_.clear();
    candidates_.clear();
    enter(root, 0);
    bool forgave = false;
    while (edges_.size() + 1 < unstarted_.size()) {
      if (extend()) continue;
      // Giving edges back can make a rejected edge safe again; once is enough.
      if (forgave) throw InternalError("no edge can extend a tree");
      forgave = true;
      reconsider();
    }
    batches_.push_back(tree_);
  }

  void enter(NodeId node, int depth) {
    depth_[static_cast<std::size_t>(node)] = depth;
    for (const int arc : network_.arcs_of(node)) consider(arc, depth + 1);
  }

  void consider(int arc, int depth) {
    if (network_.capacity(arc) > 0 && depth_[static_cast<std::size_t>(network_.head(arc))] < 0) {
      candidates_.push_back({arc, depth, network_.capacity(arc)});
    }
  }

  void reconsider() {
    candidates_.clear();
    for (std::size_t v = 0; v < depth_.size(); ++v) {
      if (depth_[v] >= 0) enter(static_cast<NodeId>(v), depth_[v]);
    }
  }

  // Adds the best safe edge to the tree. Bounds only fall while a tree grows, so the best
  // candidate by its bound is the best if the test confirms it.
  bool extend() {
    for (;;) {
      std::erase_if(candidates_, [this](Candidate& candidate) {
        candidate.bound = std::min(candidate.bound, network_.capacity(candidate.arc));
        return candidate.bound == 0 ||
               depth_[static_cast<std::size_t>(network_.head(candidate.arc))] >= 0;
      });
      if (candidates_.empty()) return false;
      Candidate& best = *std::ranges::max_element(candidates_, {}, [this](const Candidate& c) {
        const Amount whole = std::min(c.bound, tree_.multiplicity);
        return std::tuple{whole, -c.depth, network_.capacity(c.arc)};
      });
      const Amount hoped = std::min(best.bound, tree_.multiplicity);
      best.bound = safe_amount(best.arc, hoped);
      if (best.bound < hoped) continue;
      add(best.arc, best.depth, hoped);
      return true;
    }
  }

  // The most that the edge can carry of the partial tree, up to `hoped`.
  Amount safe_amount(int arc, Amount hoped) {
    const NodeId head = network_.head(arc);
    auto& flow = flow_to_[static_cast<std::size_t>(head)];
    if (!flow) flow = std::make_unique<WarmFlow>(network_, unstarted_);
    for (std::size_t v = 0; v < unstarted_.size(); ++v) {
      flow->set_supply(static_cast<NodeId>(v), unstarted_[v]);
    }
    const Amount capacity = network_.capacity(arc);
    network_.set_capacity(arc, capacity - hoped);
    flow->clip_all();
    const Amount shortage = flow->settle(head);
    network_.set_capacity(arc, capacity);
    return hoped - std::min(shortage, hoped);
  }

  void add(int arc, int depth, Amount amount) {
    if (amount < tree_.multiplicity) give_back(tree_.multiplicity - amount);
    network_.set_capacity(arc, network_.capacity(arc) - amount);
    const NodeId head = network_.head(arc);
    tree_.parent[static_cast<std::size_t>(head)] = network_.tail(arc);
    edges_.push_back(arc);
    enter(head, depth);
  }

  void give_back(Amount trees) {
    for (const int arc : edges_) network_.set_capacity(arc, network_.capacity(arc) + trees);
    unstarted_[static_cast<std::size_t>(tree_.root)] += trees;
    waiting_ += trees;
    tree_.multiplicity -= trees;
  }

  Progress& progress_;
  FlowNetwork network_;            // what is left of the capacities
  std::vector<Amount> unstarted_;  // trees to be started, by root
  std::vector<std::unique_ptr<WarmFlow>> flow_to_;
  Amount waiting_ = 0;
  Batch tree_;              // the partial tree
  std::vector<int> depth_;  // of its nodes; -1 outside
  std::vector<int> edges_;
  std::vector<Candidate> candidates_;
  std::vector<Batch> batches_;
};

}  // namespace

std::vector<Batch> pack_exactly(const Graph& graph, std::span<const Amount> trees,
                                Progress& progress) {
  return ExactPacker(graph, trees, progress).run();
}

}  // namespace forestcoll
