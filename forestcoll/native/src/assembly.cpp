#include "forestcoll/assembly.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

#include "forestcoll/contraction.hpp"
#include "forestcoll/errors.hpp"

namespace forestcoll {

namespace {

// A tree of a set's children, parents first.
struct Skeleton {
  Amount multiplicity;
  std::vector<std::pair<int, int>> edges;  // (parent item, child item)
};

// The packed trees of one problem by the item they are rooted at; equal sets share them.
using Skeletons = std::vector<std::vector<Skeleton>>;

struct RealLink {
  NodeId tail;
  NodeId head;
  Amount left;
};

// One set: its trees with what is left of each, and the real links behind its contracted edges.
struct Set {
  Set(const Nesting& nesting, int number) : items(nesting, number) {}

  Contraction items;
  std::shared_ptr<const Skeletons> trees;
  std::vector<std::vector<Amount>> left;  // of trees[item][i]
  std::unordered_map<std::uint64_t, std::vector<RealLink>> links;

  static std::uint64_t key(int from, int to) {
    return (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
  }
};

std::vector<std::pair<int, int>> parents_first(const Batch& batch) {
  std::vector<std::vector<int>> children(batch.parent.size());
  for (std::size_t v = 0; v < batch.parent.size(); ++v) {
    if (batch.parent[v] >= 0) {
      children[static_cast<std::size_t>(batch.parent[v])].push_back(static_cast<int>(v));
    }
  }
  std::vector<std::pair<int, int>> edges;
  std::deque<int> queue{batch.root};
  while (!queue.empty()) {
    const int from = queue.front();
    queue.pop_front();
    for (const int to : children[static_cast<std::size_t>(from)]) {
      edges.emplace_back(from, to);
      queue.push_back(to);
    }
  }
  return edges;
}

class Assembler {
 public:
  Assembler(const Graph& graph, std::span<const Amount> trees, const Family& family,
            Progress& progress)
      : trees_(trees),
        nesting_(family),
        progress_(progress),
        out_(trees.size()),
        into_(trees.size()) {
    for (const Arc& arc : graph.arcs) {
      out_[static_cast<std::size_t>(arc.tail)].push_back(arc);
      into_[static_cast<std::size_t>(arc.head)].push_back(arc);
    }
    for (int set = 0; set < family.num_sets(); ++set) prepare(set);
  }

  std::vector<Batch> run() {
    Amount all = 0, built = 0;
    for (const Amount trees : trees_) all += trees;
    std::vector<Batch> batches;
    for (std::size_t root = 0; root < trees_.size(); ++root) {
      for (Amount left = trees_[root]; left > 0;) {
        Batch batch = assemble(static_cast<NodeId>(root), left);
        left -= batch.multiplicity;
        built += batch.multiplicity;
        batches.push_back(std::move(batch));
        progress_(built, all);
      }
    }
    return batches;
  }

 private:
  void prepare(int number) {
    Set& set = *sets_.emplace_back(std::make_unique<Set>(nesting_, number));
    const Contraction& items = set.items;
    Graph inside{items.num_items(), {}};
    std::vector<Amount> rooted(static_cast<std::size_t>(items.num_items()), 0);
    std::map<std::pair<int, int>, Amount> capacity;
    for (const NodeId v : items.nodes) {
      const int here = items.item_of(v);
      rooted[static_cast<std::size_t>(here)] += trees_[static_cast<std::size_t>(v)];
      for (const Arc& arc : into_[static_cast<std::size_t>(v)]) {
        if (items.item_of(arc.tail) == items.outside()) {
          rooted[static_cast<std::size_t>(here)] += arc.capacity;
        }
      }
      for (const Arc& arc : out_[static_cast<std::size_t>(v)]) {
        const int there = items.item_of(arc.head);
        if (there == here || there == items.outside()) continue;
        capacity[{here, there}] += arc.capacity;
        set.links[Set::key(here, there)].push_back({arc.tail, arc.head, arc.capacity});
      }
    }
    for (const auto& [ends, amount] : capacity) {
      inside.arcs.push_back({ends.first, ends.second, amount});
    }
    set.trees = packed(inside, rooted);
    for (const auto& of_item : *set.trees) {
      auto& left = set.left.emplace_back();
      for (const Skeleton& tree : of_item) left.push_back(tree.multiplicity);
    }
  }

  std::shared_ptr<const Skeletons> packed(const Graph& inside, const std::vector<Amount>& rooted) {
    std::vector<Amount> key{inside.num_nodes};
    for (const Arc& arc : inside.arcs) key.insert(key.end(), {arc.tail, arc.head, arc.capacity});
    key.insert(key.end(), rooted.begin(), rooted.end());
    auto& known = solutions_[key];
    if (!known) {
      Skeletons trees(rooted.size());
      for (const Batch& batch : pack(inside, rooted, progress_)) {
        trees[static_cast<std::size_t>(batch.root)].push_back(
            {batch.multiplicity, parents_first(batch)});
      }
      known = std::make_shared<const Skeletons>(std::move(trees));
    }
    return known;
  }

  Batch assemble(NodeId root, Amount most) {
    batch_ = {root, most, std::vector<NodeId>(trees_.size(), -1)};
    depth_.assign(trees_.size(), 0);
    picks_.clear();
    span_from(static_cast<int>(sets_.size()) - 1, root);
    for (Amount* left : picks_) *left -= batch_.multiplicity;
    return std::move(batch_);
  }

  void pick(Amount& left) {
    batch_.multiplicity = std::min(batch_.multiplicity, left);
    picks_.push_back(&left);
  }

  // Spans a set from the node where the tree starts in it or comes in.
  void span_from(int number, NodeId entry) {
    Set& set = *sets_[static_cast<std::size_t>(number)];
    const auto at = static_cast<std::size_t>(set.items.item_of(entry));
    const std::size_t chosen = fullest(set.left[at]);
    pick(set.left[at][chosen]);
    enter(set, static_cast<int>(at), entry);
    for (const auto& [from, to] : (*set.trees)[at][chosen].edges) {
      RealLink& link = best_link(set.links.at(Set::key(from, to)));
      pick(link.left);
      batch_.parent[static_cast<std::size_t>(link.head)] = link.tail;
      depth_[static_cast<std::size_t>(link.head)] = depth_[static_cast<std::size_t>(link.tail)] + 1;
      enter(set, to, link.head);
    }
  }

  void enter(const Set& set, int item, NodeId entry) {
    const int child = set.items.child[static_cast<std::size_t>(item)];
    if (child >= 0) span_from(child, entry);
  }

  static std::size_t fullest(const std::vector<Amount>& left) {
    const auto most = std::ranges::max_element(left);
    if (most == left.end() || *most == 0) {
      throw InternalError("more trees enter a tight set than it has trees for");
    }
    return static_cast<std::size_t>(most - left.begin());
  }

  // A link that takes the whole batch, from a node near the root.
  RealLink& best_link(std::vector<RealLink>& links) {
    const auto value = [this](const RealLink& link) {
      return std::pair{std::min(link.left, batch_.multiplicity),
                       -depth_[static_cast<std::size_t>(link.tail)]};
    };
    RealLink& best = *std::ranges::max_element(links, {}, value);
    if (best.left == 0) throw InternalError("a contracted edge has no real link left");
    return best;
  }

  std::span<const Amount> trees_;
  Nesting nesting_;
  Progress& progress_;
  std::vector<std::vector<Arc>> out_, into_;
  std::vector<std::unique_ptr<Set>> sets_;
  std::map<std::vector<Amount>, std::shared_ptr<const Skeletons>> solutions_;

  Batch batch_;
  std::vector<int> depth_;
  std::vector<Amount*> picks_;
};

}  // namespace

std::vector<Batch> pack_forest(const Graph& graph, std::span<const Amount> trees,
                               const Family& family, Progress progress) {
  check(graph, {{trees.begin(), trees.end()},
                std::vector<std::uint8_t>(static_cast<std::size_t>(graph.num_nodes), 1)});
  check(family, graph.num_nodes);
  return Assembler(graph, trees, family, progress).run();
}

}  // namespace forestcoll
