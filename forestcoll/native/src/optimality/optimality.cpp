#include "forestcoll/optimality/optimality.hpp"

#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow_network.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/optimality/equal_boxes.hpp"
#include "forestcoll/violation/violation.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

struct Ratio {
  Amount over = 0;
  Amount under = 1;

  bool operator<(const Ratio& other) const {
    return Wide{over} * other.under < Wide{other.over} * under;
  }
};

Ratio reduced(Amount over, Amount under) {
  const Amount divisor = std::gcd(over, under);
  return {over / divisor, under / divisor};
}

Ratio ratio_of(const Graph& graph, const Demand& weights, const NodeMap<std::uint8_t>& cut) {
  Amount inside = 0;
  for (std::size_t v = 0; v < cut.size(); ++v) inside += cut[v] ? weights.trees[v] : 0;
  Amount exit = 0;
  for (const Arc& arc : graph.arcs) {
    const bool leaves = cut[arc.tail] != 0 && cut[arc.head] == 0;
    if (leaves) exit += arc.capacity;
  }
  if (exit == 0) throw Disconnected("a cut that holds data has no exit links");
  return reduced(inside, exit);
}

// p <= sum of weights and q <= sum of capacities bound every number in the search.
void refuse_overflow(const Graph& graph, const Demand& weights) {
  Wide capacity = 0;
  for (const Arc& arc : graph.arcs) capacity += arc.capacity;
  if (capacity * weights.total() >= std::numeric_limits<Amount>::max() / 2) {
    throw CapacityOverflow(
        "total capacity times total weight is " +
        std::to_string(static_cast<double>(capacity) * static_cast<double>(weights.total())) +
        ", beyond exact 64-bit arithmetic");
  }
}

// The cut around a single target: the first candidate, and often the last.
Bottleneck weakest_ingress(const Graph& graph, const Demand& weights) {
  NodeMap<Amount> ingress(weights.trees.size(), 0);
  for (const Arc& arc : graph.arcs) ingress[arc.head] += arc.capacity;
  Ratio worst;
  NodeId weakest = -1;
  const Amount total = weights.total();
  for (const NodeId v : weights.targets()) {
    const Amount needed = total - weights.trees[v];
    if (needed > 0 && ingress[v] == 0) {
      throw Disconnected("node " + std::to_string(v) + " receives nothing");
    }
    const Ratio ratio{needed, ingress[v] == 0 ? 1 : ingress[v]};
    if (weakest < 0 || worst < ratio) {
      worst = ratio;
      weakest = v;
    }
  }
  if (weakest < 0) throw InvalidInput("there is no target");
  Bottleneck bottleneck;
  bottleneck.cut.assign(weights.trees.size(), 1);
  bottleneck.cut[weakest] = 0;
  const Ratio lowest = reduced(worst.over, worst.under);
  bottleneck.numerator = lowest.over;
  bottleneck.denominator = lowest.under;
  return bottleneck;
}

// Tests a candidate on the network with capacities p * b and supplies q * weight.
std::optional<Violation> violation_of(const Bottleneck& candidate, const Graph& graph,
                                      const Demand& weights, std::span<const NodeId> targets,
                                      Progress& progress, int threads) {
  FlowNetwork network(graph);
  for (int arc = 0; arc < network.num_arcs(); ++arc) {
    network.set_capacity(arc, network.capacity(arc) * candidate.numerator);
  }
  std::vector<Amount> supplies = weights.trees;
  for (Amount& supply : supplies) supply *= candidate.denominator;
  return first_violation(network, supplies, targets, progress, threads);
}

}  // namespace

Bottleneck find_bottleneck(const Graph& graph, const Demand& weights, Progress progress,
                           int threads) {
  check(graph, weights);
  refuse_overflow(graph, weights);
  Bottleneck best = weakest_ingress(graph, weights);
  // By symmetry a target stands for its counterparts in equal boxes, or the first for all.
  std::vector<NodeId> targets = targets_of_unlike_boxes(graph, weights);
  if (is_alike_everywhere(graph, weights)) targets.resize(1);
  for (std::size_t passed = 0; passed < targets.size() && best.numerator > 0;) {
    const std::optional<Violation> violation =
        violation_of(best, graph, weights, std::span(targets).subspan(passed), progress, threads);
    if (!violation) break;
    // The ratio grows, so x falls, and the targets that passed stay satisfied.
    passed += violation->targets_before;
    best.cut = violation->cut;
    const Ratio ratio = ratio_of(graph, weights, best.cut);
    if (!(Ratio{best.numerator, best.denominator} < ratio)) {
      throw InternalError("a violated cut does not exceed the candidate ratio");
    }
    best.numerator = ratio.over;
    best.denominator = ratio.under;
    ++best.newton_steps;
  }
  return best;
}

}  // namespace forestcoll
