// All trees at once, head by head. If every node takes its parent from the nodes that are nearer to
// the root, any choice of parents is a tree, so the choices at different heads do not touch each
// other: at each head, batches are to be assigned to in-arcs within their capacities. The start
// places the batches with the fewest choices first; what is overloaded then is repaired by chains
// of moves between in-arcs, and by swaps of a large batch for a small one. If a head has no such
// assignment, parents that are not nearer are admitted, as long as they are no descendants.
//
// Batches are not split here. A few roots are split beforehand into 1, 1, 2, 4, .. trees, so that
// what remains of a capacity after whole batches can be filled.
#include <algorithm>
#include <numeric>
#include <set>

#include "forestcoll/packing.hpp"

namespace forestcoll {

namespace {

constexpr int kUnreached = -1;

class ShortestPathPacker {
 public:
  ShortestPathPacker(const Graph& graph, std::span<const Amount> trees, Progress& progress)
      : progress_(progress),
        graph_(graph),
        size_(trees.size()),
        load_(graph.arcs.size(), 0),
        in_(trees.size()) {
    for (std::size_t arc = 0; arc < graph.arcs.size(); ++arc) {
      in_[static_cast<std::size_t>(graph.arcs[arc].head)].push_back(static_cast<int>(arc));
    }
    trees_.assign(trees.begin(), trees.end());
  }

  std::optional<std::vector<Batch>> run(std::size_t roots_to_split) {
    roots_to_split = std::min(roots_to_split, size_);
    make_batches(roots_to_split);
    measure_distances();
    std::ranges::fill(load_, 0);
    via_.assign(batches_.size() * size_, -1);
    std::vector<NodeId> unsettled;
    for (std::size_t v = 0; v < size_; ++v) {
      const auto head = static_cast<NodeId>(v);
      if (!place(head)) return std::nullopt;
      if (!repair(head, &ShortestPathPacker::is_nearer)) unsettled.push_back(head);
      report(v + 1 - unsettled.size());
    }
    for (std::size_t i = 0; i < unsettled.size(); ++i) {
      const NodeId head = unsettled[i];
      report(size_ - unsettled.size() + i);
      if (!repair(head, &ShortestPathPacker::is_no_descendant)) return std::nullopt;
    }
    return finished();
  }

 private:
  using Rule = bool (ShortestPathPacker::*)(std::size_t batch, int arc) const;

  const Arc& arc(int index) const { return graph_.arcs[static_cast<std::size_t>(index)]; }
  int& via(std::size_t batch, NodeId head) {
    return via_[static_cast<std::size_t>(head) * batches_.size() + batch];
  }
  int via(std::size_t batch, NodeId head) const {
    return via_[static_cast<std::size_t>(head) * batches_.size() + batch];
  }
  Amount left(int index) const {
    return arc(index).capacity - load_[static_cast<std::size_t>(index)];
  }
  Amount multiplicity(std::size_t batch) const { return batches_[batch].multiplicity; }

  void report(std::size_t settled) {
    progress_(static_cast<std::int64_t>(settled), static_cast<std::int64_t>(size_));
  }

  // Roots to split are taken evenly spaced.
  void make_batches(std::size_t roots_to_split) {
    batches_.clear();
    std::size_t split = 0;
    for (std::size_t root = 0; root < size_; ++root) {
      Amount left = trees_[root];
      const bool splits = (root + 1) * roots_to_split / size_ > split;
      if (splits) {
        ++split;
        for (Amount part = 1; part < left; part *= 2) {
          batches_.push_back({static_cast<NodeId>(root), part, {}});
          left -= part;
        }
      }
      if (left > 0) batches_.push_back({static_cast<NodeId>(root), left, {}});
    }
  }

  // Hops from each root, over arcs that can carry a tree.
  void measure_distances() {
    if (!distance_.empty()) return;
    std::vector<std::vector<NodeId>> out(size_);
    for (const Arc& a : graph_.arcs) {
      if (a.capacity > 0) out[static_cast<std::size_t>(a.tail)].push_back(a.head);
    }
    distance_.assign(size_ * size_, kUnreached);
    std::vector<NodeId> queue;
    for (std::size_t root = 0; root < size_; ++root) {
      const auto hops = [&](NodeId v) -> int& {
        return distance_[static_cast<std::size_t>(v) * size_ + root];
      };
      hops(static_cast<NodeId>(root)) = 0;
      queue.assign(1, static_cast<NodeId>(root));
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const NodeId u : out[static_cast<std::size_t>(queue[i])]) {
          if (hops(u) != kUnreached) continue;
          hops(u) = hops(queue[i]) + 1;
          queue.push_back(u);
        }
      }
    }
  }

  int distance(std::size_t batch, NodeId node) const {
    return distance_[static_cast<std::size_t>(node) * size_ +
                     static_cast<std::size_t>(batches_[batch].root)];
  }

  bool is_nearer(std::size_t batch, int index) const {
    const int there = distance(batch, arc(index).tail);
    return there != kUnreached && there < distance(batch, arc(index).head);
  }

  bool is_no_descendant(std::size_t batch, int index) const {
    const NodeId head = arc(index).head;
    for (NodeId v = arc(index).tail; v != batches_[batch].root; v = arc(via(batch, v)).tail) {
      if (v == head) return false;
    }
    return true;
  }

  // Gives each batch the emptiest in-arc from a nearer node; those with few choices go first.
  bool place(NodeId head) {
    const auto& arcs = in_[static_cast<std::size_t>(head)];
    std::vector<std::size_t> order;
    std::vector<int> choices(batches_.size(), 0);
    for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
      if (batches_[batch].root == head) continue;
      order.push_back(batch);
      for (const int index : arcs) choices[batch] += is_nearer(batch, index) ? 1 : 0;
      if (choices[batch] == 0) return false;
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t batch) {
      return std::pair{choices[batch], -multiplicity(batch)};
    });
    for (const std::size_t batch : order) {
      int best = -1;
      for (const int index : arcs) {
        if (is_nearer(batch, index) && (best < 0 || left(index) > left(best))) best = index;
      }
      via(batch, head) = best;
      load_[static_cast<std::size_t>(best)] += multiplicity(batch);
    }
    return true;
  }

  bool repair(NodeId head, Rule rule) {
    const auto& arcs = in_[static_cast<std::size_t>(head)];
    for (const int index : arcs) {
      while (left(index) < 0) {
        if (!relieve(head, index, rule)) return false;
      }
    }
    return true;
  }

  bool relieve(NodeId head, int index, Rule rule) {
    std::set<Amount> sizes;
    for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
      if (via(batch, head) == index) sizes.insert(multiplicity(batch));
    }
    return std::ranges::any_of(sizes,
                               [&](Amount size) { return chain(head, index, size, rule); }) ||
           swap(head, index, rule);
  }

  void move(std::size_t batch, NodeId head, int to) {
    int& from = via(batch, head);
    load_[static_cast<std::size_t>(from)] -= multiplicity(batch);
    load_[static_cast<std::size_t>(to)] += multiplicity(batch);
    from = to;
  }

  // Passes a batch of this size on from arc to arc until one has room for it.
  bool chain(NodeId head, int start, Amount size, Rule rule) {
    const auto& arcs = in_[static_cast<std::size_t>(head)];
    struct Step {
      int arc;
      std::size_t before;  // position in steps
      std::size_t batch;   // that came from there
    };
    std::vector<Step> steps{{start, 0, 0}};
    std::vector<int> reached{start};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const int to : arcs) {
        if (std::ranges::find(reached, to) != reached.end()) continue;
        const std::size_t batch = movable(head, steps[i].arc, to, size, rule);
        if (batch == batches_.size()) continue;
        steps.push_back({to, i, batch});
        reached.push_back(to);
        if (left(to) < size) continue;
        for (std::size_t at = steps.size() - 1; at > 0; at = steps[at].before) {
          move(steps[at].batch, head, steps[at].arc);
        }
        return true;
      }
    }
    return false;
  }

  // The first batch of this size that may change its in-arc; the number of batches if there is
  // none.
  std::size_t movable(NodeId head, int from, int to, Amount size, Rule rule) const {
    for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
      if (via(batch, head) == from && multiplicity(batch) == size && (this->*rule)(batch, to)) {
        return batch;
      }
    }
    return batches_.size();
  }

  // Exchanges a batch for a smaller one, on an arc that has room for the difference.
  bool swap(NodeId head, int from, Rule rule) {
    for (std::size_t large = 0; large < batches_.size(); ++large) {
      if (via(large, head) != from) continue;
      for (std::size_t small = 0; small < batches_.size(); ++small) {
        const int to = via(small, head);
        if (to < 0 || to == from || multiplicity(small) >= multiplicity(large)) continue;
        if (left(to) < multiplicity(large) - multiplicity(small)) continue;
        if (!(this->*rule)(large, to) || !(this->*rule)(small, from)) continue;
        move(large, head, to);
        move(small, head, from);
        return true;
      }
    }
    return false;
  }

  std::vector<Batch> finished() {
    for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
      batches_[batch].parent.assign(size_, -1);
      for (std::size_t v = 0; v < size_; ++v) {
        const int index = via(batch, static_cast<NodeId>(v));
        if (index >= 0) batches_[batch].parent[v] = arc(index).tail;
      }
    }
    return std::move(batches_);
  }

  Progress& progress_;
  const Graph& graph_;
  std::size_t size_;
  std::vector<Amount> trees_;
  std::vector<Amount> load_;
  std::vector<std::vector<int>> in_;
  std::vector<Batch> batches_;
  // By node first, because heads are settled one by one.
  std::vector<int> via_;       // the in-arc of a node in every batch
  std::vector<int> distance_;  // of a node from every root
};

}  // namespace

std::optional<std::vector<Batch>> pack_on_shortest_paths(const Graph& graph,
                                                         std::span<const Amount> trees,
                                                         Progress& progress) {
  ShortestPathPacker packer(graph, trees, progress);
  std::size_t widest = 0;
  std::vector<std::size_t> degree(trees.size(), 0);
  for (const Arc& arc : graph.arcs) {
    widest = std::max(widest, ++degree[static_cast<std::size_t>(arc.head)]);
  }
  // Whole batches first; then as many split roots as can fill what is left on each in-arc.
  const std::size_t some = std::min(trees.size(), std::max(trees.size() / 100 + 1, widest));
  for (const std::size_t roots_to_split : {std::size_t{0}, some, 4 * some, trees.size()}) {
    if (auto batches = packer.run(roots_to_split)) return batches;
  }
  return std::nullopt;
}

}  // namespace forestcoll
