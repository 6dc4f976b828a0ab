// All trees at once, node by node. If every node takes its parent from nodes nearer to the root,
// any choice of parents is a tree, so the choices at different nodes are independent. At each node
// the batches with the fewest choices come first and take the emptiest in-arc. Overloads are then
// repaired, first among nearer nodes, which keeps all trees as shallow as the distances, and at
// last with any parents.
#include <numeric>
#include <utility>

#include "forestcoll/tree_packing/repair.hpp"
#include "forestcoll/tree_packing/starts.hpp"

namespace forestcoll {

namespace {

// Arcs that can carry a tree, by tail.
class OutArcs {
 public:
  explicit OutArcs(const Graph& graph) : first_(graph.num_nodes + 1, 0) {
    for (const Arc& arc : graph.arcs) {
      if (arc.capacity > 0) ++first_[arc.tail + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    heads_.resize(first_.back());
    NodeMap<std::size_t> next = first_;
    for (const Arc& arc : graph.arcs) {
      if (arc.capacity > 0) heads_[next[arc.tail]++] = arc.head;
    }
  }
  std::span<const NodeId> heads(NodeId tail) const {
    return std::span(heads_).subspan(first_[tail], first_[tail + 1] - first_[tail]);
  }

 private:
  NodeMap<std::size_t> first_;
  std::vector<NodeId> heads_;
};

// Sets the depths to the hops from each root; false if a node is out of reach.
bool measure_distances(PartialPacking& packing) {
  const OutArcs out(packing.graph());
  const auto nodes = static_cast<std::size_t>(packing.num_nodes());
  std::vector<int> depths(nodes * static_cast<std::size_t>(packing.num_batches()), -1);
  std::vector<NodeId> queue;
  for (int batch = 0; batch < packing.num_batches(); ++batch) {
    const auto hops = std::span(depths).subspan(static_cast<std::size_t>(batch) * nodes, nodes);
    const auto depth = [&](NodeId node) -> int& { return hops[static_cast<std::size_t>(node)]; };
    depth(packing.root(batch)) = 0;
    queue.assign(1, packing.root(batch));
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const int next = depth(queue[i]) + 1;
      for (const NodeId u : out.heads(queue[i])) {
        if (depth(u) >= 0) continue;
        depth(u) = next;
        queue.push_back(u);
      }
    }
    if (queue.size() < nodes) return false;
  }
  packing.set_depths(std::move(depths));
  return true;
}

// The in-arcs by which a node is reached from nearer nodes, batch by batch. Depths are read arc by
// arc, in the order of storage.
class Nearer {
 public:
  Nearer(PartialPacking& packing, NodeId node) : packing_(packing), own_(packing.depths_of(node)) {
    for (const int arc : packing.in_arcs(node)) {
      if (packing.arc(arc).capacity == 0) continue;
      choices_.push_back({arc, packing.left(arc), packing.depths_of(packing.arc(arc).tail).data()});
    }
  }

  // The batches that have a choice, those with few choices first.
  std::vector<int> in_order() const {
    std::vector<int> count(own_.size(), 0);
    for (const Choice& choice : choices_) {
      for (std::size_t batch = 0; batch < own_.size(); ++batch) {
        count[batch] += choice.depths[batch] < own_[batch] ? 1 : 0;
      }
    }
    IndexedVector<std::size_t> first(choices_.size() + 2, 0);
    for (const int choices : count) ++first[choices + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    const std::size_t rooted = first[1];  // here, without a choice
    std::vector<int> order(own_.size() - rooted);
    for (std::size_t batch = 0; batch < own_.size(); ++batch) {
      if (count[batch] > 0) order[first[count[batch]]++ - rooted] = static_cast<int>(batch);
    }
    return order;
  }

  // Gives the batch the emptiest of these in-arcs.
  void attach(int batch) {
    const auto at = static_cast<std::size_t>(batch);
    Choice* best = nullptr;
    for (Choice& choice : choices_) {
      if (choice.depths[at] >= own_[at]) continue;
      if (best == nullptr || choice.left > best->left) best = &choice;
    }
    packing_.attach(batch, best->arc);
    best->left -= packing_.multiplicity(batch);
  }

 private:
  struct Choice {
    int arc;
    Amount left;        // of its capacity
    const int* depths;  // of its tail, by batch
  };

  PartialPacking& packing_;
  std::span<const int> own_;
  std::vector<Choice> choices_;
};

void place(PartialPacking& packing, NodeId node) {
  Nearer nearer(packing, node);
  for (const int batch : nearer.in_order()) nearer.attach(batch);
}

}  // namespace

bool start_on_shortest_paths(PartialPacking& packing, std::span<const Amount> trees,
                             Progress& progress) {
  for (std::size_t root = 0; root < trees.size(); ++root) {
    if (trees[root] > 0) packing.add(static_cast<NodeId>(root), trees[root]);
  }
  if (!measure_distances(packing)) return false;
  for (NodeId v = 0; v < packing.num_nodes(); ++v) {
    progress(v, packing.num_nodes());
    place(packing, v);
    repair(packing, v, {Rule::Change::kNotDeeper, 0, true});
  }
  return true;
}

}  // namespace forestcoll
