#include "forestcoll/tight_sets/trimming.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/tight_sets/exchanges.hpp"
#include "forestcoll/tight_sets/narrowest_sets.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

// An amount to take off an arc.
struct Cut {
  std::size_t arc;
  Amount amount;
};

using Cuts = std::vector<Cut>;

// The narrowest sets around single nodes. There is one smallest around each, so that around the
// first of equal parts is mapped to the others.
class SetsAround {
 public:
  SetsAround(const Subproblem& problem, NarrowestSets& narrowest)
      : narrowest_(narrowest), of_first_(problem.graph.num_nodes) {
    if (is_open(Shortcut::kExchanges)) exchanges_.emplace(problem);
  }

  std::vector<NodeId> around(NodeId v) {
    if (!exchanges_) return narrowest_.around({v});
    const NodeId first = exchanges_->first_of(v);
    std::vector<NodeId>& set = of_first_[first];
    if (set.empty()) set = narrowest_.around({first});
    return exchanges_->image(set, v);
  }

 private:
  NarrowestSets& narrowest_;
  std::optional<Exchanges> exchanges_;
  NodeMap<std::vector<NodeId>> of_first_;
};

class Trimmer {
 public:
  Trimmer(Subproblem& problem, Progress& progress)
      : problem_(problem),
        progress_(progress),
        in_(problem.demand.trees.size()),
        out_(problem.demand.trees.size()),
        room_(problem.demand.trees),
        taken_(problem.demand.trees.size(), 0),
        trimmed_(problem.demand.trees.size(), 0),
        inside_(problem.demand.trees.size(), 0) {
    const Amount all = problem.demand.total();
    for (Amount& room : room_) room -= all;
    for (std::size_t arc = 0; arc < arcs().size(); ++arc) {
      in_[arcs()[arc].head].push_back(arc);
      out_[arcs()[arc].tail].push_back(arc);
      room_[arcs()[arc].head] += arcs()[arc].capacity;
    }
  }

  // Trims all candidates at once; then without those that broke a cut, until none does.
  std::vector<std::vector<NodeId>> run() {
    if (!has_switch()) return {};
    std::vector<std::vector<NodeId>> sets = find_candidates();
    if (sets.empty()) sets = find_lone_leaves();
    while (!sets.empty()) {
      std::vector<Cuts> lost;
      for (const auto& set : sets) lost.push_back(take(set));
      if (give_back(lost)) break;
      std::vector<std::vector<NodeId>> rest;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        for (const Cut& cut : lost[i]) lower(cut.arc, -cut.amount);
        if (!lost[i].empty()) rest.push_back(std::move(sets[i]));
      }
      sets = std::move(rest);
      std::ranges::fill(trimmed_, std::uint8_t{0});
    }
    std::erase_if(sets, [this](const auto& set) { return surplus(set) != 0; });
    return sets;
  }

 private:
  std::vector<Arc>& arcs() { return problem_.graph.arcs; }
  bool is_target(NodeId v) const { return problem_.demand.is_target[v] != 0; }
  bool is_switch(NodeId v) const { return !is_target(v) && v != problem_.outside; }
  // Whether the ingress of a node must stay as it is.
  bool is_fixed(NodeId v) const {
    return v == problem_.outside || trimmed_[v] || (is_target(v) && room_[v] <= 0);
  }

  bool has_switch() const {
    for (NodeId v = 0; v < problem_.graph.num_nodes; ++v) {
      if (is_switch(v)) return true;
    }
    return false;
  }

  // A candidate around every slack target. If the target is tight, or no larger set around it is as
  // narrow, the candidate surrounds its smallest switch and all targets there.
  std::vector<std::vector<NodeId>> find_candidates() {
    NarrowestSets narrowest(problem_);
    SetsAround sets(problem_, narrowest);
    std::vector<std::vector<NodeId>> candidates;
    int failures = 0;
    const std::vector<NodeId> targets = problem_.demand.targets();
    for (std::size_t i = 0; i < targets.size() && failures < kMostFailures; ++i) {
      const NodeId v = targets[i];
      progress_(static_cast<std::int64_t>(i), static_cast<std::int64_t>(targets.size()));
      if (taken_[v]) continue;
      std::vector<NodeId> set{v};
      if (room_[v] > 0) set = sets.around(v);
      if (set.size() == 1) {
        const std::vector<NodeId> core = siblings(v);
        if (core.size() > 1) set = narrowest.around(core);
      }
      ++failures;
      if (!is_candidate(set) || !plan(set)) continue;
      for (const NodeId u : set) taken_[u] = 1;
      candidates.push_back(std::move(set));
      failures = 0;
    }
    return candidates;
  }

  // A candidate around every target that hangs on a switch of its own, if there are many. Such a
  // switch can have many times the bandwidth of its target. Without trimming, all of it is split on
  // its way through, switch after switch, into millions of paths that no tree needs. A few such
  // switches are left alone, since trees through them take fewer hops.
  std::vector<std::vector<NodeId>> find_lone_leaves() {
    std::vector<std::pair<NodeId, NodeId>> lone;
    for (const NodeId v : problem_.demand.targets()) {
      if (const NodeId leaf = own_switch(v); leaf >= 0) lone.emplace_back(v, leaf);
    }
    if (paths_through(lone.size()) <= kFewPaths) return {};
    NarrowestSets narrowest(problem_);
    std::vector<std::vector<NodeId>> candidates;
    for (std::size_t i = 0; i < lone.size(); ++i) {
      const auto [v, leaf] = lone[i];
      progress_(static_cast<std::int64_t>(i), static_cast<std::int64_t>(lone.size()));
      if (taken_[v]) continue;
      std::vector<NodeId> set = narrowest.around({v, leaf});
      if (!is_candidate(set) || !plan(set)) continue;
      for (const NodeId u : set) taken_[u] = 1;
      candidates.push_back(std::move(set));
    }
    return candidates;
  }

  // A bound on the paths through n switches with one target each. The last to be removed have links
  // to most others, n^2 splits for each. No more paths are in use than trees enter the targets.
  std::size_t paths_through(std::size_t n) const {
    return n * std::min(n * n, static_cast<std::size_t>(problem_.demand.total()));
  }

  // The switch that sends to v alone of all targets, if nothing else sends to v; otherwise -1.
  NodeId own_switch(NodeId v) const {
    if (in_[v].size() != 1) return -1;
    const NodeId leaf = problem_.graph.arcs[in_[v].front()].tail;
    const auto is_other = [&](std::size_t arc) {
      const NodeId head = problem_.graph.arcs[arc].head;
      return head != v && is_target(head);
    };
    return is_switch(leaf) && std::ranges::none_of(out_[leaf], is_other) ? leaf : -1;
  }

  // The smallest switch next to v with its targets, v first; v alone if those are all targets.
  std::vector<NodeId> siblings(NodeId v) const {
    NodeId smallest = -1;
    for (const std::size_t arc : in_[v]) {
      const NodeId w = problem_.graph.arcs[arc].tail;
      if (!is_switch(w)) continue;
      if (smallest < 0 || out_[w].size() < out_[smallest].size()) smallest = w;
    }
    std::vector<NodeId> core{v};
    if (smallest < 0) return core;
    for (const std::size_t arc : out_[smallest]) {
      const NodeId u = problem_.graph.arcs[arc].head;
      if (u != v && is_target(u)) core.push_back(u);
    }
    if (core.size() == 1 || core.size() == problem_.demand.targets().size()) return {v};
    core.push_back(smallest);
    return core;
  }

  bool is_candidate(const std::vector<NodeId>& set) const {
    const std::size_t items = taken_.size() - (problem_.outside < 0 ? 0 : 1);
    return set.size() > 1 && set.size() < items &&
           std::ranges::none_of(
               set, [this](NodeId v) { return v == problem_.outside || taken_[v]; });
  }

  void mark(const std::vector<NodeId>& set) {
    std::ranges::fill(inside_, std::uint8_t{0});
    for (const NodeId v : set) inside_[v] = 1;
  }

  // h(X), the ingress of X beyond the trees rooted outside.
  Amount surplus(const std::vector<NodeId>& set) {
    mark(set);
    Amount surplus = 0;
    for (std::size_t v = 0; v < inside_.size(); ++v) {
      surplus -= inside_[v] ? 0 : problem_.demand.trees[v];
    }
    for (const NodeId v : set) {
      for (const std::size_t arc : in_[v]) {
        if (!inside_[arcs()[arc].tail]) surplus += arcs()[arc].capacity;
      }
    }
    return surplus;
  }

  // Distributes h(X) over the arcs that enter X; nothing if they cannot spare it.
  std::optional<Cuts> plan(const std::vector<NodeId>& set) {
    const Amount wanted = surplus(set);
    Cuts spare;
    Amount all_spare = 0;
    for (const NodeId head : set) {
      for (const std::size_t arc : in_[head]) {
        if (inside_[arcs()[arc].tail]) continue;
        spare.push_back({arc, can_spare(arc)});
        all_spare += spare.back().amount;
      }
    }
    if (wanted < 0 || wanted > all_spare) return std::nullopt;  // below 0: neighbours took it
    return wanted == 0 ? Cuts{} : proportional(std::move(spare), wanted, all_spare);
  }

  // The amount that an arc can lose, judged by its ends alone. A switch must not send more than it
  // still receives, so its opposite arc must be able to lose as much.
  Amount can_spare(std::size_t index) {
    const Arc& arc = arcs()[index];
    if (arc.tail == problem_.outside || is_fixed(arc.head)) return 0;
    if (is_target(arc.head)) return std::min(arc.capacity, room_[arc.head]);
    const std::optional<std::size_t> back = opposite(index);
    return back && !is_fixed(arc.tail) ? std::min(arc.capacity, arcs()[*back].capacity) : 0;
  }

  std::optional<std::size_t> opposite(std::size_t index) {
    const Arc& arc = arcs()[index];
    for (const std::size_t back : out_[arc.head]) {
      if (arcs()[back].head == arc.tail) return back;
    }
    return std::nullopt;
  }

  static Cuts proportional(Cuts spare, Amount wanted, Amount all_spare) {
    Amount missing = wanted;
    Cuts cuts;
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

  // Makes a set tight, if its arcs can still spare the surplus; returns their losses.
  Cuts take(const std::vector<NodeId>& set) {
    const std::optional<Cuts> planned = plan(set);
    if (!planned) return {};
    const Cuts cuts = both_ways(*planned);
    for (const Cut& cut : cuts) lower(cut.arc, cut.amount);
    for (const NodeId v : set) trimmed_[v] = 1;
    return cuts;
  }

  // Both directions lose the same where both can.
  Cuts both_ways(const Cuts& cuts) {
    Cuts all = cuts;
    for (const Cut& cut : cuts) {
      const std::optional<std::size_t> back = opposite(cut.arc);
      if (!back || is_fixed(arcs()[cut.arc].tail)) continue;
      if (arcs()[*back].capacity >= cut.amount) all.push_back({*back, cut.amount});
    }
    return all;
  }

  void lower(std::size_t index, Amount amount) {
    Arc& arc = arcs()[index];
    arc.capacity -= amount;
    room_[arc.head] -= amount;
  }

  // Where a cut is violated now, the set that took most across it returns everything. Returns
  // whether no cut was violated.
  bool give_back(std::vector<Cuts>& lost) {
    bool none = true;
    FlowNetwork network(problem_.graph);
    WarmFlow flow(network, problem_.demand.trees);
    const std::vector<NodeId> targets = problem_.demand.targets();
    for (std::size_t i = 0; i < targets.size();) {
      if (flow.settle(targets[i]) == 0) {
        ++i;
        continue;
      }
      Cuts& worst = to_blame(lost, flow.source_side());
      for (const Cut& cut : worst) {
        lower(cut.arc, -cut.amount);
        network.add(arcs()[cut.arc].tail, arcs()[cut.arc].head, cut.amount);
      }
      worst.clear();
      none = false;
    }
    return none;
  }

  // No cut was violated before trimming, so some set took capacity across this one.
  Cuts& to_blame(std::vector<Cuts>& lost, const NodeMap<std::uint8_t>& source_side) {
    return *std::ranges::max_element(lost, {}, [&](const Cuts& cuts) {
      Amount across = 0;
      for (const Cut& cut : cuts) {
        const Arc& arc = arcs()[cut.arc];
        if (source_side[arc.tail] && !source_side[arc.head]) across += cut.amount;
      }
      return across;
    });
  }

  // Networks tend to be symmetric: after so many useless sets in a row, the search stops.
  static constexpr int kMostFailures = 64;

  // Paths that are found in a second or two.
  static constexpr std::size_t kFewPaths = std::size_t{1} << 19;

  Subproblem& problem_;
  Progress& progress_;
  NodeMap<std::vector<std::size_t>> in_, out_;
  NodeMap<Amount> room_;           // h({v}) of targets
  NodeMap<std::uint8_t> taken_;    // in a candidate
  NodeMap<std::uint8_t> trimmed_;  // in a set that was made tight
  NodeMap<std::uint8_t> inside_;   // the set of the last surplus()
};

}  // namespace

std::vector<std::vector<NodeId>> trim(Subproblem& problem, Progress& progress) {
  return Trimmer(problem, progress).run();
}

}  // namespace forestcoll
