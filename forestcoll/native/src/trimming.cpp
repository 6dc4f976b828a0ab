#include "forestcoll/trimming.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "forestcoll/flow.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }

// The sets around given nodes that come nearest to being a bottleneck: Newton's method as for the
// optimum, with one sink and sets that need not be violated, maximising (Q - q(X)) / d(X).
class NarrowestSets {
 public:
  explicit NarrowestSets(const Problem& problem)
      : graph_(problem.graph),
        trees_(problem.demand.trees),
        all_trees_(problem.demand.total()),
        network_(problem.graph) {
    for (int arc = 0; arc < network_.num_arcs(); ++arc) base_.push_back(network_.capacity(arc));
  }

  // Exact 64-bit arithmetic must hold every capacity times the number of trees.
  static bool fits(const Problem& problem) {
    Wide capacity = 0;
    for (const Arc& arc : problem.graph.arcs) capacity += arc.capacity;
    const Wide trees = problem.demand.total();
    return (capacity + trees) * (trees + capacity) < std::numeric_limits<Amount>::max() / 4;
  }

  // The smallest maximiser that holds all of `core`, ascending.
  std::vector<NodeId> around(const std::vector<NodeId>& core) {
    std::vector<std::uint8_t> inside(trees_.size(), 0);
    for (const NodeId v : core) inside[at(v)] = 1;
    for (;;) {
      const auto [wanted, entering] = ratio(inside);
      if (wanted == 0 || entering == 0) return {};
      const Amount divisor = std::gcd(wanted, entering);
      WarmFlow flow = scaled_flow(wanted / divisor, entering / divisor, core);
      const Amount shortage = flow.settle(core.front());
      if (shortage == 0) {
        std::vector<NodeId> set = flow.reaching(core.front());
        release(core);
        return set;
      }
      inside = flow.source_side();
      for (std::uint8_t& side : inside) side = side ? 0 : 1;
      release(core);
    }
  }

 private:
  std::pair<Amount, Amount> ratio(const std::vector<std::uint8_t>& inside) const {
    Amount wanted = 0, entering = 0;
    for (std::size_t v = 0; v < inside.size(); ++v) wanted += inside[v] ? 0 : trees_[v];
    for (const Arc& arc : graph_.arcs) {
      if (!inside[at(arc.tail)] && inside[at(arc.head)]) entering += arc.capacity;
    }
    return {wanted, entering};
  }

  // Nodes of the core are tied to its first: no cut comes between them.
  WarmFlow scaled_flow(Amount p, Amount q, const std::vector<NodeId>& core) {
    for (std::size_t arc = 0; arc < base_.size(); ++arc) {
      network_.set_capacity(static_cast<int>(arc), base_[arc] * p);
    }
    for (const NodeId v : core) {
      if (v != core.front()) network_.add(v, core.front(), all_trees_ * q);
    }
    std::vector<Amount> supply = trees_;
    for (Amount& amount : supply) amount *= q;
    return {network_, supply};
  }

  void release(const std::vector<NodeId>& core) {
    if (core.size() == 1) return;
    base_.resize(static_cast<std::size_t>(network_.num_arcs()), 0);
    for (std::size_t arc = 0; arc < base_.size(); ++arc) {
      network_.set_capacity(static_cast<int>(arc), base_[arc]);
    }
  }

  const Graph& graph_;
  const std::vector<Amount>& trees_;
  Amount all_trees_;
  FlowNetwork network_;
  std::vector<Amount> base_;  // capacities before scaling
};

// So much off an arc.
struct Cut {
  std::size_t arc;
  Amount amount;
};

// A set, and what makes it tight.
struct Candidate {
  std::vector<NodeId> set;
  std::vector<Cut> cuts;
};

class Trimmer {
 public:
  Trimmer(Problem& problem, Progress& progress)
      : problem_(problem),
        progress_(progress),
        in_(problem.demand.trees.size()),
        out_(problem.demand.trees.size()),
        room_(problem.demand.trees),
        taken_(problem.demand.trees.size(), 0) {
    const Amount all = problem.demand.total();
    for (Amount& room : room_) room -= all;
    for (std::size_t arc = 0; arc < arcs().size(); ++arc) {
      in_[at(arcs()[arc].head)].push_back(arc);
      out_[at(arcs()[arc].tail)].push_back(arc);
      room_[at(arcs()[arc].head)] += arcs()[arc].capacity;
    }
  }

  std::vector<std::vector<NodeId>> run() {
    if (!has_switch() || !NarrowestSets::fits(problem_)) return {};
    const std::vector<Candidate> candidates = find_candidates();
    return candidates.empty() ? std::vector<std::vector<NodeId>>{} : apply(candidates);
  }

 private:
  std::vector<Arc>& arcs() { return problem_.graph.arcs; }
  bool is_target(NodeId v) const { return problem_.demand.is_target[at(v)] != 0; }
  bool is_switch(NodeId v) const { return !is_target(v) && v != problem_.outside; }
  bool is_fixed(NodeId v) const { return v == problem_.outside || (is_target(v) && room(v) == 0); }
  // h({v}) of a target.
  Amount room(NodeId v) const { return room_[at(v)]; }

  bool has_switch() const {
    for (NodeId v = 0; v < problem_.graph.num_nodes; ++v) {
      if (is_switch(v)) return true;
    }
    return false;
  }

  // A set of its own around every loose target; around a tight one, or one around which no larger
  // set is as narrow, with the smallest switch next to it and all that hang on that.
  std::vector<Candidate> find_candidates() {
    NarrowestSets narrowest(problem_);
    std::vector<Candidate> candidates;
    int failures = 0;
    const std::vector<NodeId> targets = problem_.demand.targets();
    for (std::size_t i = 0; i < targets.size() && failures < kMostFailures; ++i) {
      const NodeId v = targets[i];
      progress_(static_cast<std::int64_t>(i), static_cast<std::int64_t>(targets.size()));
      if (taken_[at(v)]) continue;
      std::vector<NodeId> set{v};
      if (room(v) > 0) set = narrowest.around({v});
      if (set.size() == 1) {
        const std::vector<NodeId> core = siblings(v);
        if (core.size() > 1) set = narrowest.around(core);
      }
      if (auto candidate = candidate_of(std::move(set))) {
        for (const NodeId u : candidate->set) taken_[at(u)] = 1;
        candidates.push_back(std::move(*candidate));
        failures = 0;
      } else {
        ++failures;
      }
    }
    return candidates;
  }

  // The smallest switch next to v with the targets on it, v first; v alone if those are all.
  std::vector<NodeId> siblings(NodeId v) const {
    NodeId smallest = -1;
    for (const std::size_t arc : in_[at(v)]) {
      const NodeId w = problem_.graph.arcs[arc].tail;
      if (!is_switch(w)) continue;
      if (smallest < 0 || out_[at(w)].size() < out_[at(smallest)].size()) smallest = w;
    }
    std::vector<NodeId> core{v};
    if (smallest < 0) return core;
    for (const std::size_t arc : out_[at(smallest)]) {
      const NodeId u = problem_.graph.arcs[arc].head;
      if (u != v && is_target(u)) core.push_back(u);
    }
    if (core.size() == problem_.demand.targets().size()) return {v};
    core.push_back(smallest);
    return core;
  }

  // Shares h(X) out over the arcs that enter X; nothing if X is no use or its arcs cannot spare it.
  std::optional<Candidate> candidate_of(std::vector<NodeId> set) {
    const std::size_t items = problem_.demand.trees.size() - (problem_.outside < 0 ? 0 : 1);
    if (set.size() < 2 || set.size() >= items) return std::nullopt;
    std::vector<std::uint8_t> inside(problem_.demand.trees.size(), 0);
    for (const NodeId v : set) {
      if (v == problem_.outside || taken_[at(v)]) return std::nullopt;
      inside[at(v)] = 1;
    }
    Amount surplus = 0;
    for (std::size_t v = 0; v < inside.size(); ++v) {
      surplus -= inside[v] ? 0 : problem_.demand.trees[v];
    }
    std::vector<Cut> spare;
    Amount all_spare = 0;
    for (const NodeId head : set) {
      for (const std::size_t arc : in_[at(head)]) {
        if (inside[at(arcs()[arc].tail)]) continue;
        surplus += arcs()[arc].capacity;
        spare.push_back({arc, can_spare(arc)});
        all_spare += spare.back().amount;
      }
    }
    if (surplus <= 0 || surplus > all_spare) return std::nullopt;
    return Candidate{std::move(set), proportional(std::move(spare), surplus, all_spare)};
  }

  // How much an arc can give without a look at any cut beyond its ends. What a switch no longer
  // receives it must not send either.
  Amount can_spare(std::size_t index) {
    const Arc& arc = arcs()[index];
    if (arc.tail == problem_.outside || is_fixed(arc.head)) return 0;
    if (is_target(arc.head)) return std::min(arc.capacity, room(arc.head));
    const std::optional<std::size_t> back = opposite(index);
    return back && !is_fixed(arc.tail) ? std::min(arc.capacity, arcs()[*back].capacity) : 0;
  }

  std::optional<std::size_t> opposite(std::size_t index) {
    const Arc& arc = arcs()[index];
    for (const std::size_t back : out_[at(arc.head)]) {
      if (arcs()[back].head == arc.tail) return back;
    }
    return std::nullopt;
  }

  static std::vector<Cut> proportional(std::vector<Cut> spare, Amount wanted, Amount all_spare) {
    Amount missing = wanted;
    std::vector<Cut> cuts;
    for (Cut& from : spare) {
      const auto share = static_cast<Amount>(Wide{from.amount} * wanted / all_spare);
      cuts.push_back({from.arc, share});
      from.amount -= share;
      missing -= share;
    }
    for (std::size_t i = 0; missing > 0; i = (i + 1) % cuts.size()) {
      if (spare[i].amount == 0) continue;
      ++cuts[i].amount;
      --spare[i].amount;
      --missing;
    }
    std::erase_if(cuts, [](const Cut& cut) { return cut.amount == 0; });
    return cuts;
  }

  // Both directions lose the same where both can.
  std::vector<Cut> both_ways(const std::vector<Cut>& cuts) {
    std::vector<Cut> all = cuts;
    for (const Cut& cut : cuts) {
      const std::optional<std::size_t> back = opposite(cut.arc);
      if (!back || is_fixed(arcs()[cut.arc].tail)) continue;
      if (arcs()[*back].capacity >= cut.amount) all.push_back({*back, cut.amount});
    }
    return all;
  }

  // Takes from all candidates at once and gives back to those that a violated cut points at.
  std::vector<std::vector<NodeId>> apply(const std::vector<Candidate>& candidates) {
    FlowNetwork network(problem_.graph);
    std::vector<std::vector<Cut>> lost;
    for (const Candidate& candidate : candidates) {
      lost.push_back(take(candidate, network));
    }
    WarmFlow flow(network, problem_.demand.trees);
    std::vector<NodeId> targets = problem_.demand.targets();
    for (std::size_t i = 0; i < targets.size();) {
      if (flow.settle(targets[i]) == 0) {
        ++i;
        continue;
      }
      const std::size_t worst = to_blame(lost, flow.source_side());
      for (const Cut& cut : lost[worst]) lower(cut.arc, -cut.amount, network);
      lost[worst].clear();
    }
    std::vector<std::vector<NodeId>> kept;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!lost[i].empty()) kept.push_back(candidates[i].set);
    }
    return kept;
  }

  // An arc may serve two candidates, as the way in and the way back; it has only so much.
  std::vector<Cut> take(const Candidate& candidate, FlowNetwork& network) {
    const auto has_enough = [this](const Cut& cut) {
      return arcs()[cut.arc].capacity >= cut.amount;
    };
    if (surplus(candidate.set) != sum(candidate.cuts) ||
        !std::ranges::all_of(candidate.cuts, has_enough)) {
      return {};
    }
    const std::vector<Cut> cuts = both_ways(candidate.cuts);
    for (const Cut& cut : cuts) lower(cut.arc, cut.amount, network);
    return cuts;
  }

  static Amount sum(const std::vector<Cut>& cuts) {
    Amount sum = 0;
    for (const Cut& cut : cuts) sum += cut.amount;
    return sum;
  }

  Amount surplus(const std::vector<NodeId>& set) {
    std::vector<std::uint8_t> inside(problem_.demand.trees.size(), 0);
    for (const NodeId v : set) inside[at(v)] = 1;
    Amount surplus = 0;
    for (std::size_t v = 0; v < inside.size(); ++v) {
      surplus -= inside[v] ? 0 : problem_.demand.trees[v];
    }
    for (const NodeId v : set) {
      for (const std::size_t arc : in_[at(v)]) {
        if (!inside[at(arcs()[arc].tail)]) surplus += arcs()[arc].capacity;
      }
    }
    return surplus;
  }

  void lower(std::size_t index, Amount amount, FlowNetwork& network) {
    Arc& arc = arcs()[index];
    arc.capacity -= amount;
    network.add(arc.tail, arc.head, -amount);
  }

  // The candidate that took most from the arcs across a violated cut. Before anything was taken no
  // cut was violated, so there is one.
  std::size_t to_blame(const std::vector<std::vector<Cut>>& lost,
                       const std::vector<std::uint8_t>& source_side) {
    std::size_t worst = 0;
    Amount most = -1;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      Amount across = 0;
      for (const Cut& cut : lost[i]) {
        const Arc& arc = arcs()[cut.arc];
        if (source_side[at(arc.tail)] && !source_side[at(arc.head)]) across += cut.amount;
      }
      if (across > most) {
        most = across;
        worst = i;
      }
    }
    return worst;
  }

  // Networks tend to be symmetric: after so many sets in a row that are no use, the rest is none.
  static constexpr int kMostFailures = 64;

  Problem& problem_;
  Progress& progress_;
  std::vector<std::vector<std::size_t>> in_, out_;
  std::vector<Amount> room_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace

std::vector<std::vector<NodeId>> trim(Problem& problem, Progress& progress) {
  return Trimmer(problem, progress).run();
}

}  // namespace forestcoll
