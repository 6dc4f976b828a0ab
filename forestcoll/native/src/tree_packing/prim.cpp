#include "forestcoll/tree_packing/prim.hpp"

#include <limits>

#include "forestcoll/tree_packing/starts.hpp"

namespace forestcoll {

namespace {

// Steps of the price between an empty and a full arc, and the price above a full one.
constexpr Amount kSteps = 8;
constexpr Amount kOverload = 4 * kSteps;

constexpr std::pair kNone{std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::max()};

}  // namespace

Prim::Prim(PartialPacking& packing)
    : packing_(packing), out_(packing.num_nodes()), surcharge_(packing.graph().arcs.size(), 0) {
  for (int arc = 0; arc < surcharge_.count(); ++arc) {
    const Arc& a = packing.graph().arcs[arc];
    if (a.capacity > 0) out_[a.tail].push_back(arc);
  }
}

bool Prim::grow(int batch, int max_depth) {
  packing_.uproot(batch);
  if (span(batch, max_depth, false)) return true;
  // The cheap arcs led too deep; try again breadth first.
  packing_.uproot(batch);
  return span(batch, packing_.num_nodes(), true);
}

bool Prim::span(int batch, int max_depth, bool breadth_first) {
  const NodeId nodes = packing_.num_nodes();
  reached_.assign(nodes, 0);
  best_.assign(nodes, kNone);
  offers_ = {};
  NodeId reached = 1;
  reached_[packing_.root(batch)] = 1;
  enter(batch, packing_.root(batch), breadth_first);
  while (!offers_.empty()) {
    const Offer offer = offers_.top();
    offers_.pop();
    const NodeId head = packing_.arc(offer.arc).head;
    if (reached_[head]) continue;
    packing_.set_depth(batch, head, offer.depth);
    packing_.attach(batch, offer.arc);
    if (offer.depth < max_depth) enter(batch, head, breadth_first);
    reached_[head] = 1;
    ++reached;
  }
  return reached == nodes;
}

void Prim::enter(int batch, NodeId node, bool breadth_first) {
  const int depth = packing_.depth(batch, node) + 1;
  packing_.spend(out_[node].size());
  for (const int arc : out_[node]) {
    const NodeId head = packing_.arc(arc).head;
    if (reached_[head]) continue;
    std::pair<Amount, Amount> rank{price(arc, packing_.multiplicity(batch)), depth};
    if (breadth_first) std::swap(rank.first, rank.second);
    if (best_[head] <= rank) continue;
    best_[head] = rank;
    offers_.push({rank, depth, arc});
  }
}

Amount Prim::price(int arc, Amount trees) const {
  const Amount capacity = packing_.arc(arc).capacity;
  const Amount load = capacity - packing_.left(arc) + trees;
  return load / (capacity / kSteps + 1) + (load > capacity ? kOverload : 0) + surcharge_[arc];
}

bool start_with_prim(PartialPacking& packing, std::span<const Amount> trees, Progress& progress) {
  Prim prim(packing);
  for (std::size_t root = 0; root < trees.size(); ++root) {
    progress(static_cast<std::int64_t>(root), static_cast<std::int64_t>(trees.size()));
    if (trees[root] == 0) continue;
    if (!prim.grow(packing.add(static_cast<NodeId>(root), trees[root]), packing.num_nodes()))
      return false;
  }
  return true;
}

}  // namespace forestcoll
