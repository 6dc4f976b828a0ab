#include "forestcoll/tight_sets/contraction.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace forestcoll {

namespace {

constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

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

namespace {

// Edges from one item are counted by the items that they lead to if there are so many links for
// each item of the set, else sorted: counters take a pass over all items.
constexpr std::size_t kLinksPerCounter = 8;

// Links come sorted, so most are in one run with others from the same item. The runs of an item are
// found together; only the links in them remain to be sorted, by the item that they lead to.
class EdgeSorter {
 public:
  EdgeSorter(const Nesting& nesting, const ArcView& links, ContractedEdges& sorted)
      : nesting_(nesting), sorted_(sorted), to_(links.size()) {
    find_positions();
    find_runs(links);
  }

  void sort() {
    sorted_.link.resize(to_.size());
    const int sets = nesting_.family().num_sets();
    for (int set = 0; set < sets; ++set) {
      sorted_.first_edge.push_back(sorted_.edges.size());
      for (std::size_t from = nesting_.first_position(set); from < nesting_.first_position(set + 1);
           ++from) {
        sort_from(set, from);
      }
    }
    sorted_.first_edge.push_back(sorted_.edges.size());
    sorted_.edges.push_back({-1, -1, to_.size()});
  }

 private:
  // Links one after the other, all from the item at a position.
  struct Run {
    std::size_t first, end;
  };

  std::size_t position(int set, int item) const {
    return nesting_.first_position(set) + static_cast<std::size_t>(item);
  }

  void find_positions() {
    const Family& family = nesting_.family();
    of_node_.resize(family.set_of.size());
    of_set_.resize(family.parent.size());
    for (NodeId v = 0; v < of_node_.count(); ++v) {
      of_node_[v] = position(family.set_of[v], nesting_.item_of_node(v));
    }
    for (int set = 0; set + 1 < family.num_sets(); ++set) {
      of_set_[set] = position(family.parent[set], nesting_.item_of_set(set));
    }
  }

  void find_runs(const ArcView& links) {
    const Family& family = nesting_.family();
    std::vector<std::pair<std::size_t, Run>> runs;  // with the position that each is from
    for (std::size_t i = 0; i < links.size(); ++i) {
      const NodeId tail = links.tail[i], head = links.head[i];
      int tail_set = family.set_of[tail], head_set = family.set_of[head];
      std::size_t from = of_node_[tail], to = of_node_[head];
      // Both ends rise to the smallest set that holds them. Parents have larger numbers.
      while (tail_set != head_set) {
        if (tail_set < head_set) {
          from = of_set_[tail_set];
          tail_set = family.parent[tail_set];
        } else {
          sorted_.entering[to] += links.capacity[i];
          to = of_set_[head_set];
          head_set = family.parent[head_set];
        }
      }
      to_[i] = static_cast<std::uint32_t>(to - nesting_.first_position(head_set));
      if (runs.empty() || runs.back().first != from) runs.push_back({from, {i, i}});
      runs.back().second.end = i + 1;
    }
    first_run_.assign(nesting_.num_positions() + 1, 0);
    for (const auto& [from, run] : runs) ++first_run_[from + 1];
    std::partial_sum(first_run_.begin(), first_run_.end(), first_run_.begin());
    std::vector<std::size_t> next = first_run_;
    runs_.resize(runs.size());
    for (const auto& [from, run] : runs) runs_[next[from]++] = run;
  }

  void sort_from(int set, std::size_t from) {
    const auto runs =
        std::span(runs_).subspan(first_run_[from], first_run_[from + 1] - first_run_[from]);
    std::size_t links = 0;
    for (const Run& run : runs) links += run.end - run.first;
    const auto item = static_cast<int>(from - nesting_.first_position(set));
    const auto items = static_cast<std::size_t>(nesting_.num_items(set));
    if (links * kLinksPerCounter < items) {
      sort_by_keys(item, runs);
    } else {
      sort_by_counters(item, items, runs);
    }
    placed_ += links;
  }

  void sort_by_keys(int item, std::span<const Run> runs) {
    keys_.clear();
    for (const Run& run : runs) {
      for (std::size_t i = run.first; i < run.end; ++i) {
        keys_.push_back((std::uint64_t{to_[i]} << 32) | i);
      }
    }
    std::ranges::sort(keys_);
    int before = -1;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      sorted_.link[placed_ + i] = static_cast<int>(static_cast<std::uint32_t>(keys_[i]));
      const auto to = static_cast<int>(keys_[i] >> 32);
      if (to != before) sorted_.edges.push_back({item, to, placed_ + i});
      before = to;
    }
  }

  void sort_by_counters(int item, std::size_t items, std::span<const Run> runs) {
    next_.assign(items, 0);
    for (const Run& run : runs) {
      for (std::size_t i = run.first; i < run.end; ++i) ++next_[to_[i]];
    }
    std::size_t place = placed_;
    for (std::size_t to = 0; to < items; ++to) {
      const std::size_t count = std::exchange(next_[to], place);
      if (count > 0) sorted_.edges.push_back({item, static_cast<int>(to), place});
      place += count;
    }
    for (const Run& run : runs) {
      for (std::size_t i = run.first; i < run.end; ++i) {
        sorted_.link[next_[to_[i]]++] = static_cast<int>(i);
      }
    }
  }

  const Nesting& nesting_;
  ContractedEdges& sorted_;
  NodeMap<std::size_t> of_node_;       // the position of each node in its set
  IndexedVector<std::size_t> of_set_;  // and of each set in the set around it
  Column<std::uint32_t> to_;           // the item that each link leads to
  std::vector<Run> runs_;              // by the position that they are from, in order
  std::vector<std::size_t> first_run_;
  std::size_t placed_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<std::size_t> next_;
};

}  // namespace

ContractedEdges::ContractedEdges(const Nesting& nesting, const ArcView& links)
    : entering(nesting.num_positions(), 0) {
  EdgeSorter(nesting, links, *this).sort();
}

}  // namespace forestcoll
