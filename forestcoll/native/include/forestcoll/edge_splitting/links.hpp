// The real links while switches are removed and logical links are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Parallel links stay separate until the end.
class Links {
 public:
  explicit Links(const Graph& graph) : at_(graph.num_nodes), removed_(graph.num_nodes, 0) {
    links_.reserve(graph.arcs.size());
    for (const Arc& arc : graph.arcs) {
      if (arc.capacity > 0) add(arc);
    }
  }

  // At most so many more links will be added.
  void expect(std::size_t more) { make_room(links_, more); }

  void add(const Arc& link) {
    const int index = links_.count();
    at_[link.tail].push_back(index);
    at_[link.head].push_back(index);
    links_.push_back(link);
  }

  // A switch disappears with all of its links.
  void remove(NodeId node) { removed_[node] = 1; }

  // Every link that was ever added, also those of removed switches.
  const IndexedVector<Arc>& all() const { return links_; }

  // Calls visit with the index of every remaining link out of the node or into it.
  template <typename Visit>
  void each_at(NodeId node, const Visit& visit) const {
    for (const int index : at_[node]) {
      if (is_there(links_[index])) visit(static_cast<std::size_t>(index));
    }
  }

  // The remaining links, parallel ones merged, sorted by (tail, head).
  std::vector<Arc> merged() const {
    std::vector<Arc> all;
    for (NodeId tail = 0; tail < at_.count(); ++tail) {
      std::vector<Arc> row;
      each_at(tail, [&](std::size_t index) {
        if (links_[index].tail == tail) row.push_back(links_[index]);
      });
      row = forestcoll::merged(std::move(row));
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

 private:
  bool is_there(const Arc& link) const { return !removed_[link.tail] && !removed_[link.head]; }

  IndexedVector<Arc> links_;
  NodeMap<std::vector<int>> at_;  // by node, either end
  NodeMap<std::uint8_t> removed_;
};

}  // namespace forestcoll
