#include "forestcoll/tight_sets/narrowest_sets.hpp"

#include <algorithm>
#include <numeric>

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

Amount rounded(Amount amount, int bits) {
  return amount == 0 ? 0 : std::max<Amount>(amount >> bits, 1);
}

// Bits to drop so that the sum of all capacities times the number of trees fits 64 bits.
int excess_bits(const Subproblem& problem) {
  Wide sum = problem.demand.total();
  for (const Arc& arc : problem.graph.arcs) sum += arc.capacity;
  int bits = 0;
  while ((sum >> bits) >= (Wide{1} << 30)) ++bits;
  return bits;
}

}  // namespace

NarrowestSets::NarrowestSets(const Subproblem& problem)
    : graph_(problem.graph), trees_(problem.demand.trees), network_(problem.graph.num_nodes) {
  const int bits = excess_bits(problem);
  for (Amount& trees : trees_) trees = rounded(trees, bits);
  all_trees_ = std::accumulate(trees_.begin(), trees_.end(), Amount{0});
  for (Arc& arc : graph_.arcs) {
    arc.capacity = rounded(arc.capacity, bits);
    network_.add(arc.tail, arc.head, arc.capacity);
  }
  for (int arc = 0; arc < network_.num_arcs(); ++arc) base_.push_back(network_.capacity(arc));
}

std::vector<NodeId> NarrowestSets::around(const std::vector<NodeId>& core) {
  NodeMap<std::uint8_t> inside(trees_.size(), 0);
  for (const NodeId v : core) inside[v] = 1;
  for (;;) {
    // Newton's method: every cut found is strictly narrower, so the loop ends.
    const auto [wanted, entering] = ratio(inside);
    if (wanted == 0 || entering == 0) return {};
    const Amount divisor = std::gcd(wanted, entering);
    WarmFlow flow = scaled_flow(wanted / divisor, entering / divisor, core);
    const bool is_narrowest = flow.settle(core.front()) == 0;
    std::vector<NodeId> set;
    if (is_narrowest) {
      set = flow.reaching(core.front());
    } else {
      inside = flow.source_side();
      for (std::uint8_t& side : inside) side = side ? 0 : 1;
    }
    untie(core);
    if (is_narrowest) return set;
  }
}

// Trees rooted outside a set, and capacity into it.
std::pair<Amount, Amount> NarrowestSets::ratio(const NodeMap<std::uint8_t>& inside) const {
  Amount wanted = 0, entering = 0;
  for (std::size_t v = 0; v < inside.size(); ++v) wanted += inside[v] ? 0 : trees_[v];
  for (const Arc& arc : graph_.arcs) {
    const bool enters = !inside[arc.tail] && inside[arc.head];
    entering += enters ? arc.capacity : 0;
  }
  return {wanted, entering};
}

// Capacities times p, trees times q. Arcs that no cut can afford tie the nodes of the core to its
// first.
WarmFlow NarrowestSets::scaled_flow(Amount p, Amount q, const std::vector<NodeId>& core) {
  for (int arc = 0; arc < base_.count(); ++arc) {
    network_.set_capacity(arc, base_[arc] * p);
  }
  for (const NodeId v : core) {
    if (v != core.front()) network_.add(v, core.front(), all_trees_ * q);
  }
  std::vector<Amount> supply = trees_;
  for (Amount& amount : supply) amount *= q;
  return {network_, supply};
}

void NarrowestSets::untie(const std::vector<NodeId>& core) {
  base_.resize(network_.num_arcs(), 0);  // ties that are new arcs
  for (const NodeId v : core) {
    if (v == core.front()) continue;
    const int arc = network_.find(v, core.front());
    network_.set_capacity(arc, base_[arc]);
  }
}

}  // namespace forestcoll
