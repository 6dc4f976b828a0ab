#include "forestcoll/assembly/assembly.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll {

namespace {

// Heap order: less full, or equally full and later.
constexpr auto less_full = [](const auto& one, const auto& other) {
  return one.left != other.left ? one.left < other.left : one.batch > other.batch;
};

// Subtracts from the top of a heap, which then sinks to its place. Mostly it stays.
template <typename Stock>
void subtract_from_top(std::span<Stock> heap, Amount amount) {
  Stock sinking = heap.front();
  sinking.left -= amount;
  std::size_t place = 0;
  for (std::size_t below = 1; below < heap.size(); below = 2 * place + 1) {
    if (below + 1 < heap.size() && less_full(heap[below], heap[below + 1])) ++below;
    if (!less_full(sinking, heap[below])) break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = sinking;
}

std::size_t index(int value) { return static_cast<std::size_t>(value); }

FactoredForest checked(FactoredForest forest) {
  check(forest);
  return forest;
}

}  // namespace

Assembler::Assembler(FactoredForest forest)
    : forest_(checked(std::move(forest))),
      nesting_(forest_.family),
      steps_(forest_.shapes.size()),
      copies_(forest_.shapes.size()),
      uses_(forest_.shapes.size()),
      scratch_(forest_.trees.size(), -1),
      depth_(forest_.trees.size(), 0),
      entry_(nesting_.num_positions(), -1) {
  prepare();
  forest_.links = {};
  forest_.lent = {};
}

void Assembler::prepare() {
  rotated_ = RotatedBoxes::find(forest_, nesting_);
  if (rotated_) return;
  const ContractedEdges edges(nesting_, forest_.arcs());
  find_plain();
  IndexedVector<int> first_with(forest_.shapes.size(), -1);
  for (int set = 0; set < forest_.family.num_sets(); ++set) {
    const int shape = forest_.shape_of[set];
    const auto of_set = edges.of(set);
    if (nesting_.num_items(set) != forest_.shapes[shape].num_items) {
      fail(set, "has " + std::to_string(nesting_.num_items(set)) + " items, but shape " +
                    std::to_string(shape) + " is of " +
                    std::to_string(forest_.shapes[shape].num_items));
    }
    int& known = first_with[shape];
    if (known < 0) {
      known = set;
      prepare(forest_.shapes[shape], of_set);
    } else if (!std::ranges::equal(of_set, edges.of(known),
                                   [](const auto& a, const auto& b) { return a.same_ends(b); })) {
      fail(set, "has other links than set " + std::to_string(known) + " of the same shape");
    }
    prepare(set, edges);
    if (inside_[set].is_plain) expect_used_up(set, edges);
  }
  first_stock_.push_back(stock_.size());
}

// Plain sets hold only nodes, with one link behind every edge, so their trees are copied. Only the
// shapes of other sets become steps. The batches of one packing are not needed in order, as the
// depths in them are found on request.
void Assembler::find_plain() {
  const int sets = forest_.family.num_sets();
  inside_.assign(sets, {});
  in_steps_.assign(forest_.shapes.count(), 0);
  is_copied_.assign(forest_.shapes.count(), 0);
  for (int set = 0; set < sets; ++set) {
    const std::size_t first = nesting_.first_position(set);
    Inside& inside = inside_[set];
    inside = {first, 0, forest_.shape_of[set], 0, is_open(Shortcut::kPlainCopies), true};
    if (nesting_.num_items(set) > 0) inside.first = nesting_.smallest(first);
    for (std::size_t i = first; i < nesting_.first_position(set + 1); ++i) {
      inside.is_plain &= nesting_.child(i) < 0;
      inside.is_run &= nesting_.smallest(i) == inside.first + static_cast<NodeId>(i - first);
    }
    (inside.is_plain ? is_copied_ : in_steps_)[inside.shape] = 1;
  }
  if (is_one_packing()) is_copied_[0] = 0;
}

// The use of each edge by the batches of a shape, and the batches as steps, parents first.
void Assembler::prepare(const Shape& shape, std::span<const ContractedEdges::Edge> edges) {
  const auto number = &shape - forest_.shapes.data();
  std::vector<Arc> arcs;
  for (const auto& edge : edges) arcs.push_back({edge.from, edge.to, 0});
  const ArcRows rows(arcs);
  IndexedVector<Amount>& uses = uses_[number];
  uses.assign(edges.size(), 0);
  const auto use = [&](NodeId from, NodeId to, std::size_t batch) {
    const int edge = rows.find(from, to);
    if (edge < 0) {
      throw InvalidInput("shape " + std::to_string(number) + ": batch " + std::to_string(batch) +
                         " uses the edge " + std::to_string(from) + " -> " + std::to_string(to) +
                         ", behind which there is no link");
    }
    uses[edge] += shape.multiplicity[batch];
    return edge;
  };
  IndexedVector<int> below(shape.num_items, 0);
  for (std::size_t batch = 0; batch < shape.num_batches(); ++batch) {
    if (in_steps_[number] || is_copied_[number]) {
      below[shape.root[batch]] = 0;
      int most = 0;
      IndexedVector<std::uint8_t> ends(shape.num_items, 1);
      for (const NodeId from : shape.parents(batch)) {
        if (from >= 0) ends[from] = 0;
      }
      for (const auto& [from, to] : parents_first(shape, batch)) {
        const int edge = use(from, to, batch);
        if (in_steps_[number]) steps_[number].push_back({edge, from, to, ends[to] != 0});
        most = std::max(most, below[to] = below[from] + 1);
      }
      if (is_copied_[number]) {
        Copies& copies = copies_[number];
        copies.parents = shape.parents();
        copies.below.insert(copies.below.end(), below.begin(), below.end());
        copies.most.push_back(most);
      }
      continue;
    }
    const auto parent = shape.parents(batch);
    for (NodeId item = 0; item < shape.num_items; ++item) {
      if (parent[index(item)] >= 0) use(parent[index(item)], item, batch);
    }
  }
}

// The stock of a set: its batches by root, and its links.
void Assembler::prepare(int set, const ContractedEdges& edges) {
  const Shape& shape = forest_.shapes[forest_.shape_of[set]];
  const std::size_t base = stock_.size();
  IndexedVector<std::size_t> first(index(shape.num_items) + 1, 0);
  for (const NodeId root : shape.root) ++first[root + 1];
  for (std::size_t i = 0; i < index(shape.num_items); ++i) {
    first[i + 1] += first[i];
    first_stock_.push_back(base + first[i]);
  }
  stock_.resize(base + shape.num_batches());
  for (std::size_t batch = 0; batch < shape.num_batches(); ++batch) {
    stock_[base + first[shape.root[batch]]++] = {shape.multiplicity[batch],
                                                 static_cast<int>(batch)};
  }
  for (std::size_t i = 0; i < index(shape.num_items); ++i) {
    const std::size_t begin = first_stock_[nesting_.first_position(set) + i];
    std::ranges::make_heap(stock_.begin() + static_cast<std::ptrdiff_t>(begin),
                           stock_.begin() + static_cast<std::ptrdiff_t>(base + first[i]),
                           less_full);
  }

  inside_[set].edge = behind_.size();
  if (inside_[set].is_plain) return;
  for (const auto& edge : edges.of(set)) {
    const auto links = edges.links_of(edge);
    behind_.push_back({supply_.size(), static_cast<int>(links.size()), 0});
    for (const int link : links) {
      const Arc arc = forest_.arcs()[link];
      supply_.push_back({arc.capacity, arc.tail, arc.head});
    }
  }
}

// With one link behind every edge, its load must equal its use by the batches.
void Assembler::expect_used_up(int set, const ContractedEdges& edges) const {
  const IndexedVector<Amount>& uses = uses_[forest_.shape_of[set]];
  const auto of_set = edges.of(set);
  for (std::size_t e = 0; e < of_set.size(); ++e) {
    const Arc link = forest_.arcs()[edges.links_of(of_set[e]).front()];
    if (link.capacity == uses[e]) continue;
    const std::string named =
        "the link " + std::to_string(link.tail) + " -> " + std::to_string(link.head);
    if (link.capacity < uses[e]) fail(set, "needs more trees over " + named + " than it carries");
    fail(set, "leaves " + std::to_string(link.capacity - uses[e]) + " trees of " + named +
                  " without use");
  }
}

bool Assembler::next(std::span<NodeId> row) {
  if (rotated_) return next_rotated(row);
  parent_ = row.empty() ? scratch_.data() : row.data();
  if (at_start_) {
    at_start_ = false;
    root_ = 0;
    of_root_ = forest_.trees[0];
  }
  while (of_root_ == 0) {
    if (++root_ >= forest_.trees.count()) {
      expect_nothing_left();
      root_ = forest_.trees.count() - 1;
      return false;
    }
    of_root_ = forest_.trees[root_];
  }
  assemble();
  return true;
}

bool Assembler::next_rotated(std::span<NodeId> row) {
  if (!rotated_->next()) return false;
  root_ = rotated_->root();
  multiplicity_ = rotated_->multiplicity();
  max_depth_ = rotated_->tree_depth();
  built_ += multiplicity_;
  if (!row.empty()) rotated_->write_parents(row);
  return true;
}

void Assembler::assemble() {
  multiplicity_ = of_root_;
  max_depth_ = 0;
  taken_stock_.clear();
  taken_links_.clear();
  enter(forest_.family.num_sets() - 1, {root_, -1, 0, false});
  settle();
  of_root_ -= multiplicity_;
  built_ += multiplicity_;
}

// What follows is done a million times in a forest of 4096 nodes. Functions that are not inline are
// called through a table in shared objects.

inline std::span<Assembler::Stock> Assembler::stock_of(std::size_t position) {
  const std::size_t first = first_stock_[position];
  return std::span(stock_).subspan(first, first_stock_[position + 1] - first);
}

// The fullest batch rooted at the item at a position.
inline std::size_t Assembler::take_batch(int set, std::size_t position) {
  const auto stock = stock_of(position);
  if (stock.empty() || stock.front().left == 0) {
    fail(set, "has fewer trees rooted at its item " +
                  std::to_string(position - inside_[set].position) +
                  " than start in it or enter it");
  }
  multiplicity_ = std::min(multiplicity_, stock.front().left);
  taken_stock_.push_back(stock);
  return index(stock.front().batch);
}

// The first of the links that leave from where the tree enters an item, as all other nodes of it
// are deeper. Links are sorted by tail, and mostly one leaves from every node.
inline const Assembler::Supply* Assembler::leaving(const Behind& links, std::size_t from) const {
  const NodeId entry = entry_[from];
  const Supply* const first = supply_.data() + links.first;
  int i = std::min(entry - nesting_.smallest(from), links.live - 1);
  while (i > 0 && first[i - 1].tail >= entry) --i;
  while (i < links.live && first[i].tail < entry) ++i;
  return i < links.live && first[i].tail == entry ? first + i : nullptr;
}

// The first of the links that leave from nearest to the root.
inline const Assembler::Supply* Assembler::nearest(const Behind& links) const {
  const Supply* const first = supply_.data() + links.first;
  // Depth and place as one number: which link is the best so far can hardly be predicted.
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < links.live; ++i) {
    const auto depth = static_cast<std::uint32_t>(depth_[first[i].tail]);
    least = std::min(least, std::uint64_t{depth} << 32 | static_cast<std::uint32_t>(i));
  }
  return first + static_cast<std::uint32_t>(least);
}

// The first of the links that carry most of the batch, and of these leave from nearest to the root.
const Assembler::Supply* Assembler::fullest(Behind& links) const {
  const Supply* const first = supply_.data() + links.first;
  const Supply* best = first;
  Amount most = std::min(best->left, multiplicity_);
  int depth = depth_[best->tail];
  links.least = first->left;
  for (const Supply* link = first + 1; link < first + links.live; ++link) {
    links.least = std::min(links.least, link->left);
    const Amount amount = std::min(link->left, multiplicity_);
    const int depth_here = depth_[link->tail];
    const bool better = (amount > most) | ((amount == most) & (depth_here < depth));
    best = better ? link : best;
    most = better ? amount : most;
    depth = better ? depth_here : depth;
  }
  return best;
}

// Takes a link for a contracted edge from the item at a position: one that carries the whole batch,
// from a node near the root.
inline const Assembler::Supply& Assembler::take_link(int set, std::size_t edge, std::size_t from) {
  Behind& links = behind_[edge];
  if (links.live == 0) fail(set, "needs more trees over a contracted edge than its links carry");
  const Supply* best = links.least >= multiplicity_ ? leaving(links, from) : fullest(links);
  if (best == nullptr) best = nearest(links);
  multiplicity_ = std::min(multiplicity_, best->left);
  taken_links_.push_back({edge, static_cast<std::size_t>(best - supply_.data())});
  return *best;
}

// A size that is known, not 0, spares a loop of few turns in each set.
template <std::size_t known_size>
inline void Assembler::copy_run(std::span<const NodeId> parents, std::span<const int> below,
                                NodeId first, const Entry& entry) {
  const std::size_t size = known_size > 0 ? known_size : parents.size();
  NodeId* const parent_here = parent_ + first;
  for (std::size_t i = 0; i < size; ++i) parent_here[i] = first + parents[i];
  if (entry.ends) return;
  int* const depth_here = depth_.data() + first;
  for (std::size_t i = 0; i < size; ++i) depth_here[i] = entry.depth + below[i];
}

// Copies a tree of nodes around the one where it is entered.
inline void Assembler::copy(const Inside& inside, std::size_t batch, const Entry& entry) {
  const Copies& copies = copies_[inside.shape];
  const auto size = index(forest_.shapes[inside.shape].num_items);
  const std::span parents = copies.parents.subspan(batch * size, size);
  const std::span below = std::span(copies.below).subspan(batch * size, size);
  if (inside.is_run && size == 8) {
    copy_run<8>(parents, below, inside.first, entry);
  } else if (inside.is_run && size == 16) {
    copy_run<16>(parents, below, inside.first, entry);
  } else if (inside.is_run) {
    copy_run<0>(parents, below, inside.first, entry);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      const NodeId node = nesting_.smallest(inside.position + i);
      if (parents[i] >= 0) parent_[node] = nesting_.smallest(inside.position + index(parents[i]));
      depth_[node] = entry.depth + below[i];
    }
  }
  parent_[entry.node] = entry.parent;
  max_depth_ = std::max(max_depth_, entry.depth + copies.most[batch]);
}

// Spans a set from the node where the tree starts or enters.
inline void Assembler::enter(int set, const Entry& entry) {
  const Inside& inside = inside_[set];
  if (!inside.is_plain) return span_from(set, entry);
  const std::size_t batch =
      take_batch(set, inside.position + index(nesting_.item_of_node(entry.node)));
  if (!is_one_packing()) return copy(inside, batch, entry);
  batch_ = static_cast<int>(batch);
  if (!named_only_) copy(forest_.shapes[inside.shape].parents(batch));
}

// Spans a set that is not plain, item by item.
void Assembler::span_from(int set, const Entry& entry) {
  const Inside inside = inside_[set];
  const bool is_whole = set + 1 == forest_.family.num_sets();
  const auto arrive = [&](std::size_t position, const Entry& at) {
    const int child = nesting_.child(position);
    entry_[position] = at.node;
    if (child >= 0) return enter(child, at);
    parent_[at.node] = at.parent;
    depth_[at.node] = at.depth;
    max_depth_ = std::max(max_depth_, at.depth);
  };
  const std::size_t start = inside.position + index(nesting_.item_of(entry.node, set));
  const std::size_t batch = take_batch(set, start);
  const std::size_t edges = index(forest_.shapes[inside.shape].num_items) - 1;
  arrive(start, {entry.node, entry.parent, entry.depth, false});
  const Step* step = steps_[inside.shape].data() + batch * edges;
  for (const Step* end = step + edges; step < end; ++step) {
    const std::size_t from = inside.position + index(step->from);
    const Supply& link = take_link(set, inside.edge + index(step->edge), from);
    arrive(inside.position + index(step->to),
           {link.head, link.tail, depth_[link.tail] + 1, step->ends && is_whole});
  }
}

// Copies the only tree of all nodes. Depths of -1 are unknown.
void Assembler::copy(std::span<const NodeId> parent) {
  std::ranges::copy(parent, parent_);
  std::ranges::fill(depth_, -1);
  depth_[root_] = 0;
}

// Depths in the copied tree of all nodes; at first only the root's is known.
void Assembler::find_depths() {
  for (NodeId node = 0; node < depth_.count(); ++node) {
    NodeId at = node;
    for (path_.clear(); depth_[at] < 0; at = parent_[at]) path_.push_back(at);
    int depth = depth_[at];
    for (; !path_.empty(); path_.pop_back()) depth_[path_.back()] = ++depth;
    max_depth_ = std::max(max_depth_, depth);
  }
}

int Assembler::tree_depth() {
  if (is_one_packing()) find_depths();
  return max_depth_;
}

// Subtracts the finished batch from everything it used.
void Assembler::settle() {
  for (const std::span<Stock> stock : taken_stock_) subtract_from_top(stock, multiplicity_);
  for (const auto& [edge, place] : taken_links_) {
    Behind& links = behind_[edge];
    const Amount left = supply_[place].left -= multiplicity_;
    if (left > 0) {
      links.least = std::min(links.least, left);
      continue;
    }
    const auto end = links.first + index(links.live--);
    std::move(supply_.begin() + static_cast<std::ptrdiff_t>(place + 1),
              supply_.begin() + static_cast<std::ptrdiff_t>(end),
              supply_.begin() + static_cast<std::ptrdiff_t>(place));
  }
}

void Assembler::expect_nothing_left() const {
  for (int set = 0; set < forest_.family.num_sets(); ++set) {
    for (std::size_t i = first_stock_[nesting_.first_position(set)];
         i < first_stock_[nesting_.first_position(set + 1)]; ++i) {
      if (stock_[i].left > 0) fail(set, "has more trees than start in it or enter it");
    }
    const std::size_t end =
        set + 1 < forest_.family.num_sets() ? inside_[set + 1].edge : behind_.size();
    for (std::size_t edge = inside_[set].edge; edge < end; ++edge) {
      if (behind_[edge].live > 0) {
        const Supply& link = supply_[behind_[edge].first];
        fail(set, "leaves " + std::to_string(link.left) + " trees of the link " +
                      std::to_string(link.tail) + " -> " + std::to_string(link.head) +
                      " without use");
      }
    }
  }
}

void Assembler::fail(int set, const std::string& what) const {
  const std::vector<NodeId> nodes = nesting_.nodes_inside(set);
  std::string named = "set " + std::to_string(set);
  if (!nodes.empty()) {
    named +=
        " (" + std::to_string(nodes.size()) + " nodes from " + std::to_string(nodes[0]) + " on)";
  }
  throw InvalidInput(named + " " + what);
}

}  // namespace forestcoll
