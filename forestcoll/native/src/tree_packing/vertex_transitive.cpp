// Vertex-transitive packing: trees of one root, moved to all others.
//
// Suppose that every translation of a group is a symmetry (translations.hpp). Move a tree T of root
// 0 to every root. The arc v -> v + g is then used once for each edge of T with offset g. So m such
// trees fit if together they have at most c(g) edges of offset g. If every node takes its parent
// from a node nearer to the root, any choice of offsets is a tree of least depth. It remains to
// distribute the offsets: one small flow for m equal trees. If they leave a remainder, m - 1 trees
// are equal and the last one makes up for it.
#include <algorithm>
#include <optional>
#include <utility>

#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

class Turning {
 public:
  Turning(const Translations& moves, Amount trees) : moves_(moves), trees_(trees) {
    for (const auto& offset : moves.offsets()) back_.push_back(rotated_back(offset.by));
    find_distances();
  }

  // Nothing if no trees of least depth fit.
  std::vector<Batch> trees_of_first() const {
    if (std::ranges::find(distance_, -1) != distance_.end()) return {};
    const NodeMap<NodeId> equal = tree_within(shares([](Amount) { return 0; }));
    if (!equal.empty()) return {{0, trees_, equal}};
    if (trees_ < 2) return {};
    for (const bool exactly : {true, false}) {
      const NodeMap<NodeId> most =
          tree_within(exactly ? rounded() : shares([&](Amount rest) { return rest > 0 ? 1 : 0; }));
      if (most.empty()) continue;
      const NodeMap<NodeId> last = tree_within(left_by(most));
      if (!last.empty()) return {{0, trees_ - 1, most}, {0, 1, last}};
    }
    return {};
  }

 private:
  NodeId nodes() const { return moves_.num_nodes(); }
  int num_offsets() const { return moves_.offsets().count(); }
  Amount capacity(int offset) const { return moves_.offsets()[offset].capacity; }

  // v - by, for every v.
  NodeMap<NodeId> rotated_back(NodeId by) const {
    return moves_.moved_by(moves_.difference(0, by));
  }

  void find_distances() {
    std::vector<NodeMap<NodeId>> moved;
    for (const auto& offset : moves_.offsets()) moved.push_back(moves_.moved_by(offset.by));
    distance_.assign(nodes(), -1);
    std::vector<NodeId> queue{0};
    distance_[0] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId from = queue[i];
      for (const auto& to : moved) {
        if (distance_[to[from]] >= 0) continue;
        distance_[to[from]] = distance_[from] + 1;
        queue.push_back(to[from]);
      }
    }
  }

  // The edges of each offset for every tree; `more` gives the addition for a remainder.
  template <typename More>
  std::vector<Amount> shares(More more) const {
    std::vector<Amount> shares;
    for (int g = 0; g < num_offsets(); ++g) {
      shares.push_back(capacity(g) / trees_ + more(capacity(g) % trees_));
    }
    return shares;
  }

  // The same, with one more for the largest remainders, until the counts add up to a tree.
  std::vector<Amount> rounded() const {
    std::vector<Amount> shares = this->shares([](Amount) { return 0; });
    std::vector<int> order;
    Amount missing = nodes() - 1;
    for (int g = 0; g < num_offsets(); ++g) {
      missing -= shares[static_cast<std::size_t>(g)];
      order.push_back(g);
    }
    std::ranges::stable_sort(order, {}, [&](int g) { return -(capacity(g) % trees_); });
    for (const int g : order) {
      if (missing-- > 0) ++shares[static_cast<std::size_t>(g)];
    }
    return shares;
  }

  // The edges of each offset that all trees but one leave.
  std::vector<Amount> left_by(const NodeMap<NodeId>& parent) const {
    IndexedVector<int> offset_of(nodes(), -1);
    for (int g = 0; g < num_offsets(); ++g) offset_of[moves_.offsets()[g].by] = g;
    std::vector<Amount> left;
    for (int g = 0; g < num_offsets(); ++g) left.push_back(capacity(g));
    for (NodeId v = 1; v < nodes(); ++v) {
      const int g = offset_of[moves_.difference(v, parent[v])];
      left[static_cast<std::size_t>(g)] -= trees_ - 1;
    }
    return left;
  }

  // Parents of a tree of least depth with at most so many edges of each offset; nothing if there is
  // none.
  NodeMap<NodeId> tree_within(const std::vector<Amount>& most) const {
    if (std::ranges::any_of(most, [](Amount amount) { return amount < 0; })) return {};
    const NodeId sink = nodes() + num_offsets();
    FlowNetwork network(sink + 1);
    NodeMap<Amount> supply(sink + 1, 0);
    for (NodeId v = 1; v < nodes(); ++v) {
      supply[v] = 1;
      for (int g = 0; g < num_offsets(); ++g) {
        if (distance_[back_[static_cast<std::size_t>(g)][v]] < distance_[v]) {
          network.add(v, nodes() + g, 1);
        }
      }
    }
    for (int g = 0; g < num_offsets(); ++g) {
      network.add(nodes() + g, sink, most[static_cast<std::size_t>(g)]);
    }
    WarmFlow flow(network, supply);
    if (flow.settle(sink) > 0) return {};
    NodeMap<NodeId> parent(nodes(), -1);
    for (NodeId v = 1; v < nodes(); ++v) {
      for (const int arc : network.arcs_of(v)) {
        if (flow.flow(arc) == 0) continue;
        parent[v] = back_[static_cast<std::size_t>(network.head(arc) - nodes())][v];
      }
    }
    return parent;
  }

  const Translations& moves_;
  Amount trees_;
  std::vector<NodeMap<NodeId>> back_;  // by offset
  NodeMap<int> distance_;              // from node 0; -1: out of reach
};

}  // namespace

void TransitivePacking::find_parents(std::size_t tree, const NodeMap<NodeId>& by_root,
                                     NodeMap<NodeId>& parent) const {
  const NodeMap<NodeId>& of_first = first[tree].parent;
  parent.resize(of_first.size());
  parent[by_root[0]] = -1;
  for (NodeId v = 1; v < of_first.count(); ++v) parent[by_root[v]] = by_root[of_first[v]];
}

std::vector<Amount> TransitivePacking::loads(const std::vector<Arc>& arcs) const {
  NodeMap<Amount> by_offset(moves.num_nodes(), 0);
  for (const Batch& tree : first) {
    for (NodeId v = 1; v < tree.parent.count(); ++v) {
      by_offset[moves.difference(v, tree.parent[v])] += tree.multiplicity;
    }
  }
  std::vector<Amount> loads;
  loads.reserve(arcs.size());
  for (const Arc& arc : arcs) loads.push_back(by_offset[moves.difference(arc.head, arc.tail)]);
  return loads;
}

std::optional<TransitivePacking> find_transitive_packing(const Graph& graph,
                                                         std::span<const Amount> trees) {
  const bool equal = is_open(Shortcut::kTurning) && std::ranges::all_of(trees, [&](Amount count) {
                       return count == trees[0] && count > 0;
                     });
  auto moves = equal ? find_translations(graph) : std::nullopt;
  if (!moves) return std::nullopt;
  std::vector<Batch> first = Turning(*moves, trees[0]).trees_of_first();
  if (first.empty()) return std::nullopt;
  return TransitivePacking{std::move(*moves), std::move(first)};
}

std::optional<std::vector<Batch>> pack_vertex_transitive(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress) {
  const auto found = find_transitive_packing(graph, trees);
  if (!found) return std::nullopt;
  std::vector<Batch> batches;
  batches.reserve(found->first.size() * trees.size());
  for (NodeId root = 0; root < graph.num_nodes; ++root) {
    progress(root, graph.num_nodes);
    const NodeMap<NodeId> by_root = found->moves.moved_by(root);
    for (std::size_t tree = 0; tree < found->first.size(); ++tree) {
      batches.push_back({root, found->first[tree].multiplicity, {}});
      found->find_parents(tree, by_root, batches.back().parent);
    }
  }
  return batches;
}

}  // namespace forestcoll
