#include "forestcoll/optimality/equal_boxes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "forestcoll/common/shortcuts.hpp"

namespace forestcoll {

namespace {

// A box is compared with so many unlike ones before it.
constexpr std::size_t kMostKnown = 16;
// Each switch between boxes has a row as long as there are nodes.
constexpr std::size_t kMostBetween = 16;

class Boxes {
 public:
  Boxes(const Graph& graph, const Demand& demand)
      : graph_(graph),
        demand_(demand),
        first_(graph.num_nodes + 1, 0),
        is_between_(graph.num_nodes, 0) {}

  // The nodes outside of boxes that equal an earlier one; nothing if the nodes are no boxes.
  std::vector<NodeId> unlike() {
    if (!is_sorted() || !find_between()) return {};
    std::vector<NodeId> unlike;
    for (NodeId start = 0, end = 0; start < graph_.num_nodes; start = end) {
      end = is_between_[start] != 0 ? start + 1 : end_of_box(start);
      if (end < 0) return {};
      if (is_between_[start] != 0 || is_known(start, end)) continue;
      if (known_.size() < kMostKnown) known_.push_back({start, end});
      for (NodeId v = start; v < end; ++v) unlike.push_back(v);
    }
    return unlike;
  }

 private:
  struct Run {
    NodeId start, end;
  };

  bool is_sorted() {
    std::uint64_t before = 0;
    for (const Arc& arc : graph_.arcs) {
      const std::uint64_t now = ends(arc.tail, arc.head);
      if (now <= before && &arc != &graph_.arcs.front()) return false;
      before = now;
      ++first_[arc.tail + 1];
    }
    for (NodeId v = 0; v < graph_.num_nodes; ++v) first_[v + 1] += first_[v];
    return true;
  }

  // The switches with the most arcs, and their arcs by head.
  bool find_between() {
    std::size_t most = 0;
    for (NodeId v = 0; v < graph_.num_nodes; ++v) {
      if (!demand_.is_target[v]) most = std::max(most, arcs_of(v).size());
    }
    for (NodeId v = 0; v < graph_.num_nodes; ++v) {
      if (demand_.is_target[v] || arcs_of(v).size() < most) continue;
      if (from_between_.size() == kMostBetween) return false;
      is_between_[v] = 1;
      auto& to = from_between_.emplace_back(graph_.num_nodes, 0);
      for (const Arc& arc : arcs_of(v)) to[arc.head] = arc.capacity;
    }
    return !from_between_.empty();
  }

  std::span<const Arc> arcs_of(NodeId v) const {
    return std::span(graph_.arcs).subspan(first_[v], first_[v + 1] - first_[v]);
  }

  // One past the last node of the box that begins at a node, or -1.
  NodeId end_of_box(NodeId start) const {
    NodeId end = start + 1;
    for (NodeId v = start; v < end; ++v) {
      if (is_between_[v]) return -1;
      for (const Arc& arc : arcs_of(v)) {
        if (is_between_[arc.head]) continue;
        if (arc.head < start) return -1;
        end = std::max(end, arc.head + 1);
      }
    }
    return end;
  }

  bool is_known(NodeId start, NodeId end) const {
    return std::ranges::any_of(known_, [&](const Run& known) {
      return known.end - known.start == end - start && is_equal(known, start);
    });
  }

  // Whether the nodes of a box have the arcs and the demand of those of one before it, in order.
  bool is_equal(const Run& known, NodeId start) const {
    const NodeId by = start - known.start;
    for (NodeId v = known.start; v < known.end; ++v) {
      const bool same_arcs =
          std::ranges::equal(arcs_of(v), arcs_of(v + by), [&](const Arc& one, const Arc& other) {
            const NodeId head = is_between_[one.head] ? one.head : one.head + by;
            return other.head == head && one.capacity == other.capacity;
          });
      const bool same_demand = demand_.trees[v] == demand_.trees[v + by] &&
                               demand_.is_target[v] == demand_.is_target[v + by];
      const bool same_into = std::ranges::all_of(
          from_between_, [&](const NodeMap<Amount>& to) { return to[v] == to[v + by]; });
      if (!same_arcs || !same_demand || !same_into) return false;
    }
    return true;
  }

  const Graph& graph_;
  const Demand& demand_;
  NodeMap<std::size_t> first_;  // of each node: the first of its arcs
  NodeMap<std::uint8_t> is_between_;
  std::vector<NodeMap<Amount>> from_between_;
  std::vector<Run> known_;  // unlike boxes
};

}  // namespace

std::vector<NodeId> targets_of_unlike_boxes(const Graph& graph, const Demand& demand) {
  if (!is_open(Shortcut::kExchanges)) return demand.targets();
  std::vector<NodeId> nodes = Boxes(graph, demand).unlike();
  if (nodes.empty()) return demand.targets();
  std::erase_if(nodes, [&](NodeId v) { return demand.is_target[v] == 0; });
  return nodes;
}

}  // namespace forestcoll
