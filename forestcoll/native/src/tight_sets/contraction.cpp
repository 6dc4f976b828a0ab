#include "forestcoll/tight_sets/contraction.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace forestcoll {

namespace {

constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

// One pass of a stable counting sort: the indices at(0), at(1), ... sorted by key.
template <typename At>
Column<int> sorted_by(const Column<std::uint32_t>& key, std::size_t num_keys, const At& at) {
  std::vector<std::size_t> next(num_keys + 1, 0);
  for (const std::uint32_t value : key) ++next[value + 1];
  for (std::size_t value = 0; value < num_keys; ++value) next[value + 1] += next[value];
  Column<int> sorted(key.size());
  for (std::size_t place = 0; place < key.size(); ++place) {
    const int index = at(place);
    sorted[next[key[static_cast<std::size_t>(index)]]++] = index;
  }
  return sorted;
}

}  // namespace

Nesting::Nesting(const Family& family)
    : family_(&family),
      first_(family.parent.size() + 1, 0),
      item_of_node_(family.set_of.size()),
      item_of_set_(family.parent.size(), -1) {
  const int sets = family.num_sets();
  const NodeId nodes = family.set_of.count();
  IndexedVector<NodeId> least(family.parent.size(), kNoNode);
  IndexedVector<std::size_t> items(family.parent.size(), 0);
  for (NodeId v = 0; v < nodes; ++v) {
    NodeId& known = least[family.set_of[v]];
    known = std::min(known, v);
    ++items[family.set_of[v]];
  }
  for (int set = 0; set + 1 < sets; ++set) {
    if (least[set] == kNoNode) continue;
    NodeId& around = least[family.parent[set]];
    around = std::min(around, least[set]);
    ++items[family.parent[set]];
  }
  for (int set = 0; set < sets; ++set) first_[set + 1] = first_[set] + items[set];
  child_.resize(first_.back());
  smallest_.resize(first_.back());

  IndexedVector<int> filled(family.parent.size(), 0);
  const auto append = [&](int set, int child, NodeId smallest) {
    const std::size_t position = first_[set] + static_cast<std::size_t>(filled[set]);
    child_[position] = child;
    smallest_[position] = smallest;
    return filled[set]++;
  };
  // Node by node, and with each node the sets that begin with it, so items come in order.
  for (NodeId v = 0; v < nodes; ++v) {
    int set = family.set_of[v];
    item_of_node_[v] = append(set, -1, v);
    for (; set + 1 < sets && least[set] == v; set = family.parent[set]) {
      item_of_set_[set] = append(family.parent[set], set, v);
    }
  }
}

std::vector<NodeId> Nesting::nodes_inside(int set) const {
  std::vector<NodeId> nodes;
  std::vector<int> sets{set};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t item = first_[sets[i]]; item < first_[sets[i] + 1]; ++item) {
      if (child_[item] < 0) {
        nodes.push_back(smallest_[item]);
      } else {
        sets.push_back(child_[item]);
      }
    }
  }
  std::ranges::sort(nodes);
  return nodes;
}

int Nesting::item_of(NodeId node, int set) const {
  int around = family_->set_of[node];
  if (around == set) return item_of_node_[node];
  // Parents have larger numbers, so beyond `set` no path leads back to it.
  while (around < set) {
    const int next = family_->parent[around];
    if (next == set) return item_of_set_[around];
    around = next;
  }
  return num_items(set);
}

int Nesting::common_set(NodeId one, NodeId other) const {
  int a = family_->set_of[one], b = family_->set_of[other];
  // Parents have larger numbers, so the smaller of two sets is not around the other.
  while (a != b) {
    int& smaller = a < b ? a : b;
    smaller = family_->parent[smaller];
  }
  return a;
}

Contraction::Contraction(const Nesting& nesting_, int set_)
    : nesting(&nesting_), set(set_), nodes(nesting_.nodes_inside(set_)) {
  for (std::size_t i = nesting->first_position(set); i < nesting->first_position(set + 1); ++i) {
    child.push_back(nesting->child(i));
    first.push_back(nesting->smallest(i));
  }
}

ContractedEdges::ContractedEdges(const Nesting& nesting, const ArcView& links)
    : entering(nesting.num_positions(), 0) {
  const Family& family = nesting.family();
  // A node or set on the path upwards, and its position in the set around it.
  struct Climb {
    const Nesting& nesting;
    int set;
    std::size_t position;

    Climb(const Nesting& inside, NodeId node) : nesting(inside), set(inside.family().set_of[node]) {
      stand(inside.item_of_node(node));
    }
    void stand(int item) {
      position = nesting.first_position(set) + static_cast<std::size_t>(item);
    }
    void rise() {
      const int item = nesting.item_of_set(set);
      set = nesting.family().parent[set];
      stand(item);
    }
  };
  Column<std::uint32_t> from(links.size()), to(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    Climb tail(nesting, links.tail[i]), head(nesting, links.head[i]);
    while (tail.set != head.set) {
      if (tail.set < head.set) {
        tail.rise();
      } else {
        entering[head.position] += links.capacity[i];
        head.rise();
      }
    }
    from[i] = static_cast<std::uint32_t>(tail.position);
    to[i] = static_cast<std::uint32_t>(head.position);
  }
  const Column<int> by_head = sorted_by(to, nesting.num_positions(),
                                        [](std::size_t place) { return static_cast<int>(place); });
  link = sorted_by(from, nesting.num_positions(),
                   [&](std::size_t place) { return by_head[place]; });

  first_edge.assign(family.parent.size() + 1, 0);
  int set = 0;
  for (std::size_t place = 0; place < link.size(); ++place) {
    const auto i = static_cast<std::size_t>(link[place]);
    if (place > 0) {
      const auto before = static_cast<std::size_t>(link[place - 1]);
      if (from[before] == from[i] && to[before] == to[i]) continue;
    }
    while (from[i] >= nesting.first_position(set + 1)) {
      first_edge[++set] = edges.size();
    }
    const std::size_t base = nesting.first_position(set);
    edges.push_back({static_cast<int>(from[i] - base), static_cast<int>(to[i] - base), place});
  }
  while (set < family.num_sets()) first_edge[++set] = edges.size();
  edges.push_back({-1, -1, link.size()});
}

}  // namespace forestcoll
