#include "forestcoll/common/types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/errors.hpp"

namespace forestcoll {

namespace {

// Sums of capacities and of trees stay below this limit, so no flow can overflow.
constexpr Amount kLargestSum = std::numeric_limits<Amount>::max() / 2;

void add_checked(Amount& sum, Amount value) {
  if (value > kLargestSum - sum) {
    throw CapacityOverflow("capacities or trees add up to more than 2^62");
  }
  sum += value;
}

// Whether a sum of so many capacities stays below the limit. The bits are those of all capacities:
// at least the largest, and negative if one is.
bool are_small(Amount bits, std::size_t count) {
  return bits >= 0 && bits <= kLargestSum / (static_cast<Amount>(count) + 1);
}

// Whether nothing is wrong, and no sum near the limit, in passes without branches: there may be
// millions of arcs.
bool are_clearly_right(NodeId nodes, std::span<const Arc> arcs) {
  bool is_wrong = false;
  Amount bits = 0;
  for (const Arc& arc : arcs) {
    is_wrong |= (arc.tail < 0) | (arc.tail >= nodes) | (arc.head < 0) | (arc.head >= nodes) |
                (arc.tail == arc.head);
    bits |= arc.capacity;
  }
  return !is_wrong && are_small(bits, arcs.size());
}

// The same, column by column, which the compiler can vectorize.
bool are_clearly_right(NodeId nodes, const ArcView& arcs) {
  int wrong = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const NodeId tail = arcs.tail[i], head = arcs.head[i];
    wrong |= static_cast<int>(tail < 0) | static_cast<int>(tail >= nodes) |
             static_cast<int>(head < 0) | static_cast<int>(head >= nodes) |
             static_cast<int>(tail == head);
  }
  Amount bits = 0;
  for (const Amount capacity : arcs.capacity) bits |= capacity;
  return wrong == 0 && are_small(bits, arcs.size());
}

template <typename Arcs>
void check_each(NodeId nodes, const Arcs& arcs) {
  Amount capacities = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const Arc arc = arcs[i];
    if (arc.tail < 0 || arc.tail >= nodes || arc.head < 0 || arc.head >= nodes ||
        arc.tail == arc.head) {
      throw InvalidInput("an arc must join two different nodes of the graph");
    }
    if (arc.capacity < 0) throw InvalidInput("a capacity is negative");
    add_checked(capacities, arc.capacity);
  }
}

template <typename Arcs>
void check_all(NodeId nodes, const Arcs& arcs, const Demand& demand, Roots roots) {
  if (demand.trees.count() != nodes || demand.is_target.count() != nodes) {
    throw InvalidInput("trees and targets must have one entry a node");
  }
  if (!are_clearly_right(nodes, arcs)) check_each(nodes, arcs);
  Amount trees = 0;
  for (NodeId v = 0; v < nodes; ++v) {
    if (demand.trees[v] < 0) throw InvalidInput("a number of trees is negative");
    if (roots == Roots::targets && demand.trees[v] > 0 && !demand.is_target[v]) {
      throw InvalidInput("a root of trees must be a target itself");
    }
    add_checked(trees, demand.trees[v]);
  }
}

}  // namespace

Amount Demand::total() const { return std::accumulate(trees.begin(), trees.end(), Amount{0}); }

std::vector<NodeId> Demand::targets() const {
  std::vector<NodeId> nodes;
  for (NodeId v = 0; v < is_target.count(); ++v) {
    if (is_target[v]) nodes.push_back(v);
  }
  return nodes;
}

std::vector<Arc> merged(std::vector<Arc> arcs) {
  std::ranges::sort(arcs, {}, [](const Arc& arc) { return ends(arc.tail, arc.head); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < arcs.size(); ++i) {
    if (arcs[i].tail == arcs[last].tail && arcs[i].head == arcs[last].head) {
      arcs[last].capacity += arcs[i].capacity;
    } else {
      arcs[++last] = arcs[i];
    }
  }
  if (!arcs.empty()) arcs.resize(last + 1);
  return arcs;
}

void check(NodeId nodes, std::span<const Arc> arcs, const Demand& demand, Roots roots) {
  check_all(nodes, arcs, demand, roots);
}

void check(NodeId nodes, const ArcView& arcs, const Demand& demand) {
  check_all(nodes, arcs, demand, Roots::targets);
}

}  // namespace forestcoll
