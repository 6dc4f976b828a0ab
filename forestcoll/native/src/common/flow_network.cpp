#include "forestcoll/common/flow_network.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>

namespace forestcoll {

FlowNetwork::FlowNetwork(const Graph& graph) : FlowNetwork(graph.num_nodes) {
  const auto in_order = [](const Arc& a, const Arc& b) {
    return ends(a.tail, a.head) < ends(b.tail, b.head);
  };
  if (std::ranges::adjacent_find(graph.arcs, std::not_fn(in_order)) == graph.arcs.end()) {
    add_sorted(graph.arcs);
    return;
  }
  index(graph.arcs.size());
  for (const Arc& arc : graph.arcs) add(arc.tail, arc.head, arc.capacity);
}

// Adds to a network without arcs what add() would, in one pass. Of an arc from a node to an earlier
// one, the opposite has come before, if there is one: the heads that a node is asked for rise.
void FlowNetwork::add_sorted(const IndexedVector<Arc>& arcs) {
  NodeMap<int> next(num_nodes(), 0);  // by tail: the first arc that may still be asked for
  NodeMap<int> degree(num_nodes(), 0);
  IndexedVector<int> opposite(arcs.size(), -1), number(arcs.size(), -1);
  for (int i = arcs.count(); i-- > 0;) next[arcs[i].tail] = i;
  for (int i = 0; i < arcs.count(); ++i) {
    const auto [tail, head, capacity] = arcs[i];
    if (head < tail) {
      int& at = next[head];
      while (arcs[at].tail == head && arcs[at].head < tail) ++at;
      if (arcs[at].tail == head && arcs[at].head == tail) {
        opposite[i] = at;
        continue;
      }
    }
    ++degree[tail];
    ++degree[head];
  }
  for (NodeId v = 0; v < num_nodes(); ++v) {
    out_[v].reserve(static_cast<std::size_t>(degree[v]));
    neighbours_[v].reserve(static_cast<std::size_t>(degree[v]));
  }
  make_room(head_, 2 * arcs.size());
  make_room(capacity_, 2 * arcs.size());
  for (int i = 0; i < arcs.count(); ++i) {
    if (opposite[i] < 0) {
      number[i] = append(arcs[i].tail, arcs[i].head);
    } else {
      number[i] = number[opposite[i]] ^ 1;
    }
    capacity_[number[i]] += arcs[i].capacity;
  }
}

int FlowNetwork::append(NodeId tail, NodeId head) {
  const int arc = num_arcs();
  head_.insert(head_.end(), {head, tail});
  capacity_.insert(capacity_.end(), {0, 0});
  out_[tail].push_back(arc);
  out_[head].push_back(arc ^ 1);
  neighbours_[tail].push_back(head);
  neighbours_[head].push_back(tail);
  return arc;
}

int FlowNetwork::add(NodeId tail, NodeId head, Amount capacity) {
  index(head_.size() / 2 + 1);
  int arc = find(tail, head);
  if (arc < 0) {
    slots_[slot(tail, head)] = num_arcs() / 2;
    arc = append(tail, head);
  }
  capacity_[arc] += capacity;
  return arc;
}

void FlowNetwork::expect(std::size_t pairs) {
  make_room(head_, 2 * pairs);
  make_room(capacity_, 2 * pairs);
  index(head_.size() / 2 + pairs);
}

// Without an index by the shorter of two lists: switches have long ones.
int FlowNetwork::find(NodeId tail, NodeId head) const {
  if (!slots_.empty()) {
    const int pair = slots_[slot(tail, head)];
    return pair < 0 ? -1 : 2 * pair + (head_[2 * pair] == head ? 0 : 1);
  }
  const bool from_tail = out_[tail].size() <= out_[head].size();
  const NodeId node = from_tail ? tail : head;
  const auto place = std::ranges::find(neighbours_[node], from_tail ? head : tail);
  if (place == neighbours_[node].end()) return -1;
  const int arc = out_[node][static_cast<std::size_t>(place - neighbours_[node].begin())];
  return from_tail ? arc : arc ^ 1;
}

// The slot of the pair of arcs between two nodes, or the free slot for it.
std::size_t FlowNetwork::slot(NodeId one, NodeId other) const {
  const std::uint64_t pair_of_ends = ends(std::min(one, other), std::max(one, other));
  const std::size_t mask = slots_.size() - 1;
  // The upper half of a product depends on all bits of both ends.
  std::size_t at = static_cast<std::size_t>((pair_of_ends * 0x9E3779B97F4A7C15U) >> 32) & mask;
  const auto is_between = [&](int pair) {
    const NodeId head = head_[2 * pair], tail = head_[2 * pair + 1];
    return (tail == one && head == other) || (tail == other && head == one);
  };
  while (slots_[at] >= 0 && !is_between(slots_[at])) at = (at + 1) & mask;
  return at;
}

// Makes the index large enough for so many pairs.
void FlowNetwork::index(std::size_t pairs) {
  if (2 * pairs <= slots_.size()) return;
  slots_.assign(std::bit_ceil(std::max<std::size_t>(4 * pairs, 16)), -1);
  for (int pair = 0; pair < num_arcs() / 2; ++pair) {
    slots_[slot(head_[2 * pair], head_[2 * pair + 1])] = pair;
  }
}

std::vector<Arc> FlowNetwork::arcs() const {
  std::vector<Arc> arcs;
  for (int a = 0; a < num_arcs(); ++a) {
    if (capacity(a) > 0) arcs.push_back({tail(a), head(a), capacity(a)});
  }
  return merged(std::move(arcs));
}

}  // namespace forestcoll
