// The real links while switches are removed, set by set, and logical links are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/contraction.hpp"

namespace forestcoll {

// Parallel links stay separate until the end.
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

  // At most so many more links will be added.
  void expect(std::size_t more) { make_room(links_, more); }

  // Adds a link of an open set.
  void add(const Arc& link) {
    append(link);
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
  std::vector<Arc> merged() const {
    NodeMap<std::size_t> first(at_.count() + 1, 0);
    std::vector<Arc> left = sorted_by_tail(first);
    std::size_t kept = 0;
    for (NodeId tail = 0; tail < at_.count(); ++tail) {
      const auto row = std::span(left).subspan(first[tail], first[tail + 1] - first[tail]);
      sort_by_head(row);
      const std::size_t begin = kept;
      for (const Arc& link : row) {
        if (kept > begin && left[kept - 1].head == link.head) {
          left[kept - 1].capacity += link.capacity;
        } else {
          left[kept++] = link;
        }
      }
    }
    left.resize(kept);
    return left;
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

  // The remaining links by tail, in the order in which they were added; the row of each tail begins
  // at first[tail]. A counting pass: there may be millions.
  std::vector<Arc> sorted_by_tail(NodeMap<std::size_t>& first) const {
    for (const Arc& link : links_) first[link.tail + 1] += is_there(link);
    for (NodeId v = 0; v < at_.count(); ++v) first[v + 1] += first[v];
    NodeMap<std::size_t> next = first;
    std::vector<Arc> sorted(first.back());
    for (const Arc& link : links_) {
      if (is_there(link)) sorted[next[link.tail]++] = link;
    }
    return sorted;
  }

  // Mostly one run or two in order: the splits of one switch go head by head.
  static void sort_by_head(std::span<Arc> row) {
    const auto run = std::ranges::is_sorted_until(row, {}, &Arc::head);
    if (run == row.end()) return;
    if (std::ranges::is_sorted(run, row.end(), {}, &Arc::head)) {
      std::ranges::inplace_merge(row, run, {}, &Arc::head);
    } else {
      std::ranges::sort(row, {}, &Arc::head);
    }
  }

  const NodeMap<std::uint8_t>& is_target_;
  IndexedVector<Arc> links_;  // every link ever added; those of removed switches have capacity 0
  NodeMap<std::vector<int>> at_;  // by switch, either end
  NodeMap<Beyond> beyond_;
  IndexedVector<std::vector<int>> closed_;  // the links of each set that is not open
};

}  // namespace forestcoll
