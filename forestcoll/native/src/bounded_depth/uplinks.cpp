#include "forestcoll/bounded_depth/uplinks.hpp"

#include <cstddef>

namespace forestcoll {

Uplinks::Uplinks(const LowNetwork& network, const TreeState& state, const Prices& prices,
                 int tree_depth)
    : network_(network),
      state_(state),
      prices_(prices),
      max_depth_(tree_depth),
      known_(network.graph->num_nodes) {}

void Uplinks::look(NodeId into, Amount trees, std::vector<Offer>& best) {
  best.assign(static_cast<std::size_t>(max_depth_), {});
  const std::vector<int>& all = network_.in_from_targets[into];
  // A young tree has few inner nodes: their out-links are fewer than the switch's in-links.
  if (!inner_.empty() && 8 * inner_.size() < all.size()) {
    looks_ += static_cast<std::int64_t>(inner_.size());
    for (const int u : inner_) {
      for (const int arc : network_.out[network_.node[u]]) {
        if (network_.graph->arcs[arc].head == into) consider(arc, trees, best);
      }
    }
  } else {
    looks_ += static_cast<std::int64_t>(all.size());
    for (const int arc : all) consider(arc, trees, best);
  }
  // An offer from a parent nearer to the root is also valid at every greater depth.
  for (std::size_t depth = 1; depth < best.size(); ++depth) {
    if (best[depth - 1].price <= best[depth].price) best[depth] = best[depth - 1];
  }
}

void Uplinks::consider(int arc, Amount trees, std::vector<Offer>& best) const {
  const int u = network_.rank[network_.graph->arcs[arc].tail], depth = state_.depth(u);
  if (depth >= max_depth_) return;
  Offer& known = best[static_cast<std::size_t>(depth)];
  const Amount cost = prices_.price(arc, trees);
  if (cost < known.price || (cost == known.price && u < known.parent)) known = {cost, u, arc};
}

void Uplinks::forget(int path) {
  const PathPool& pool = state_.pool();
  for (const int* arc = pool.begin(path); arc != pool.end(path); ++arc) {
    known_[network_.graph->arcs[*arc].head].version = -1;
  }
}

void Uplinks::begin_growth(int root) {
  forget();
  inner_.assign(1, root);
}

void Uplinks::join(int v, int path) {
  forget(path);
  if (state_.depth(v) >= max_depth_) return;
  inner_.push_back(v);
  for (const int arc : network_.out[network_.node[v]]) {
    known_[network_.graph->arcs[arc].head].version = -1;
  }
}

}  // namespace forestcoll
