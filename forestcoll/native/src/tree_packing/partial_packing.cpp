#include "forestcoll/tree_packing/partial_packing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forestcoll {

namespace {

// Steps for each node and arc. The shortest paths and their first repair take up to 10; trees
// packed one by one took as long as 10 to 110.
constexpr std::int64_t kBudget = 16;

// Depths written at a time for each node.
constexpr int kBlock = 16;

// A second or two. In fuzz and benchmarks, partial packings of up to 256 nodes that could be
// repaired at all took up to 80 million steps.
constexpr std::int64_t kLeastBudget = std::int64_t{1} << 27;

// Merges equal trees into one batch, since parts of a split batch may have stayed equal. Batches
// are sorted by root.
std::vector<Batch> merged(std::vector<Batch> batches) {
  std::vector<Batch> merged;
  std::size_t of_root = 0;  // where the batches of this root begin
  for (Batch& batch : batches) {
    if (merged.empty() || merged.back().root != batch.root) of_root = merged.size();
    const auto twin =
        std::find_if(merged.begin() + static_cast<std::ptrdiff_t>(of_root), merged.end(),
                     [&](const Batch& other) { return other.parent == batch.parent; });
    if (twin == merged.end()) {
      merged.push_back(std::move(batch));
    } else {
      twin->multiplicity += batch.multiplicity;
    }
  }
  return merged;
}

}  // namespace

PartialPacking::PartialPacking(const Graph& graph)
    : graph_(&graph),
      in_(graph.num_nodes),
      out_(in_.size()),
      place_(graph.arcs.size()),
      load_(graph.arcs.size(), 0),
      trees_(in_.size()),
      budget_(std::max(kLeastBudget, kBudget * graph.num_nodes * std::ssize(graph.arcs))) {
  for (int i = 0; i < graph.arcs.count(); ++i) {
    auto& in = in_[graph.arcs[i].head];
    place_[i] = static_cast<int>(in.size());
    in.push_back(i);
    out_[graph.arcs[i].tail].push_back(i);
  }
}

int PartialPacking::tree_depth() const {
  return tree_depths_.empty() ? 0 : *std::ranges::max_element(tree_depths_);
}

bool PartialPacking::is_below(int batch, NodeId node, NodeId ancestor) const {
  // An ancestor is less deep than its descendants, so the walk can stop early.
  const int depth_of_ancestor = depth(batch, ancestor);
  while (depth(batch, node) > depth_of_ancestor) node = arc(via(batch, node)).tail;
  return node == ancestor;
}

bool PartialPacking::is_overloaded(NodeId node) const {
  return std::ranges::any_of(in_arcs(node), [this](int arc) { return left(arc) < 0; });
}

Amount PartialPacking::overload() const {
  Amount overload = 0;
  for (int arc = 0; arc < load_.count(); ++arc) {
    overload += std::max<Amount>(0, -left(arc));
  }
  return overload;
}

int PartialPacking::add(NodeId root, Amount multiplicity) {
  roots_.push_back(root);
  multiplicity_.push_back(multiplicity);
  tree_depths_.push_back(0);
  for (NodeTrees& node : trees_) {
    node.via.push_back(-1);
    node.depth.push_back(0);
    node.children.push_back(0);
  }
  depths_.resize(depths_.size() + trees_.size(), 0);
  return num_batches() - 1;
}

void PartialPacking::set_depth(int batch, NodeId node, int depth) {
  trees_[node].depth[batch] = depth;
  depths_[index(batch) * trees_.size() + index(node)] = depth;
  int& tree_depth = tree_depths_[batch];
  tree_depth = std::max(tree_depth, depth);
}

void PartialPacking::set_depths(std::vector<int> depths) {
  depths_ = std::move(depths);
  for (int batch = 0; batch < num_batches(); ++batch) {
    tree_depths_[batch] = *std::ranges::max_element(depths_in(batch));
  }
  // In blocks of one cache line for each node.
  for (int first = 0; first < num_batches(); first += kBlock) {
    const int end = std::min(first + kBlock, num_batches());
    for (NodeId v = 0; v < num_nodes(); ++v) {
      auto& of_node = trees_[v].depth;
      for (int batch = first; batch < end; ++batch) of_node[batch] = depth(batch, v);
    }
  }
}

void PartialPacking::attach(int batch, int index) {
  const Arc& chosen = arc(index);
  trees_[chosen.head].via[batch] = index;
  ++children(batch, chosen.tail);
  load_[index] += multiplicity(batch);
}

void PartialPacking::move(int batch, int to) {
  const NodeId head = arc(to).head;
  const int from = via(batch, head);
  --children(batch, arc(from).tail);
  load_[from] -= multiplicity(batch);
  attach(batch, to);
  const int by = depth(batch, arc(to).tail) + 1 - depth(batch, head);
  if (by != 0) shift_subtree(batch, head, by);
}

void PartialPacking::shift_subtree(int batch, NodeId top, int by) {
  std::vector<NodeId> below{top};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const NodeId node = below[i];
    set_depth(batch, node, depth(batch, node) + by);
    if (is_leaf(batch, node)) continue;
    for (const int out : out_[node]) {
      if (via(batch, arc(out).head) == out) below.push_back(arc(out).head);
    }
  }
}

void PartialPacking::uproot(int batch) {
  unload(batch, multiplicity(batch));
  for (NodeTrees& node : trees_) {
    node.via[batch] = -1;
    node.depth[batch] = 0;
    node.children[batch] = 0;
  }
  std::ranges::fill_n(depths_.begin() + std::ssize(trees_) * batch, std::ssize(trees_), 0);
  tree_depths_[batch] = 0;
}

int PartialPacking::split(int batch, Amount part) {
  roots_.push_back(roots_[batch]);
  multiplicity_.push_back(part);
  multiplicity_[batch] -= part;
  tree_depths_.push_back(tree_depths_[batch]);
  for (NodeTrees& node : trees_) {
    node.via.push_back(node.via[batch]);
    node.depth.push_back(node.depth[batch]);
    node.children.push_back(node.children[batch]);
  }
  const std::size_t row = depths_.size();
  depths_.resize(row + trees_.size());
  std::ranges::copy(depths_in(batch), depths_.begin() + static_cast<std::ptrdiff_t>(row));
  return num_batches() - 1;
}

void PartialPacking::drop(int batch, Amount trees) {
  unload(batch, trees);
  multiplicity_[batch] -= trees;
}

void PartialPacking::unload(int batch, Amount trees) {
  for (NodeId v = 0; v < num_nodes(); ++v) {
    if (const int arc = via(batch, v); arc >= 0) load_[arc] -= trees;
  }
}

std::vector<Batch> PartialPacking::batches() const {
  std::vector<int> order;
  for (int batch = 0; batch < num_batches(); ++batch) {
    if (multiplicity(batch) > 0) order.push_back(batch);
  }
  std::ranges::stable_sort(order, {}, [this](int batch) { return root(batch); });
  std::vector<Batch> batches;
  batches.reserve(order.size());
  for (const int batch : order) {
    batches.push_back({root(batch), multiplicity(batch), NodeMap<NodeId>(trees_.size(), -1)});
  }
  for (std::size_t v = 0; v < trees_.size(); ++v) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int arc_of = trees_[v].via[order[i]];
      if (arc_of >= 0) batches[i].parent[v] = arc(arc_of).tail;
    }
  }
  return merged(std::move(batches));
}

}  // namespace forestcoll
