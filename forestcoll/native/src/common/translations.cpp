#include "forestcoll/common/translations.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "forestcoll/common/shortcuts.hpp"

namespace forestcoll {

namespace {

// Numbers with many divisors are products in many ways; most fail at the first arcs.
constexpr int kMostFactorizations = 1 << 14;

// Calls visit with the radices of every product equal to n, those of few factors first, until it
// returns true.
template <typename Visit>
class Factorizations {
 public:
  Factorizations(NodeId n, Visit visit) : n_(n), visit_(visit) {}

  void run() {
    for (std::size_t factors = 1; (NodeId{1} << factors) <= n_ && !done_; ++factors) {
      choose(n_, factors);
    }
  }

 private:
  void choose(NodeId rest, std::size_t factors) {
    if (factors == 1) {
      radices_.push_back(rest);
      done_ = visit_(radices_) || ++tried_ == kMostFactorizations;
      radices_.pop_back();
      return;
    }
    for (NodeId radix = 2; radix <= rest / 2 && !done_; ++radix) {
      if (rest % radix != 0 || (rest / radix) >> (factors - 1) == 0) continue;
      radices_.push_back(radix);
      choose(rest / radix, factors - 1);
      radices_.pop_back();
    }
  }

  NodeId n_;
  Visit visit_;
  std::vector<NodeId> radices_;
  int tried_ = 0;
  bool done_ = false;
};

NodeId minus(NodeId v, NodeId w, const std::vector<NodeId>& radices) {
  NodeId difference = 0, unit = 1;
  for (std::size_t i = radices.size(); i-- > 0;) {
    const NodeId radix = radices[i];
    NodeId digit = v % radix - w % radix;
    if (digit < 0) digit += radix;
    difference += digit * unit;
    unit *= radix;
    v /= radix;
    w /= radix;
  }
  return difference;
}

}  // namespace

NodeId Translations::difference(NodeId v, NodeId w) const { return minus(v, w, radices_); }

NodeMap<NodeId> Translations::moved_by(NodeId by) const {
  NodeMap<NodeId> moved;
  moved.reserve(static_cast<std::size_t>(num_nodes_));
  moved.push_back(0);
  NodeId unit = num_nodes_;
  for (const NodeId radix : radices_) {
    // From the offsets of the digits so far to those of one more digit.
    unit /= radix;
    const NodeId digit = by / unit % radix;
    NodeMap<NodeId> more;
    more.reserve(static_cast<std::size_t>(num_nodes_));
    for (const NodeId before : moved) {
      for (NodeId i = digit; i < radix; ++i) more.push_back(before + i * unit);
      for (NodeId i = 0; i < digit; ++i) more.push_back(before + i * unit);
    }
    moved = std::move(more);
  }
  return moved;
}

std::optional<Translations> find_translations(const Graph& graph) {
  const NodeId n = graph.num_nodes;
  if (n < 2) return std::nullopt;
  NodeMap<Amount> capacity(n, 0);
  const auto place = [](const Arc& arc) { return ends(arc.tail, arc.head); };
  const bool is_merged = std::ranges::adjacent_find(graph.arcs, std::ranges::greater_equal{},
                                                    place) == graph.arcs.end();
  const std::vector<Arc> own = is_merged ? std::vector<Arc>{} : merged(graph.arcs);
  const std::vector<Arc>& arcs = is_merged ? graph.arcs : own;
  std::size_t from_first = 0;
  for (const Arc& arc : arcs) {
    if (arc.tail != 0 || arc.capacity == 0) continue;
    capacity[arc.head] = arc.capacity;
    ++from_first;
  }
  const auto present = static_cast<std::size_t>(
      std::ranges::count_if(arcs, [](const Arc& a) { return a.capacity > 0; }));
  if (present != from_first * static_cast<std::size_t>(n)) return std::nullopt;
  Translations found;
  found.num_nodes_ = n;
  Factorizations(n, [&](const std::vector<NodeId>& radices) {
    const bool alike = std::ranges::all_of(arcs, [&](const Arc& arc) {
      return arc.capacity == 0 || capacity[minus(arc.head, arc.tail, radices)] == arc.capacity;
    });
    if (alike) found.radices_ = radices;
    return alike;
  }).run();
  if (found.radices_.empty()) return std::nullopt;
  for (NodeId by = 1; by < n; ++by) {
    const Amount own = capacity[by];
    if (own > 0) found.offsets_.push_back({by, own});
  }
  return found;
}

bool is_alike_everywhere(const Graph& graph, const Demand& demand) {
  const auto alike = [&](const auto& values) {
    return std::ranges::all_of(values, [&](const auto& value) { return value == values.front(); });
  };
  return is_open(Shortcut::kAlike) && graph.num_nodes > 1 && demand.is_target.front() != 0 &&
         alike(demand.is_target) && alike(demand.trees) && find_translations(graph).has_value();
}

}  // namespace forestcoll
