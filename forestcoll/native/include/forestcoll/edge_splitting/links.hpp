// The real links while switches are removed, set by set, and logical links are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/tight_sets/contraction.hpp"

namespace forestcoll {

// Parallel links stay separate until the end. A split between two targets is only logged: no switch
// has its link, so it stays as it is.
//
// A link belongs to the smallest set that holds both of its ends. Sets are opened in turn, each
// after all sets around it. An open set is seen only as an amount at each node, so a set inside is
// contracted at a cost of its own links, not of the thousands that lead out of it.
class Links {
 public:
  // The capacity of a node's links that belong to open sets.
  struct Beyond {
    Amount in = 0, out = 0;
  };

  Links(const Graph& graph, const NodeMap<std::uint8_t>& is_target, const Nesting& nesting)
      : is_target_(is_target),
        at_(graph.num_nodes),
        beyond_(graph.num_nodes),
        closed_(nesting.family().num_sets()) {
    links_.reserve(graph.arcs.size());
    for (const Arc& arc : graph.arcs) {
      if (arc.capacity == 0) continue;
      closed_[nesting.common_set(arc.tail, arc.head)].push_back(links_.count());
      append(arc);
    }
  }

  // Opens a set, and calls visit with its links.
  template <typename Visit>
  void open(int set, const Visit& visit) {
    for (const int index : closed_[set]) {
      visit(links_[index]);
      count(links_[index], 1);
    }
  }
  const Beyond& beyond(NodeId node) const { return beyond_[node]; }

  // At most so many more splits will be made.
  void expect(std::size_t more) {
    const std::size_t needed = num_splits_ + more;
    if (needed <= splits_.size()) return;
    // A quarter is spare: the splits of a large switch are followed by those of many small ones.
    const std::size_t room = std::max(needed + needed / 4, 2 * splits_.size());
    splits_.resize(num_splits_);
    splits_.resize(room);
  }

  // Logs a split that was expected, and adds its link, of an open set.
  void split(const Split& made) {
    splits_.set(num_splits_++, made);
    const Arc link{made.from, made.to, made.amount};
    if (!is_between_targets(link)) append(link);
    count(link, 1);
  }

  // A switch of an open set disappears with all of its links.
  void remove(NodeId node) {
    for (const int index : at_[node]) {
      count(links_[index], -1);
      links_[index].capacity = 0;
    }
  }

  // Calls visit with every remaining link out of a switch or into it.
  template <typename Visit>
  void each_at(NodeId node, const Visit& visit) const {
    for (const int index : at_[node]) {
      if (is_there(links_[index])) visit(links_[index]);
    }
  }

  // The remaining links, parallel ones merged, sorted by (tail, head).
  ArcColumns merged() const {
    NodeMap<std::size_t> first(at_.count() + 1, 0);
    ArcColumns left = sorted_by_tail(first);
    std::vector<Arc> scratch;
    std::size_t kept = 0;
    for (NodeId tail = 0; tail < at_.count(); ++tail) {
      const std::size_t begin = kept;
      sort_by_head(left, first[tail], first[tail + 1], scratch);
      for (std::size_t place = first[tail]; place < first[tail + 1]; ++place) {
        if (kept > begin && left.head[kept - 1] == left.head[place]) {
          left.capacity[kept - 1] += left.capacity[place];
        } else {
          left.set(kept++, {tail, left.head[place], left.capacity[place]});
        }
      }
    }
    left.resize(kept);
    return left;
  }

  // All splits, in the order in which they were made. Nothing may be asked afterwards.
  SplitColumns take_splits() {
    splits_.resize(num_splits_);
    return std::move(splits_);
  }

 private:
  static bool is_there(const Arc& link) { return link.capacity != 0; }

  void append(const Arc& link) {
    if (!is_target_[link.tail]) at_[link.tail].push_back(links_.count());
    if (!is_target_[link.head]) at_[link.head].push_back(links_.count());
    links_.push_back(link);
  }

  void count(const Arc& link, int sign) {
    beyond_[link.tail].out += sign * link.capacity;
    beyond_[link.head].in += sign * link.capacity;
  }

  bool is_between_targets(const Arc& link) const {
    return is_target_[link.tail] && is_target_[link.head];
  }

  // Calls visit with each remaining link.
  template <typename Visit>
  void each_left(const Visit& visit) const {
    for (const Arc& link : links_) {
      if (is_there(link)) visit(link);
    }
    for (std::size_t s = 0; s < num_splits_; ++s) {
      const Arc link{splits_.from[s], splits_.to[s], splits_.amount[s]};
      if (is_between_targets(link)) visit(link);
    }
  }

  // The remaining links by tail; the row of each tail begins at first[tail]. Tails are left out. A
  // counting pass: there may be millions.
  ArcColumns sorted_by_tail(NodeMap<std::size_t>& first) const {
    each_left([&](const Arc& link) { ++first[link.tail + 1]; });
    for (NodeId v = 0; v < at_.count(); ++v) first[v + 1] += first[v];
    NodeMap<std::size_t> next = first;
    ArcColumns sorted;
    sorted.resize(first.back());
    each_left([&](const Arc& link) {
      const std::size_t place = next[link.tail]++;
      sorted.head[place] = link.head;
      sorted.capacity[place] = link.capacity;
    });
    return sorted;
  }

  // Mostly one run or two in order: the splits of one switch go head by head.
  static void sort_by_head(ArcColumns& links, std::size_t first, std::size_t end,
                           std::vector<Arc>& scratch) {
    const auto heads = std::span(links.head).subspan(first, end - first);
    const auto run = std::ranges::is_sorted_until(heads) - heads.begin();
    if (run == std::ssize(heads)) return;
    scratch.clear();
    for (std::size_t i = first; i < end; ++i) {
      scratch.push_back({0, links.head[i], links.capacity[i]});
    }
    const auto middle = scratch.begin() + run;
    if (std::is_sorted(middle, scratch.end(), is_before)) {
      std::inplace_merge(scratch.begin(), middle, scratch.end(), is_before);
    } else {
      std::sort(scratch.begin(), scratch.end(), is_before);
    }
    for (std::size_t i = first; i < end; ++i) {
      links.head[i] = scratch[i - first].head;
      links.capacity[i] = scratch[i - first].capacity;
    }
  }

  static bool is_before(const Arc& one, const Arc& other) { return one.head < other.head; }

  const NodeMap<std::uint8_t>& is_target_;
  IndexedVector<Arc> links_;  // every link but splits' between targets; 0 at removed switches
  SplitColumns splits_;       // with spare room at the end
  std::size_t num_splits_ = 0;
  NodeMap<std::vector<int>> at_;  // by switch, either end
  NodeMap<Beyond> beyond_;
  IndexedVector<std::vector<int>> closed_;  // the links of each set that is not open
};

}  // namespace forestcoll
