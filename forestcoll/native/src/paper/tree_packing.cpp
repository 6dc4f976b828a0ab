// Algorithm 4: root sets R grow edge by edge. An edge takes as many trees of a batch as leave every
// cut enough for all others (Theorem 10). The other trees stay behind as a batch of their own.
// Before and after every step c(S, rest) >= p(S), the trees of the batches inside S, for every node
// set S but the whole.
//
// Edges are tried breadth first from the root. A refused edge stays refused: a set without surplus
// never gets anything back, and a batch that reaches out of it does so until it spans. The same
// holds for copies, so each edge is asked for once for a batch and its copies.
#include <algorithm>
#include <numeric>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/paper/paper.hpp"

namespace forestcoll::paper {

namespace {

// A batch in progress: (R, E(R), m(R)) and the next edge to try, arc `next` of reached[at].
struct Growing {
  Batch batch;
  std::vector<NodeId> reached;  // R in the order of joining, the root first
  NodeMap<std::uint8_t> holds;
  std::size_t at = 0;
  std::size_t next = 0;
};

class Packing {
 public:
  Packing(const Graph& graph, const NodeMap<Amount>& trees, Progress& progress)
      : heads_(trees.size()),
        network_(graph.num_nodes),
        all_(std::accumulate(trees.begin(), trees.end(), Amount{0})),
        progress_(progress) {
    for (const Arc& arc : graph.arcs) {
      heads_[arc.tail].push_back({arc.head, network_.add(arc.tail, arc.head, arc.capacity)});
    }
    // The last is grown first.
    for (NodeId root = graph.num_nodes; root-- > 0;) {
      if (trees[root] == 0) continue;
      Growing tree{{root, trees[root], NodeMap<NodeId>(trees.size(), -1)},
                   {root},
                   std::vector<std::uint8_t>(trees.size(), 0)};
      tree.holds[root] = 1;
      unfinished_.push_back(std::move(tree));
    }
  }

  // The paper leaves the order of batches open. Copies are finished before the next root, so that
  // few batches are partial at a time and the networks stay small.
  std::vector<Batch> run() {
    while (!unfinished_.empty()) {
      Growing tree = std::move(unfinished_.back());
      unfinished_.pop_back();
      grow(tree);
      built_ += tree.batch.multiplicity;
      finished_.push_back(std::move(tree.batch));
    }
    return std::move(finished_);
  }

 private:
  struct Edge {
    NodeId head;
    int arc;
  };

  void grow(Growing& tree) {
    while (tree.reached.size() < heads_.size()) {
      if (tree.at == tree.reached.size()) throw InternalError("no edge can extend a tree");
      const NodeId x = tree.reached[tree.at];
      const auto& edges = heads_[x];
      if (tree.next == edges.size()) {
        ++tree.at;
        tree.next = 0;
        continue;
      }
      const Edge edge = edges[tree.next++];
      if (tree.holds[edge.head]) continue;
      const Amount amount = addable(tree, x, edge);
      if (amount > 0) add(tree, x, edge, amount);
    }
  }

  // Theorem 10's mu: F(x, y) in the network with a node for every other batch, fed from x and
  // feeding its root set, minus the trees of these batches. Batches that hold y add equally to both
  // and are left out, finished ones among them.
  Amount addable(const Growing& tree, NodeId x, const Edge& edge) {
    const Amount most = std::min(network_.capacity(edge.arc), tree.batch.multiplicity);
    if (most == 0) return 0;
    progress_(built_, all_);
    const MaxFlow::Mark mark = network_.mark();
    Amount rooted = 0;
    for (const Growing& other : unfinished_) {
      if (other.holds[edge.head]) continue;
      rooted += other.batch.multiplicity;
      const NodeId node = network_.add_node();
      network_.add(x, node, other.batch.multiplicity);
      for (const NodeId r : other.reached) network_.add(node, r, other.batch.multiplicity);
    }
    const Amount value = network_.run(x, edge.head, rooted + most);
    network_.rewind(mark);
    return value - rooted;
  }

  void add(Growing& tree, NodeId x, const Edge& edge, Amount amount) {
    if (amount < tree.batch.multiplicity) {
      unfinished_.push_back(tree);
      unfinished_.back().batch.multiplicity -= amount;
      tree.batch.multiplicity = amount;
    }
    tree.batch.parent[edge.head] = x;
    tree.reached.push_back(edge.head);
    tree.holds[edge.head] = 1;
    network_.set_capacity(edge.arc, network_.capacity(edge.arc) - amount);
  }

  NodeMap<std::vector<Edge>> heads_;
  MaxFlow network_;  // g, what is left of the capacities
  Amount all_;
  Progress& progress_;
  Amount built_ = 0;
  std::vector<Growing> unfinished_;  // all but the one that grows
  std::vector<Batch> finished_;
};

}  // namespace

std::vector<Batch> pack_trees(const Graph& graph, const NodeMap<Amount>& trees, Progress progress) {
  const Demand demand{trees, std::vector<std::uint8_t>(trees.size(), 1)};
  check(graph, demand);
  require_carries(graph, demand);
  return Packing(graph, trees, progress).run();
}

}  // namespace forestcoll::paper
