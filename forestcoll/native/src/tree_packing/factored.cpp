#include "forestcoll/tree_packing/factored.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

// One set to be packed; equal problems have equal packings.
struct SetProblem {
  Graph inside;
  std::vector<Amount> rooted;

  bool operator==(const SetProblem& other) const {
    return inside.arcs == other.inside.arcs && rooted == other.rooted;
  }
  std::uint64_t hash() const {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::uint64_t value) {
      hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    };
    for (const Arc& arc : inside.arcs) {
      mix((static_cast<std::uint64_t>(arc.tail) << 32) | static_cast<std::uint32_t>(arc.head));
      mix(static_cast<std::uint64_t>(arc.capacity));
    }
    for (const Amount trees : rooted) mix(static_cast<std::uint64_t>(trees));
    return hash;
  }
};

class SetPacker {
 public:
  SetPacker(const ArcView& links, std::span<const Amount> trees, const Family& family,
            Progress& progress, bool thorough, int rotated_from)
      : progress_(progress),
        thorough_(thorough),
        rotated_from_(rotated_from),
        trees_(trees),
        family_(family),
        links_(links) {
    for (const Amount rooted : trees) all_trees_ += rooted;
    if (!are_merged(links)) merge(links);
    packing_.load.assign(links_.capacity.begin(), links_.capacity.end());
  }

  SetPacking run() {
    const Nesting nesting(family_);
    const ContractedEdges edges(nesting, links_);
    const std::vector<Amount> starting = trees_inside(nesting);
    for (int set = 0; set < family_.num_sets(); ++set) {
      SetProblem problem = problem_of(set, nesting, edges, starting);
      const Amount rooted = Demand{problem.rooted, {}}.total();
      if (rooted != all_trees_) {
        throw Infeasible("set " + std::to_string(set) + " is not tight: " + std::to_string(rooted) +
                         " trees start in it or enter it, " + std::to_string(all_trees_) +
                         " are to pass");
      }
      const int shape = shape_of(std::move(problem));
      packing_.shape_of.push_back(shape);
      if (!uses_all_[shape]) spend(edges, edges.of(set), uses_[shape]);
      progress_(set + 1, family_.num_sets());
    }
    if (leaves_links_) drop_unused();
    return std::move(packing_);
  }

 private:
  void merge(const ArcView& links) {
    std::vector<Arc> arcs = arcs_of(links);
    std::erase_if(arcs, [](const Arc& arc) { return arc.capacity == 0; });
    own_ = ArcColumns(merged(std::move(arcs)));
    links_ = own_.view();
    packing_.ends = LinkEnds{own_.tail, own_.head};
  }

  void drop_unused() {
    LinkEnds ends{Column<NodeId>(links_.size()), Column<NodeId>(links_.size())};
    Column<Amount>& load = packing_.load;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (load[i] == 0) continue;
      ends.tail[kept] = links_.tail[i];
      ends.head[kept] = links_.head[i];
      load[kept++] = load[i];
    }
    ends.tail.resize(kept);
    ends.head.resize(kept);
    load.resize(kept);
    packing_.ends = std::move(ends);
  }

  // Trees rooted in each item, by position.
  std::vector<Amount> trees_inside(const Nesting& nesting) const {
    std::vector<Amount> starting(nesting.num_positions(), 0);
    for (int set = 0; set < family_.num_sets(); ++set) {
      const std::size_t first = nesting.first_position(set);
      Amount inside = 0;
      for (std::size_t i = first; i < nesting.first_position(set + 1); ++i) {
        if (nesting.child(i) < 0) {
          starting[i] = trees_[static_cast<std::size_t>(nesting.smallest(i))];
        }
        inside += starting[i];
      }
      if (nesting.item_of_set(set) >= 0) {
        const int around = family_.parent[set];
        starting[nesting.first_position(around) +
                 static_cast<std::size_t>(nesting.item_of_set(set))] = inside;
      }
    }
    return starting;
  }

  SetProblem problem_of(int set, const Nesting& nesting, const ContractedEdges& edges,
                        const std::vector<Amount>& starting) const {
    SetProblem problem{{nesting.num_items(set), {}}, {}};
    for (const auto& edge : edges.of(set)) {
      Amount capacity = 0;
      for (const int link : edges.links_of(edge)) {
        capacity += links_.capacity[static_cast<std::size_t>(link)];
      }
      problem.inside.arcs.push_back({edge.from, edge.to, capacity});
    }
    for (std::size_t i = nesting.first_position(set); i < nesting.first_position(set + 1); ++i) {
      problem.rooted.push_back(starting[i] + edges.entering[i]);
    }
    return problem;
  }

  int shape_of(SetProblem problem) {
    std::vector<int>& candidates = known_[problem.hash()];
    for (const int shape : candidates) {
      if (problems_[shape] == problem) return shape;
    }
    candidates.push_back(problems_.count());
    const auto transitive = find_transitive_packing(problem.inside, problem.rooted);
    Shape shape = transitive ? moved(problem, *transitive) : packed(problem);
    packing_.shapes.push_back(std::move(shape));
    uses_all_.push_back(std::ranges::equal(problem.inside.arcs, uses_.back(), {}, &Arc::capacity));
    problems_.push_back(std::move(problem));
    return candidates.back();
  }

  Shape packed(const SetProblem& problem) {
    std::vector<Batch> batches =
        pack_without_symmetry(problem.inside, problem.rooted, thorough_, progress_);
    uses_.push_back(loads(problem.inside.arcs, batches));
    Shape shape{problem.inside.num_nodes, {}, {}, {}};
    shape.parent.reserve(batches.size() * static_cast<std::size_t>(shape.num_items));
    for (Batch& batch : batches) {
      append(batch.root, batch.multiplicity, batch.parent, shape);
      batch.parent = {};
    }
    return shape;
  }

  // Writes the image of each tree to its place. As batches, the images would need as much memory
  // again, gigabytes for a large torus.
  Shape moved(const SetProblem& problem, const TransitivePacking& packing) {
    uses_.push_back(packing.loads(problem.inside.arcs));
    Shape shape{problem.inside.num_nodes, {}, {}, {}};
    if (shape.num_items >= rotated_from_) {
      for (const Batch& tree : packing.first) append(0, tree.multiplicity, tree.parent, shape);
      shape.radices = packing.moves.radices();
      return shape;
    }
    const auto items = static_cast<std::size_t>(shape.num_items);
    shape.parent.reserve(packing.first.size() * items * items);
    NodeMap<NodeId> parent;
    for (NodeId root = 0; root < shape.num_items; ++root) {
      progress_(root, shape.num_items);
      const NodeMap<NodeId> by_root = packing.moves.moved_by(root);
      for (std::size_t tree = 0; tree < packing.first.size(); ++tree) {
        packing.find_parents(tree, by_root, parent);
        append(root, packing.first[tree].multiplicity, parent, shape);
      }
    }
    return shape;
  }

  static void append(NodeId root, Amount multiplicity, const NodeMap<NodeId>& parent,
                     Shape& shape) {
    shape.root.push_back(root);
    shape.multiplicity.push_back(multiplicity);
    shape.parent.insert(shape.parent.end(), parent.begin(), parent.end());
  }

  // Reduces the capacities of a set to loads. A contracted edge that the trees do not use up ends
  // at a node (child sets are tight), which any of its links serves equally well. The first links
  // are kept.
  void spend(const ContractedEdges& edges, std::span<const ContractedEdges::Edge> of_set,
             const std::vector<Amount>& uses) {
    for (std::size_t e = 0; e < of_set.size(); ++e) {
      Amount left = uses[e];
      for (const int link : edges.links_of(of_set[e])) {
        Amount& load = packing_.load[static_cast<std::size_t>(link)];
        load = std::min(load, left);
        left -= load;
        if (load == 0) leaves_links_ = true;
      }
    }
  }

  Progress& progress_;
  bool thorough_;
  int rotated_from_;
  std::span<const Amount> trees_;
  const Family& family_;
  ArcView links_;
  ArcColumns own_;  // if those given are not sorted, or not each once
  SetPacking packing_;
  bool leaves_links_ = false;  // whether some carry no tree
  Amount all_trees_ = 0;
  IndexedVector<SetProblem> problems_;       // by shape
  IndexedVector<std::vector<Amount>> uses_;  // of each contracted edge, by shape
  IndexedVector<std::uint8_t> uses_all_;     // by shape: whether the trees use up all edges
  std::unordered_map<std::uint64_t, std::vector<int>> known_;
};

// Whether every parent is an item or -1. Without branches, so that the compiler can vectorize it.
bool are_items(std::span<const NodeId> parent) {
  const auto items = static_cast<NodeId>(parent.size());
  int outside = 0;
  for (const NodeId from : parent) outside |= static_cast<int>(from < -1 || from >= items);
  return outside == 0;
}

// Whether the root is the only item without a parent.
bool is_only_root(std::span<const NodeId> parent, NodeId root) {
  int without = 0;
  for (const NodeId from : parent) without += static_cast<int>(from < 0);
  return without == 1 && parent[static_cast<std::size_t>(root)] < 0;
}

// Whether every item's ancestors end at the root. Marks visited items walk by walk.
bool is_tree(std::span<const NodeId> parent, NodeId root, IndexedVector<int>& mark, int stamp) {
  if (!is_only_root(parent, root)) return false;
  // Two marks a tree: on the present walk, and known to lead to the root.
  const int good = 2 * stamp + 1, walking = 2 * stamp;
  mark[root] = good;
  for (std::size_t item = 0; item < parent.size(); ++item) {
    auto at = static_cast<NodeId>(item);
    while (mark[at] < walking) {
      mark[at] = walking;
      at = parent[static_cast<std::size_t>(at)];
    }
    if (mark[at] != good) return false;
    for (auto back = static_cast<NodeId>(item); mark[back] != good;
         back = parent[static_cast<std::size_t>(back)]) {
      mark[back] = good;
    }
  }
  return true;
}

void check(const Shape& shape, int number) {
  const auto fail = [number](const std::string& what) {
    throw InvalidInput("shape " + std::to_string(number) + ": " + what);
  };
  const auto items = static_cast<std::size_t>(shape.num_items);
  if (!shape.radices.empty()) fail("its rotated trees must be written out");
  if (shape.num_items < 1 || shape.multiplicity.size() != shape.num_batches() ||
      shape.parents().size() != shape.num_batches() * items) {
    fail("roots, multiplicities and parents do not fit together");
  }
  IndexedVector<int> mark(items, -1);
  for (std::size_t batch = 0; batch < shape.num_batches(); ++batch) {
    if (shape.root[batch] < 0 || shape.root[batch] >= shape.num_items ||
        !are_items(shape.parents(batch))) {
      fail("an item is out of range");
    }
    if (shape.multiplicity[batch] < 1) fail("a multiplicity is not positive");
    if (!is_tree(shape.parents(batch), shape.root[batch], mark, static_cast<int>(batch))) {
      fail("batch " + std::to_string(batch) + " does not span the items from its root");
    }
  }
}

}  // namespace

std::vector<std::pair<NodeId, NodeId>> parents_first(const Shape& shape, std::size_t batch) {
  const auto parent = shape.parents(batch);
  IndexedVector<NodeId> next(shape.num_items, -1), first_child(shape.num_items, -1);
  for (NodeId item = shape.num_items; item-- > 0;) {
    const NodeId from = parent[static_cast<std::size_t>(item)];
    if (from < 0) continue;
    next[item] = first_child[from];
    first_child[from] = item;
  }
  std::vector<std::pair<NodeId, NodeId>> edges;
  std::vector<NodeId> queue{shape.root[batch]};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId from = queue[i];
    for (NodeId to = first_child[from]; to >= 0; to = next[to]) {
      edges.emplace_back(from, to);
      queue.push_back(to);
    }
  }
  return edges;
}

SetPacking pack_sets(const ArcView& links, std::span<const Amount> trees, const Family& family,
                     Progress& progress, bool thorough, int rotated_from) {
  const auto nodes = static_cast<NodeId>(trees.size());
  check(nodes, links, {{trees.begin(), trees.end()}, NodeMap<std::uint8_t>(nodes, 1)});
  check(family, nodes);
  return SetPacker(links, trees, family, progress, thorough, rotated_from).run();
}

void check(const FactoredForest& forest) {
  const NodeId nodes = forest.trees.count();
  check(nodes, forest.arcs(), {forest.trees, NodeMap<std::uint8_t>(nodes, 1)});
  check(forest.family, nodes);
  if (!are_merged(forest.arcs())) {
    throw InvalidInput("links must be sorted by (tail, head), each once, and carry trees");
  }
  for (int shape = 0; shape < forest.shapes.count(); ++shape) {
    check(forest.shapes[shape], shape);
  }
  IndexedVector<std::uint8_t> is_used(forest.shapes.size(), 0);
  if (forest.shape_of.size() != forest.family.parent.size()) {
    throw InvalidInput("every set must have a shape");
  }
  for (const int shape : forest.shape_of) {
    if (shape < 0 || shape >= is_used.count()) {
      throw InvalidInput("a set has a shape that does not exist");
    }
    is_used[shape] = 1;
  }
  if (const auto unused = std::ranges::find(is_used, 0); unused != is_used.end()) {
    throw InvalidInput("shape " + std::to_string(unused - is_used.begin()) + " is that of no set");
  }
}

}  // namespace forestcoll
