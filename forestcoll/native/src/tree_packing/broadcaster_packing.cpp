#include <algorithm>

#include "forestcoll/common/broadcasters.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

// One in so many pairs of nodes must have an arc, or broadcasters do not reach all nodes.
constexpr std::size_t kSparse = 2;

// What is left of each arc, by tail and head.
class Room {
 public:
  explicit Room(const Graph& graph)
      : size_(static_cast<std::size_t>(graph.num_nodes)), left_(size_ * size_, 0) {
    for (const Arc& arc : graph.arcs) at(arc.tail, arc.head) += arc.capacity;
  }

  // Whether there was room for all edges of the trees.
  bool take(const Batch& trees) {
    for (NodeId v = 0; v < trees.parent.count(); ++v) {
      if (trees.parent[v] < 0) continue;
      if ((at(trees.parent[v], v) -= trees.multiplicity) < 0) return false;
    }
    return true;
  }

 private:
  Amount& at(NodeId tail, NodeId head) {
    return left_[static_cast<std::size_t>(tail) * size_ + static_cast<std::size_t>(head)];
  }

  std::size_t size_;
  std::vector<Amount> left_;
};

}  // namespace

std::optional<std::vector<Batch>> pack_through_broadcasters(const Graph& graph,
                                                            std::span<const Amount> trees) {
  if (graph.arcs.size() * kSparse < trees.size() * trees.size()) return std::nullopt;
  std::vector<Amount> sent(trees.size(), 0);
  for (const Arc& arc : graph.arcs) sent[static_cast<std::size_t>(arc.tail)] += arc.capacity;
  const std::vector<BroadcastTrees> assigned = assign_broadcasters(sent, trees);
  if (assigned.empty()) return std::nullopt;
  Room room(graph);
  std::vector<Batch> batches;
  for (const BroadcastTrees& some : assigned) {
    batches.push_back({some.root, some.multiplicity, parents_of(some, graph.num_nodes)});
    if (!room.take(batches.back())) return std::nullopt;
  }
  std::ranges::stable_sort(batches, {}, &Batch::root);
  return batches;
}

}  // namespace forestcoll
