// The real links while switches are removed, set by set, and logical links are added.
#pragma once

#include <cstddef>
#include <cstdint>
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
        removed_(graph.num_nodes, 0),
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
    each_at(node, [this](const Arc& link) { count(link, -1); });
    removed_[node] = 1;
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
    // Two counting passes: there may be millions.
    std::vector<Arc> left = sorted_by(&Arc::tail, sorted_by(&Arc::head, links_));
    std::size_t last = 0;
    for (std::size_t i = 1; i < left.size(); ++i) {
      if (left[i].tail == left[last].tail && left[i].head == left[last].head) {
        left[last].capacity += left[i].capacity;
      } else {
        left[++last] = left[i];
      }
    }
    if (!left.empty()) left.resize(last + 1);
    return left;
  }

 private:
  bool is_there(const Arc& link) const { return !removed_[link.tail] && !removed_[link.head]; }

  void append(const Arc& link) {
    if (!is_target_[link.tail]) at_[link.tail].push_back(links_.count());
    if (!is_target_[link.head]) at_[link.head].push_back(links_.count());
    links_.push_back(link);
  }

  void count(const Arc& link, int sign) {
    beyond_[link.tail].out += sign * link.capacity;
    beyond_[link.head].in += sign * link.capacity;
  }

  // The remaining ones of these links; those of equal ends stay in order.
  std::vector<Arc> sorted_by(NodeId Arc::* end, const std::vector<Arc>& links) const {
    NodeMap<std::size_t> next(removed_.count() + 1, 0);
    for (const Arc& link : links) next[link.*end + 1] += is_there(link);
    for (NodeId v = 0; v < removed_.count(); ++v) next[v + 1] += next[v];
    std::vector<Arc> sorted(next.back());
    for (const Arc& link : links) {
      if (is_there(link)) sorted[next[link.*end]++] = link;
    }
    return sorted;
  }

  const NodeMap<std::uint8_t>& is_target_;
  IndexedVector<Arc> links_;      // every link that was ever added, also those of removed switches
  NodeMap<std::vector<int>> at_;  // by switch, either end
  NodeMap<Beyond> beyond_;
  NodeMap<std::uint8_t> removed_;
  IndexedVector<std::vector<int>> closed_;  // the links of each set that is not open
};

}  // namespace forestcoll
