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
      copied_depths_(forest_.shapes.size()),
      uses_(forest_.shapes.size()),
      parent_(forest_.trees.size(), -1),
      depth_(forest_.trees.size(), 0) {
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
    if (is_plain_[set]) expect_used_up(set, edges);
  }
  first_stock_.push_back(stock_.size());
  first_edge_.push_back(num_live_.size());
}

// Plain sets hold only nodes, with one link behind every edge, so their trees are copied. Only the
// shapes of other sets become steps. The batches of one packing are not needed in order, as the
// depths in them are found on request.
void Assembler::find_plain() {
  const int sets = forest_.family.num_sets();
  is_plain_.assign(sets, is_open(Shortcut::kPlainCopies) ? 1 : 0);
  is_run_.assign(sets, 1);
  in_steps_.assign(forest_.shapes.count(), 0);
  is_copied_.assign(forest_.shapes.count(), 0);
  for (int set = 0; set < sets; ++set) {
    const std::size_t first = nesting_.first_position(set);
    for (std::size_t i = first; i < nesting_.first_position(set + 1); ++i) {
      if (nesting_.child(i) >= 0) is_plain_[set] = 0;
      if (nesting_.smallest(i) != nesting_.smallest(first) + static_cast<NodeId>(i - first)) {
        is_run_[set] = 0;
      }
    }
    (is_plain_[set] ? is_copied_ : in_steps_)[forest_.shape_of[set]] = 1;
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
      for (const auto& [from, to] : parents_first(shape, batch)) {
        const int edge = use(from, to, batch);
        if (in_steps_[number]) steps_[number].push_back({edge, to});
        most = std::max(most, below[to] = below[from] + 1);
      }
      if (is_copied_[number]) {
        Depths& depths = copied_depths_[number];
        depths.below.insert(depths.below.end(), below.begin(), below.end());
        depths.most.push_back(most);
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

  first_edge_.push_back(num_live_.size());
  if (is_plain_[set]) return;
  for (const auto& edge : edges.of(set)) {
    first_supply_.push_back(supply_.size());
    const auto links = edges.links_of(edge);
    num_live_.push_back(static_cast<int>(links.size()));
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

bool Assembler::next() {
  if (rotated_) return next_rotated();
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

bool Assembler::next_rotated() {
  if (!rotated_->next()) return false;
  root_ = rotated_->root();
  multiplicity_ = rotated_->multiplicity();
  max_depth_ = rotated_->tree_depth();
  built_ += multiplicity_;
  return true;
}

void Assembler::write_parents(std::span<NodeId> row) const {
  if (rotated_) return rotated_->write_parents(row);
  std::ranges::copy(parent_, row.begin());
}

void Assembler::assemble() {
  multiplicity_ = of_root_;
  max_depth_ = 0;
  parent_[root_] = -1;
  depth_[root_] = 0;
  taken_stock_.clear();
  taken_links_.clear();
  const int whole = forest_.family.num_sets() - 1;
  span_from(whole, nesting_.item_of(root_, whole), root_);
  settle();
  of_root_ -= multiplicity_;
  built_ += multiplicity_;
}

// Spans a set from the item where the tree starts or enters, at the node `entry`.
void Assembler::span_from(int set, int item, NodeId entry) {
  const std::size_t base = nesting_.first_position(set);
  const auto enter = [this, base](int into, NodeId node) {
    const int child = nesting_.child(base + index(into));
    if (child >= 0) span_from(child, nesting_.item_of(node, child), node);
  };
  const std::size_t position = base + index(item);
  const auto stock = stock_of(position);
  if (stock.empty() || stock.front().left == 0) {
    fail(set, "has fewer trees rooted at its item " + std::to_string(item) +
                  " than start in it or enter it");
  }
  multiplicity_ = std::min(multiplicity_, stock.front().left);
  taken_stock_.push_back(position);
  const Shape& shape = forest_.shapes[forest_.shape_of[set]];
  batch_ = stock.front().batch;
  if (named_only_ && is_one_packing()) return;
  const auto batch = index(batch_);
  if (is_one_packing()) return copy(shape.parents(batch));
  if (is_plain_[set]) return copy(set, batch, entry);
  const std::size_t edges = index(shape.num_items) - 1;
  enter(item, entry);
  const Step* step = steps_[forest_.shape_of[set]].data() + batch * edges;
  for (const Step* end = step + edges; step < end; ++step) {
    enter(step->to, join(set, first_edge_[set] + index(step->edge)));
  }
}

// Copies a tree of nodes around the one where it is entered.
void Assembler::copy(int set, std::size_t batch, NodeId entry) {
  const int shape = forest_.shape_of[set];
  const auto parents = forest_.shapes[shape].parents(batch);
  const int* const below = copied_depths_[shape].below.data() + batch * parents.size();
  const std::size_t base = nesting_.first_position(set);
  const NodeId parent = parent_[entry];
  const int depth = depth_[entry];
  if (is_run_[set]) {
    const NodeId first = nesting_.smallest(base);
    NodeId* const parent_here = parent_.data() + first;
    int* const depth_here = depth_.data() + first;
    for (std::size_t i = 0; i < parents.size(); ++i) parent_here[i] = first + parents[i];
    for (std::size_t i = 0; i < parents.size(); ++i) depth_here[i] = depth + below[i];
  } else {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const NodeId node = nesting_.smallest(base + i);
      if (node != entry) parent_[node] = nesting_.smallest(base + index(parents[i]));
      depth_[node] = depth + below[i];
    }
  }
  parent_[entry] = parent;
  max_depth_ = std::max(max_depth_, depth + copied_depths_[shape].most[batch]);
}

// Copies the only tree of all nodes. Depths of -1 are unknown.
void Assembler::copy(std::span<const NodeId> parent) {
  for (NodeId node = 0; node < parent_.count(); ++node) {
    if (parent[index(node)] < 0) continue;
    parent_[node] = parent[index(node)];
    depth_[node] = -1;
  }
}

// Depths in the copied tree of all nodes; at first only the root's is known.
void Assembler::find_depths() {
  for (NodeId node = 0; node < parent_.count(); ++node) {
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

// Takes a link for a contracted edge: one that carries the whole batch, from a node near the root.
// Returns the node at its end.
NodeId Assembler::join(int set, std::size_t edge) {
  const Supply* const first = supply_.data() + first_supply_[edge];
  const Supply* const end = first + num_live_[edge];
  if (first == end) fail(set, "needs more trees over a contracted edge than its links carry");
  // Without branches: which link is the best so far can hardly be predicted.
  const Supply* best = first;
  Amount most = std::min(best->left, multiplicity_);
  int depth = depth_[best->tail];
  for (const Supply* link = first + 1; link < end; ++link) {
    const Amount amount = std::min(link->left, multiplicity_);
    const int depth_here = depth_[link->tail];
    const bool better = (amount > most) | ((amount == most) & (depth_here < depth));
    best = better ? link : best;
    most = better ? amount : most;
    depth = better ? depth_here : depth;
  }
  multiplicity_ = most;
  parent_[best->head] = best->tail;
  depth_[best->head] = depth + 1;
  max_depth_ = std::max(max_depth_, depth + 1);
  taken_links_.push_back({edge, static_cast<std::size_t>(best - supply_.data())});
  return best->head;
}

std::span<Assembler::Stock> Assembler::stock_of(std::size_t position) {
  const std::size_t first = first_stock_[position];
  return std::span(stock_).subspan(first, first_stock_[position + 1] - first);
}

// Subtracts the finished batch from everything it used.
void Assembler::settle() {
  for (const std::size_t position : taken_stock_) {
    const auto stock = stock_of(position);
    if (stock.size() > 1) std::ranges::pop_heap(stock, less_full);
    stock.back().left -= multiplicity_;
    if (stock.size() > 1) std::ranges::push_heap(stock, less_full);
  }
  for (const auto& [edge, place] : taken_links_) {
    if ((supply_[place].left -= multiplicity_) > 0) continue;
    const std::size_t end = first_supply_[edge] + index(num_live_[edge]--);
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
    for (std::size_t edge = first_edge_[set]; edge < first_edge_[set + 1]; ++edge) {
      if (num_live_[edge] > 0) {
        const Supply& link = supply_[first_supply_[edge]];
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
