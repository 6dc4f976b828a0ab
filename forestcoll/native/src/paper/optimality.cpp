// Algorithm 1: bisection of 1/x between the ratio of the weakest compute node's cut and N - 1.
//
// Probes are multiples of 1 / (B^2 + 1), with B the least ingress of a compute node, so they are
// whole numbers over one denominator. The last interval is one step wide, less than 1 / B^2. It
// holds only one fraction with a denominator up to B, which is 1/x*. The cut that starved the last
// failing probe has a larger ratio than that probe and a denominator below B, so its ratio is 1/x*.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/paper/paper.hpp"

namespace forestcoll::paper {

namespace {

__extension__ using Wide = __int128;

struct Ratio {
  Amount over;
  Amount under;
};

// The fraction of least denominator between two others, both included (Stern-Brocot tree).
Ratio simplest(Ratio low, Ratio high) {
  const Amount whole = low.over / low.under;
  if (low.over % low.under == 0) return {whole, 1};
  if (whole < high.over / high.under) return {whole + 1, 1};
  const Ratio rest = simplest({high.under, high.over - whole * high.under},
                              {low.under, low.over - whole * low.under});
  return {whole * rest.over + rest.under, rest.over};
}

class Bisection {
 public:
  Bisection(const Graph& graph, const NodeMap<std::uint8_t>& is_compute, Progress& progress)
      : graph_(graph), is_compute_(is_compute), progress_(progress) {
    for (NodeId v = 0; v < is_compute.count(); ++v) {
      if (is_compute[v]) compute_.push_back(v);
    }
    if (compute_.size() < 2) throw InvalidInput("there are fewer than two compute nodes");
  }

  Optimality run() {
    const auto others = static_cast<Amount>(compute_.size()) - 1;
    const Amount least = find_weakest();
    refuse_overflow(least);
    grid_ = least * least + 1;
    Amount low = others * grid_ / least;
    Amount high = others * grid_;
    const auto steps = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(high - low)));
    while (high - low > 1) {
      const Amount middle = low + (high - low) / 2;
      progress_(found_.probes, steps);
      (holds(middle, steps) ? high : low) = middle;
      ++found_.probes;
    }
    if (high == others * grid_ && !holds(high, steps)) {
      throw Disconnected("some compute node cannot reach another");  // else B+(S) >= 1 everywhere
    }
    const Ratio best = simplest({low, grid_}, {high, grid_});
    found_.numerator = best.over;
    found_.denominator = best.under;
    prove();
    return std::move(found_);
  }

 private:
  // The least ingress of a compute node. The first cut is all nodes but the weakest.
  Amount find_weakest() {
    NodeMap<Amount> ingress(is_compute_.size(), 0);
    for (const Arc& arc : graph_.arcs) ingress[arc.head] += arc.capacity;
    const NodeId weakest =
        *std::ranges::min_element(compute_, {}, [&](NodeId v) { return ingress[v]; });
    found_.cut.assign(is_compute_.size(), 1);
    found_.cut[weakest] = 0;
    const Amount least = ingress[weakest];
    if (least == 0) {
      throw Disconnected("node " + std::to_string(weakest) + " receives nothing");
    }
    return least;
  }

  void refuse_overflow(Amount least) const {
    constexpr Wide kLargest = std::numeric_limits<Amount>::max() / 2;
    Wide bound = 0;
    for (const Arc& arc : graph_.arcs) bound += arc.capacity;
    for (const Wide factor :
         {Wide{static_cast<Amount>(compute_.size())}, Wide{least}, Wide{least} + 1}) {
      if (bound >= kLargest / factor) {
        throw CapacityOverflow(
            "the probes of the bisection would leave exact 64-bit arithmetic: nodes times the "
            "square of the least ingress times the sum of capacities must stay below 2^62");
      }
      bound *= factor;
    }
  }

  // Whether 1/x = over / grid is at least 1/x*: whether every compute node gets all N x.
  bool holds(Amount over, int steps) {
    NodeMap<Amount> supply(is_compute_.size(), 0);
    for (const NodeId v : compute_) supply[v] = grid_;
    MaxFlow network = with_source(graph_, supply, over);
    const NodeId source = graph_.num_nodes;
    const Amount needed = grid_ * static_cast<Amount>(compute_.size());
    for (const NodeId v : compute_) {
      progress_(found_.probes, steps);
      if (network.run(source, v, needed) == needed) continue;
      found_.cut = network.source_side(source);
      found_.cut.pop_back();  // the source
      return false;
    }
    return true;
  }

  void prove() const {
    Amount inside = 0, exit = 0;
    for (const NodeId v : compute_) inside += found_.cut[v];
    for (const Arc& arc : graph_.arcs) {
      const bool leaves = found_.cut[arc.tail] != 0 && found_.cut[arc.head] == 0;
      if (leaves) exit += arc.capacity;
    }
    if (Wide{inside} * found_.denominator != Wide{found_.numerator} * exit) {
      throw InternalError("the last cut of the bisection is no bottleneck");
    }
  }

  const Graph& graph_;
  const NodeMap<std::uint8_t>& is_compute_;
  Progress& progress_;
  std::vector<NodeId> compute_;
  Amount grid_ = 1;
  Optimality found_;
};

}  // namespace

Optimality find_optimality(const Graph& graph, const NodeMap<std::uint8_t>& is_compute,
                           Progress progress) {
  check(graph, {NodeMap<Amount>(is_compute.size(), 0), is_compute});
  return Bisection(graph, is_compute, progress).run();
}

}  // namespace forestcoll::paper
