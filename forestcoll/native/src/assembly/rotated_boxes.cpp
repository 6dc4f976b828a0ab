#include "forestcoll/assembly/rotated_boxes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

std::size_t place(NodeId value) { return static_cast<std::size_t>(value); }

// Equal sets of consecutive nodes, of which the whole consists.
struct Boxes {
  NodeId count, size;
  NodeMap<NodeId> box;  // of each node: a division for each end of each link takes longer

  NodeId of(NodeId node) const { return box[node]; }
};

std::optional<Boxes> boxes_of(const FactoredForest& forest, const Nesting& nesting) {
  const int whole = forest.family.num_sets() - 1, nodes = forest.trees.count();
  if (nesting.num_items(whole) != whole || nodes % whole != 0) return std::nullopt;
  Boxes boxes{whole, nodes / whole, NodeMap<NodeId>(nodes)};
  for (NodeId v = 0; v < nodes; ++v) boxes.box[v] = v / boxes.size;
  for (NodeId v = 0; v < nodes; ++v) {
    const int box = nesting.child(nesting.first_position(whole) + place(boxes.of(v)));
    if (forest.family.set_of[v] != box || forest.shape_of[box] != forest.shape_of[0] ||
        forest.trees[v] != forest.trees[v % boxes.size]) {
      return std::nullopt;
    }
  }
  const bool fit = forest.shapes[forest.shape_of[0]].num_items == boxes.size &&
                   forest.shapes[forest.shape_of[whole]].num_items == boxes.count;
  return fit ? std::optional(std::move(boxes)) : std::nullopt;
}

// Whether the batches of a box can be taken by whole trees of every node. Most packings that
// cannot are found out here, before the links are looked at.
bool may_stay_whole(const FactoredForest& forest) {
  Amount divisor = 0;
  for (const Amount trees : forest.trees) divisor = std::gcd(divisor, trees);
  return std::ranges::all_of(forest.shapes[forest.shape_of[0]].multiplicity,
                             [&](Amount trees) { return divisor > 0 && trees % divisor == 0; });
}

// The boxes as nodes, with the loads between them added up. Links are sorted.
Graph graph_of(const ArcView& links, const Boxes& boxes) {
  Graph graph{boxes.count, {}};
  NodeMap<Amount> load(boxes.count);
  std::size_t link = 0;
  for (NodeId box = 0; box < boxes.count; ++box) {
    load.assign(boxes.count, 0);
    for (; link < links.size() && boxes.of(links.tail[link]) == box; ++link) {
      load[boxes.of(links.head[link])] += links.capacity[link];
    }
    for (NodeId to = 0; to < boxes.count; ++to) {
      if (to != box && load[to] > 0) graph.arcs.push_back({box, to, load[to]});
    }
  }
  return graph;
}

// Whether every link has the load of a link of box 0, the first ones, that is rotated to it.
bool are_rotated(const ArcView& links, std::span<const Arc> first, const Boxes& boxes,
                 const Translations& moves) {
  if (links.size() != first.size() * place(boxes.count)) return false;
  const ArcRows rows(first);
  NodeMap<NodeId> back;
  NodeId before = -1;
  std::size_t same = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Arc link = links[i];
    const NodeId box = boxes.of(link.tail), to = boxes.of(link.head);
    if (box != before) back = moves.moved_by(moves.difference(0, box));
    before = box;
    const NodeId tail = link.tail - box * boxes.size;
    const NodeId head = link.head + (back[to] - to) * boxes.size;
    // Mostly the next one, as both are sorted.
    if (++same >= first.size() || first[same].tail != tail || first[same].head != head) {
      const int found = rows.find(tail, head);
      if (found < 0) return false;
      same = place(found);
    }
    if (first[same].capacity != link.capacity) return false;
  }
  return true;
}

// The batches of each item, in their order.
IndexedVector<std::vector<std::size_t>> by_root(const Shape& shape) {
  IndexedVector<std::vector<std::size_t>> batches(shape.num_items);
  for (std::size_t b = 0; b < shape.num_batches(); ++b) batches[shape.root[b]].push_back(b);
  return batches;
}

// Whether the batches of every item are the rotations of those of item 0.
bool are_rotated(const Shape& shape, const Translations& moves) {
  const auto batches = by_root(shape);
  for (NodeId root = 1; root < shape.num_items; ++root) {
    if (batches[root].size() != batches[0].size()) return false;
    const NodeMap<NodeId> moved = moves.moved_by(root);
    for (std::size_t i = 0; i < batches[0].size(); ++i) {
      const std::size_t one = batches[0][i], other = batches[root][i];
      if (shape.multiplicity[one] != shape.multiplicity[other]) return false;
      const auto parent = shape.parents(one), image = shape.parents(other);
      bool same = true;
      for (NodeId item = 1; item < shape.num_items; ++item) {
        same &= image[place(moved[item])] == moved[parent[place(item)]];
      }
      if (!same) return false;
    }
  }
  return true;
}

// Assembles the trees of box 0. Whatever it takes stands for all of its images.
class FirstBox {
 public:
  FirstBox(const FactoredForest& forest, const Boxes& boxes, const Translations& moves,
           std::span<const Arc> links)
      : boxes_(boxes), moves_(moves), inner_(boxes.size), between_(boxes.count) {
    for (const Arc& link : links) {
      const NodeId to = boxes.of(link.head);
      if (to == 0) {
        inside_.push_back(link);
      } else {
        between_[to].push_back({link.capacity, link.tail, link.head % boxes.size});
      }
    }
    const Shape& of_box = forest.shapes[forest.shape_of[0]];
    for (std::size_t b = 0; b < of_box.num_batches(); ++b) {
      inner_[of_box.root[b]].push_back({of_box.multiplicity[b], parents_first(of_box, b)});
    }
    const Shape& of_whole = forest.shapes[forest.shape_of.back()];
    for (std::size_t b = 0; b < of_whole.num_batches(); ++b) {
      if (of_whole.root[b] != 0) continue;
      outer_.push_back({of_whole.multiplicity[b], parents_first(of_whole, b)});
    }
  }

  // One tree of each root; nothing if a batch or a link is missing or left over.
  std::vector<BoxTree> trees(const NodeMap<Amount>& count) {
    if (!batches_fit_inside()) return {};
    std::vector<BoxTree> trees;
    for (NodeId root = 0; root < boxes_.size; ++root) {
      if (count[root] == 0) continue;
      if (!assemble(root, count[root])) return {};
      trees.push_back(std::move(tree_));
    }
    const auto is_used_up = [](const auto& all) {
      return std::ranges::all_of(all, [](const auto& one) { return one.left == 0; });
    };
    const bool complete = is_used_up(outer_) && std::ranges::all_of(inner_, is_used_up) &&
                          std::ranges::all_of(between_, is_used_up);
    return complete ? std::move(trees) : std::vector<BoxTree>{};
  }

 private:
  // A batch, parents first, and what is left of it.
  struct Stock {
    Amount left;
    std::vector<std::pair<NodeId, NodeId>> edges;
  };
  // A link from box 0, and what is left of its load. The head is numbered within its box.
  struct Supply {
    Amount left;
    NodeId tail, head;
  };

  // Whether the batches of a box use its links exactly.
  bool batches_fit_inside() const {
    std::vector<Arc> used;
    for (const auto& of_root : inner_) {
      for (const Stock& batch : of_root) {
        for (const auto& [from, to] : batch.edges) used.push_back({from, to, batch.left});
      }
    }
    return merged(std::move(used)) == inside_;
  }

  bool assemble(NodeId root, Amount multiplicity) {
    const auto nodes = boxes_.count * boxes_.size;
    tree_ = {root, multiplicity, 0, NodeMap<NodeId>(nodes, -1), {}};
    tree_.entry.resize(boxes_.count);
    depth_.assign(nodes, 0);
    const Stock* batch = take(outer_);
    if (batch == nullptr || !enter(0, root, -1)) return false;
    for (const auto& [from, to] : batch->edges) {
      const Supply* link = take_link(from, moves_.difference(to, from));
      if (link == nullptr) return false;
      if (!enter(to, to * boxes_.size + link->head, from * boxes_.size + link->tail)) return false;
    }
    return true;
  }

  bool enter(NodeId box, NodeId node, NodeId parent) {
    const NodeId base = box * boxes_.size;
    tree_.entry[box] = {node, parent, boxes_.of(std::max(parent, 0))};
    set_parent(node, parent);
    const Stock* batch = take(inner_[node - base]);
    if (batch == nullptr) return false;
    for (const auto& [from, to] : batch->edges) set_parent(base + to, base + from);
    return true;
  }

  void set_parent(NodeId node, NodeId parent) {
    tree_.parent[node] = parent;
    if (parent < 0) return;
    depth_[node] = depth_[parent] + 1;
    tree_.depth = std::max(tree_.depth, depth_[node]);
  }

  // The fullest batch. One that is too small for the tree is never used up exactly.
  const Stock* take(std::vector<Stock>& all) {
    const auto fullest = std::ranges::max_element(all, {}, &Stock::left);
    if (fullest == all.end()) return nullptr;
    fullest->left -= tree_.multiplicity;
    return &*fullest;
  }

  // The link that leaves from nearest to the root.
  const Supply* take_link(NodeId box, NodeId offset) {
    Supply* best = nullptr;
    int least = 0;
    for (Supply& link : between_[offset]) {
      if (link.left < tree_.multiplicity) continue;
      const int depth = depth_[box * boxes_.size + link.tail];
      if (best != nullptr && depth >= least) continue;
      best = &link;
      least = depth;
    }
    if (best != nullptr) best->left -= tree_.multiplicity;
    return best;
  }

  const Boxes& boxes_;
  const Translations& moves_;
  std::vector<Arc> inside_;
  IndexedVector<std::vector<Stock>> inner_;     // by root
  std::vector<Stock> outer_;                    // of box 0
  IndexedVector<std::vector<Supply>> between_;  // by the box that they lead to
  BoxTree tree_;
  NodeMap<int> depth_;
};

}  // namespace

std::optional<RotatedBoxes> RotatedBoxes::find(const FactoredForest& forest,
                                               const Nesting& nesting) {
  if (!is_open(Shortcut::kRotatedBoxes)) return std::nullopt;
  const auto boxes = boxes_of(forest, nesting);
  if (!boxes || !may_stay_whole(forest)) return std::nullopt;
  const ArcView links = forest.arcs();
  const auto moves = find_translations(graph_of(links, *boxes));
  if (!moves) return std::nullopt;
  const auto end = std::ranges::lower_bound(links.tail, boxes->size);
  const std::vector<Arc> first =
      arcs_of(links.first(static_cast<std::size_t>(end - links.tail.begin())));
  if (!are_rotated(links, first, *boxes, *moves) ||
      !are_rotated(forest.shapes[forest.shape_of.back()], *moves)) {
    return std::nullopt;
  }
  std::vector<BoxTree> trees = FirstBox(forest, *boxes, *moves, first).trees(forest.trees);
  if (trees.empty()) return std::nullopt;
  return RotatedBoxes(boxes->size, *moves, std::move(trees));
}

RotatedBoxes::RotatedBoxes(NodeId size, Translations moves, std::vector<BoxTree> trees)
    : size_(size), moves_(std::move(moves)), trees_(std::move(trees)), place_(trees_.size()) {}

bool RotatedBoxes::next() {
  if (place_ < trees_.size()) return ++place_, true;
  if (box_ + 1 == moves_.num_nodes()) return false;
  shift_ = moves_.moved_by(++box_);
  for (NodeId box = 0; box < shift_.count(); ++box) shift_[box] = (shift_[box] - box) * size_;
  place_ = 1;
  return true;
}

void RotatedBoxes::write_parents(std::span<NodeId> row) const {
  if (size_ == 8) return write_boxes<8>(row);
  if (size_ == 16) return write_boxes<16>(row);
  write_boxes<0>(row);
}

// Within a box all parents move alike; only where it is entered the parent is in another box. A
// size that is known, not 0, spares a loop of few turns in each box: half of the time.
template <NodeId known_size>
void RotatedBoxes::write_boxes(std::span<NodeId> row) const {
  const NodeId size = known_size > 0 ? known_size : size_;
  const BoxTree& of_first = tree();
  const NodeId* parent = of_first.parent.data();
  for (NodeId box = 0; box < shift_.count(); ++box, parent += size) {
    const NodeId shift = shift_[box];
    NodeId* const image = row.data() + box * size + shift;
    for (NodeId i = 0; i < size; ++i) image[i] = parent[i] + shift;
    const auto& [node, at, from] = of_first.entry[box];
    row[place(node + shift)] = at < 0 ? -1 : at + shift_[from];
  }
}

}  // namespace forestcoll
