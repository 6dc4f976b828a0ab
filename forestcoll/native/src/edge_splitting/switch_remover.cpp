#include "forestcoll/edge_splitting/switch_remover.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/edge_splitting/split_matrix.hpp"

namespace forestcoll {

namespace {

// The graph while its switches are removed, and the flow that proves that it still carries the
// demand.
class SwitchRemover {
 public:
  SwitchRemover(const Subproblem& problem, Amount batch, const RemovalOptions& options,
                Progress& progress)
      : options_(options),
        progress_(progress),
        network_(problem.graph),
        flow_(network_, problem.demand.trees),
        targets_(problem.demand.targets()),
        stays_(problem.demand.is_target),
        trees_(problem.demand.trees),
        outside_(problem.outside),
        quantum_(smallest_root(problem)),
        batch_(batch) {
    if (outside_ >= 0) stays_[outside_] = 1;
  }

  ItemSplits run();

 private:
  // The fewest trees that start at a target, as their root or where they enter.
  static Amount smallest_root(const Subproblem& problem) {
    NodeMap<Amount> starting = problem.demand.trees;
    for (const Arc& arc : problem.graph.arcs) {
      if (arc.tail == problem.outside) starting[arc.head] += arc.capacity;
    }
    Amount smallest = 0;
    for (const NodeId v : problem.demand.targets()) {
      const Amount trees = starting[v];
      if (trees > 0 && (smallest == 0 || trees < smallest)) smallest = trees;
    }
    return std::max<Amount>(smallest, 1);
  }

  std::vector<NodeId> removal_order();
  NodeMap<int> tiers() const;
  std::vector<Port> ports_of(NodeId via) const;
  void group(std::vector<Port>& ports, NodeId via) const;
  NodeMap<int> components_without(const NodeMap<std::uint8_t>& removed) const;

  // The matrix by which a switch has been split.
  struct Guess {
    NodeId via;
    std::vector<Port> ports;
    SplitMatrix matrix;
  };

  struct Pair {
    std::size_t from, to;  // ports
  };
  // The sides of a violated cut: pairs within the set that receives too little, pairs beyond it,
  // and the unpaired input of each port beyond.
  struct Sides {
    std::vector<Pair> within, beyond;
    std::vector<Amount> unused_beyond;
  };

  void remove_tier(std::span<const NodeId> switches);
  Guess guess(NodeId via);
  void take_back(NodeId via, const std::vector<Port>& ports, const SplitMatrix& matrix);
  static void check_balance(NodeId via, const std::vector<Port>& ports);
  void retire(NodeId via, const std::vector<Port>& ports);
  void remove(NodeId via);
  bool remove_by_guess(NodeId via, const std::vector<Port>& ports);
  bool repair(const std::vector<Port>& ports, SplitMatrix& matrix);
  Sides sides_of_cut(const std::vector<Port>& ports, const SplitMatrix& matrix) const;
  bool exchange(const std::vector<Port>& ports, SplitMatrix& matrix, Amount shortage);
  void remove_exactly(NodeId via, const std::vector<Port>& ports);
  Amount largest_split(NodeId via, NodeId from, NodeId to);

  void change(NodeId tail, NodeId head, Amount by) {
    if (tail == head) return;
    const int arc = network_.add(tail, head, by);
    if (by < 0) flow_.clip(arc);
  }
  // Turns `amount` units of from -> via -> to into a logical link, or back if negative.
  void split(NodeId via, NodeId from, NodeId to, Amount amount) {
    change(from, via, -amount);
    change(via, to, -amount);
    change(from, to, amount);
  }
  void split_all(NodeId via, const std::vector<Port>& ports, const SplitMatrix& matrix, int sign);
  void log(NodeId via, const std::vector<Port>& ports, const SplitMatrix& matrix);
  bool carries_demand(std::span<const NodeId> targets);
  std::vector<NodeId> one_of_each(const std::vector<Port>& ports) const;
  bool is_symmetry(const NodeMap<NodeId>& rotated) const;

  RemovalOptions options_;
  Progress& progress_;
  FlowNetwork network_;
  WarmFlow flow_;
  std::vector<NodeId> targets_;
  NodeMap<std::uint8_t> stays_;  // targets and the outside
  NodeMap<Amount> trees_;
  NodeId outside_;
  Amount quantum_;
  Amount batch_;
  NodeMap<std::pair<int, int>> class_;  // tier and number of ports, of the nodes to remove
  ItemSplits result_;
};

ItemSplits SwitchRemover::run() {
  if (!carries_demand(targets_))
    throw Infeasible("the capacities cannot carry the trees asked for");
  const std::vector<NodeId> order = removal_order();
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    const auto tier_of = [this](NodeId v) { return class_[v].first; };
    for (last = first; last < order.size() && tier_of(order[last]) == tier_of(order[first]);) {
      ++last;
    }
    remove_tier(std::span(order).subspan(first, last - first));
    progress_(static_cast<std::int64_t>(last), static_cast<std::int64_t>(order.size()));
  }
  return std::move(result_);
}

bool SwitchRemover::carries_demand(std::span<const NodeId> targets) {
  return std::ranges::all_of(targets, [this](NodeId v) { return flow_.settle(v) == 0; });
}

// One target of each orbit, which stands for all of it. The symmetry maps each group of ports to
// the next, as a circulant guess does; it is used only if it maps the whole graph to itself.
std::vector<NodeId> SwitchRemover::one_of_each(const std::vector<Port>& ports) const {
  if (ports.empty() || !is_open(Shortcut::kOneOfOrbit)) return targets_;
  std::map<int, std::vector<NodeId>> groups;
  for (const Port& port : ports) groups[port.group].push_back(port.node);
  NodeMap<NodeId> rotated(stays_.size(), 0);
  std::iota(rotated.begin(), rotated.end(), NodeId{0});
  const auto* last = &groups.rbegin()->second;
  for (const auto& [group, nodes] : groups) {
    if (nodes.size() != last->size()) return targets_;
    for (std::size_t i = 0; i < nodes.size(); ++i) rotated[(*last)[i]] = nodes[i];
    last = &nodes;
  }
  if (!is_symmetry(rotated)) return targets_;
  NodeMap<std::uint8_t> seen(stays_.size(), 0);
  std::vector<NodeId> first;
  for (const NodeId target : targets_) {
    if (!seen[target]) first.push_back(target);
    for (NodeId v = target; !seen[v]; v = rotated[v]) seen[v] = 1;
  }
  return first;
}

bool SwitchRemover::is_symmetry(const NodeMap<NodeId>& rotated) const {
  for (NodeId v = 0; v < rotated.count(); ++v) {
    if (trees_[v] != trees_[rotated[v]] || stays_[v] != stays_[rotated[v]]) return false;
  }
  for (int arc = 0; arc < network_.num_arcs(); ++arc) {
    if (network_.capacity(arc) == 0) continue;
    const int image = network_.find(rotated[network_.tail(arc)], rotated[network_.head(arc)]);
    if (image < 0 || network_.capacity(image) != network_.capacity(arc)) return false;
  }
  return true;
}

// Hops to the nearest target.
NodeMap<int> SwitchRemover::tiers() const {
  NodeMap<int> tier(stays_.size(), -1);
  std::vector<NodeId> queue = targets_;
  for (const NodeId v : queue) tier[v] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int arc : network_.arcs_of(queue[i])) {
      int& there = tier[network_.head(arc)];
      if (there >= 0) continue;
      there = tier[queue[i]] + 1;
      queue.push_back(network_.head(arc));
    }
  }
  return tier;
}

// Removes from the top of the network down, large switches first. The switches below then still
// show which ports belong together.
std::vector<NodeId> SwitchRemover::removal_order() {
  const NodeMap<int> tier = tiers();
  class_.resize(stays_.size());
  std::vector<NodeId> order;
  for (NodeId v = 0; v < network_.num_nodes(); ++v) {
    if (stays_[v]) continue;
    class_[v] = {tier[v], static_cast<int>(network_.arcs_of(v).size())};
    order.push_back(v);
  }
  std::ranges::stable_sort(order, [this](NodeId a, NodeId b) { return class_[a] > class_[b]; });
  return order;
}

std::vector<Port> SwitchRemover::ports_of(NodeId via) const {
  std::vector<Port> ports;
  for (const int arc : network_.arcs_of(via)) {
    const Amount out = network_.capacity(arc);
    const Amount in = network_.capacity(arc ^ 1);
    if (in > 0 || out > 0) ports.push_back({network_.head(arc), in, out, -1});
  }
  std::ranges::sort(ports, {}, &Port::node);
  group(ports, via);
  return ports;
}

// Ports that stay connected without the switch form a group, if there are at least two groups.
// Otherwise the ports that stay connected without all switches of its class do. If that also gives
// one group, each port is a group of its own.
void SwitchRemover::group(std::vector<Port>& ports, NodeId via) const {
  NodeMap<std::uint8_t> removed(stays_.size(), 0);
  const auto group_by = [&] {
    const NodeMap<int> component = components_without(removed);
    for (Port& port : ports) port.group = component[port.node];
    return std::ranges::any_of(ports,
                               [&](const Port& port) { return port.group != ports[0].group; });
  };
  removed[via] = 1;
  if (group_by()) return;
  for (std::size_t v = 0; v < removed.size(); ++v) {
    if (!stays_[v] && class_[v] == class_[via]) removed[v] = 1;
  }
  if (group_by()) return;
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].group = static_cast<int>(i);
}

// A number for each node's component; removed nodes have -1.
NodeMap<int> SwitchRemover::components_without(const NodeMap<std::uint8_t>& removed) const {
  NodeMap<int> component(stays_.size(), -1);
  std::vector<NodeId> queue;
  for (NodeId start = 0; start < network_.num_nodes(); ++start) {
    if (component[start] >= 0 || removed[start]) {
      continue;
    }
    component[start] = start;
    if (start == outside_) continue;  // how the outside connects items does not matter here
    queue.assign(1, start);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const int arc : network_.arcs_of(queue[i])) {
        const NodeId head = network_.head(arc);
        const bool joined = network_.capacity(arc) > 0 || network_.capacity(arc ^ 1) > 0;
        if (!joined || removed[head] || component[head] >= 0 || network_.head(arc) == outside_) {
          continue;
        }
        component[head] = start;
        queue.push_back(network_.head(arc));
      }
    }
  }
  return component;
}

// Guesses all switches of one tier before the first test: usually one pass of flows suffices for
// all. If it fails, all guesses are undone and each half is tried by itself.
void SwitchRemover::remove_tier(std::span<const NodeId> switches) {
  if (switches.size() == 1 || options_.most_exchanges < 0) {
    for (const NodeId via : switches) remove(via);
    return;
  }
  std::vector<Guess> guesses;
  for (const NodeId via : switches) guesses.push_back(guess(via));
  if (carries_demand(one_of_each(guesses.front().ports))) {
    for (const Guess& guess : guesses) log(guess.via, guess.ports, guess.matrix);
    return;
  }
  while (!guesses.empty()) {
    take_back(guesses.back().via, guesses.back().ports, guesses.back().matrix);
    guesses.pop_back();
  }
  remove_tier(switches.first(switches.size() / 2));
  remove_tier(switches.subspan(switches.size() / 2));
}

void SwitchRemover::check_balance(NodeId via, const std::vector<Port>& ports) {
  Amount in = 0, out = 0;
  for (const Port& port : ports) {
    in += port.in;
    out += port.out;
  }
  if (in < out) {
    throw Infeasible("node " + std::to_string(via) + " sends " + std::to_string(out) +
                     " but receives only " + std::to_string(in));
  }
}

// Input of a switch beyond its output carries nothing, so its capacity is dropped.
void SwitchRemover::retire(NodeId via, const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    const int arc = network_.find(port.node, via);
    network_.set_capacity(arc, 0);
    flow_.clip(arc);
  }
}

SwitchRemover::Guess SwitchRemover::guess(NodeId via) {
  std::vector<Port> ports = ports_of(via);
  check_balance(via, ports);
  SplitMatrix matrix = guess_split_matrix(ports, quantum_, options_.sparse_exchange, batch_);
  split_all(via, ports, matrix, 1);
  retire(via, ports);
  return {via, std::move(ports), std::move(matrix)};
}

void SwitchRemover::take_back(NodeId via, const std::vector<Port>& ports,
                              const SplitMatrix& matrix) {
  split_all(via, ports, matrix, -1);
  for (const Port& port : ports) {
    network_.set_capacity(network_.find(port.node, via),
                          port.in);  // with the input that no pair used
  }
}

void SwitchRemover::remove(NodeId via) {
  const std::vector<Port> ports = ports_of(via);
  check_balance(via, ports);
  if (!remove_by_guess(via, ports)) {
    ++result_.exact_switches;
    remove_exactly(via, ports);
  }
  retire(via, ports);
}

void SwitchRemover::split_all(NodeId via, const std::vector<Port>& ports, const SplitMatrix& matrix,
                              int sign) {
  std::size_t entries = 0;
  std::vector<int> in, out;  // the arcs of each port, found once
  for (std::size_t i = 0; i < ports.size(); ++i) {
    entries += matrix.row(i).size();
    in.push_back(network_.find(ports[i].node, via));
    out.push_back(network_.find(via, ports[i].node));
  }
  network_.expect(entries);
  const auto change_by = [this](int arc, Amount by) {
    network_.set_capacity(arc, network_.capacity(arc) + by);
    flow_.clip(arc);
  };
  for (std::size_t i = 0; i < ports.size(); ++i) {
    for (const auto& [j, amount] : matrix.row(i)) {
      change_by(in[i], -sign * amount);
      change_by(out[j], -sign * amount);
      change(ports[i].node, ports[j].node, sign * amount);
    }
  }
}

void SwitchRemover::log(NodeId via, const std::vector<Port>& ports, const SplitMatrix& matrix) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    for (const auto& [j, amount] : matrix.row(i)) {
      if (i != j) result_.splits.push_back({via, ports[i].node, ports[j].node, amount});
    }
  }
}

bool SwitchRemover::remove_by_guess(NodeId via, const std::vector<Port>& ports) {
  if (options_.most_exchanges < 0) return false;
  SplitMatrix matrix = guess_split_matrix(ports, quantum_, options_.sparse_exchange, batch_);
  split_all(via, ports, matrix, 1);
  if (repair(ports, matrix)) {
    log(via, ports, matrix);
    return true;
  }
  take_back(via, ports, matrix);
  return false;
}

// Tests the targets cyclically and exchanges pairs where a cut falls short. Every exchange may
// break another cut, so the loop ends only after all targets have passed in a row.
bool SwitchRemover::repair(const std::vector<Port>& ports, SplitMatrix& matrix) {
  if (carries_demand(one_of_each(ports))) return true;
  std::size_t at = 0;
  int exchanges = 0;
  for (std::size_t passed = 0; passed < targets_.size();) {
    const Amount shortage = flow_.settle(targets_[at]);
    if (shortage == 0) {
      ++passed;
      at = (at + 1) % targets_.size();
      continue;
    }
    if (exchanges == options_.most_exchanges || !exchange(ports, matrix, shortage)) return false;
    ++exchanges;
    passed = 0;
  }
  return true;
}

// Collects pairs with both ports on one side of the violated cut, those between groups last. Pairs
// inside a group are the likeliest to be wrong in other cuts too.
SwitchRemover::Sides SwitchRemover::sides_of_cut(const std::vector<Port>& ports,
                                                 const SplitMatrix& matrix) const {
  const NodeMap<std::uint8_t> side = flow_.source_side();
  const auto outside = [&](std::size_t port) { return side[ports[port].node] != 0; };
  Sides sides;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    Amount unused = ports[i].in;
    for (const auto& [j, amount] : matrix.row(i)) {
      unused -= amount;
      if (outside(i) == outside(j)) (outside(i) ? sides.beyond : sides.within).push_back({i, j});
    }
    sides.unused_beyond.push_back(outside(i) ? unused : 0);
  }
  const auto across = [&](const Pair& p) { return ports[p.from].group != ports[p.to].group; };
  std::ranges::stable_sort(sides.within, {}, across);
  std::ranges::stable_sort(sides.beyond, {}, across);
  return sides;
}

// The violated cut lost capacity to pairs with both ports on one side of it. Crossing a pair inside
// with a pair outside, (u, t), (u', t') -> (u, t'), (u', t), restores it unit for unit and keeps
// every port's total. Unused input outside serves as well as a pair.
bool SwitchRemover::exchange(const std::vector<Port>& ports, SplitMatrix& matrix, Amount shortage) {
  auto [within, beyond, unused] = sides_of_cut(ports, matrix);
  const auto move = [&](std::size_t from, std::size_t to, Amount amount) {
    matrix.add(from, to, amount);
    change(ports[from].node, ports[to].node, amount);
  };
  std::size_t b = 0, spare = 0;
  for (const Pair& a : within) {
    while (shortage > 0 && matrix.at(a.from, a.to) > 0) {
      while (b < beyond.size() && matrix.at(beyond[b].from, beyond[b].to) == 0) ++b;
      while (spare < unused.size() && unused[spare] == 0) ++spare;
      Amount amount = std::min(shortage, matrix.at(a.from, a.to));
      if (b < beyond.size()) {
        amount = std::min(amount, matrix.at(beyond[b].from, beyond[b].to));
        move(beyond[b].from, beyond[b].to, -amount);
        move(a.from, beyond[b].to, amount);
        move(beyond[b].from, a.to, amount);
      } else if (spare < unused.size()) {
        amount = std::min(amount, unused[spare]);
        unused[spare] -= amount;
        move(spare, a.to, amount);
      } else {
        return false;
      }
      move(a.from, a.to, -amount);
      shortage -= amount;
    }
  }
  return shortage == 0;
}

// Theorem 5: each out-link can be used up by splitting it with every in-link as far as possible.
void SwitchRemover::remove_exactly(NodeId via, const std::vector<Port>& ports) {
  SplitMatrix matrix(ports.size());
  const std::size_t count = ports.size();
  for (std::size_t j = 0; j < count; ++j) {
    // The port itself comes last: that split only gives up capacity.
    for (std::size_t step = 1; step <= count; ++step) {
      const std::size_t i = (j + step) % count;
      matrix.add(i, j, largest_split(via, ports[i].node, ports[j].node));
    }
    const int arc = network_.find(via, ports[j].node);
    if (network_.capacity(arc) != 0) {
      throw InternalError("an out-link of a switch could not be split off");
    }
  }
  log(via, ports, matrix);
}

// Splits as much of from -> via -> to as the demand can spare and returns the amount. Cuts that the
// split touches fall by exactly the amount split, so every shortage is exactly the amount to undo.
// Thus one flow replaces the auxiliary networks of Theorem 6.
Amount SwitchRemover::largest_split(NodeId via, NodeId from, NodeId to) {
  const auto left = [this](NodeId tail, NodeId head) {
    const int arc = network_.find(tail, head);
    return arc < 0 ? Amount{0} : network_.capacity(arc);
  };
  Amount amount = std::min(left(from, via), left(via, to));
  if (amount == 0) return 0;
  split(via, from, to, amount);
  for (const NodeId target : targets_) {
    const Amount shortage = flow_.settle(target);
    if (shortage == 0) continue;
    split(via, from, to, -shortage);
    amount -= shortage;
    if (amount < 0 || flow_.settle(target) != 0) {
      throw InternalError("undoing a split did not restore the demand");
    }
    if (amount == 0) break;
  }
  return amount;
}

}  // namespace

ItemSplits remove_switches(const Subproblem& problem, Amount batch, const RemovalOptions& options,
                           Progress& progress) {
  return SwitchRemover(problem, batch, options, progress).run();
}

}  // namespace forestcoll
