#include "forestcoll/switch_removal.hpp"

#include <algorithm>
#include <map>

#include "forestcoll/contraction.hpp"
#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"
#include "forestcoll/problem.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

// A real link of a switch, and what is left of it.
struct RealPort {
  NodeId node;
  Amount left;
};

// Shares the ports of one item out over the splits it takes part in, in proportion: shares[s] has
// an amount for each port, adding up to amounts[s].
std::vector<std::vector<Amount>> share_out(const std::vector<RealPort>& ports,
                                           const std::vector<Amount>& amounts) {
  Amount total = 0;
  std::vector<Amount> left;
  for (const RealPort& port : ports) {
    total += port.left;
    left.push_back(port.left);
  }
  std::vector<std::vector<Amount>> shares;
  for (const Amount amount : amounts) {
    auto& share = shares.emplace_back(ports.size(), 0);
    for (std::size_t i = 0; i < ports.size(); ++i) {
      share[i] = static_cast<Amount>(Wide{ports[i].left} * amount / total);
      left[i] -= share[i];
    }
  }
  for (std::size_t s = 0; s < amounts.size(); ++s) {
    Amount missing = amounts[s];
    for (const Amount part : shares[s]) missing -= part;
    for (std::size_t step = 0; missing > 0; ++step) {
      const std::size_t i = (s + step) % ports.size();
      // One unit each at first, so that what was rounded off is spread; then whatever there is.
      const Amount most = step < ports.size() ? 1 : missing;
      const Amount part = std::min({left[i], missing, most});
      shares[s][i] += part;
      left[i] -= part;
      missing -= part;
      if (step > 2 * ports.size()) throw InternalError("a split takes more than its ports have");
    }
  }
  return shares;
}

// The splits of one switch of a contracted problem, made on the real links behind it.
class Lift {
 public:
  Lift(FlowNetwork& real, const Contraction& items, NodeId via)
      : real_(real), items_(items), via_(via), in_(ports()), out_(ports()) {
    for (const int arc : real.arcs_of(via)) {
      const NodeId node = real.head(arc);
      const auto item = static_cast<std::size_t>(items.item_of(node));
      if (real.capacity(arc ^ 1) > 0) in_[item].push_back({node, real.capacity(arc ^ 1)});
      if (real.capacity(arc) > 0) out_[item].push_back({node, real.capacity(arc)});
    }
    for (auto* side : {&in_, &out_}) {
      for (auto& item : *side) std::ranges::sort(item, {}, &RealPort::node);
    }
  }

  // `splits` go from item to item.
  void make(const std::vector<Split>& splits, std::vector<Split>& log) {
    const auto shares_in = shares(splits, in_, &Split::from);
    const auto shares_out = shares(splits, out_, &Split::to);
    for (std::size_t s = 0; s < splits.size(); ++s) {
      join(in_[static_cast<std::size_t>(splits[s].from)], shares_in[s],
           out_[static_cast<std::size_t>(splits[s].to)], shares_out[s], log);
    }
  }

 private:
  using Ports = std::vector<std::vector<RealPort>>;  // by item

  Ports ports() const { return Ports(static_cast<std::size_t>(items_.num_items()) + 1); }

  std::vector<std::vector<Amount>> shares(const std::vector<Split>& splits, const Ports& ports,
                                          NodeId Split::* end) const {
    std::vector<std::vector<std::size_t>> of_item(ports.size());
    for (std::size_t s = 0; s < splits.size(); ++s) {
      of_item[static_cast<std::size_t>(splits[s].*end)].push_back(s);
    }
    std::vector<std::vector<Amount>> shares(splits.size());
    for (std::size_t item = 0; item < ports.size(); ++item) {
      std::vector<Amount> amounts;
      for (const std::size_t s : of_item[item]) amounts.push_back(splits[s].amount);
      auto of_this = share_out(ports[item], amounts);
      for (std::size_t i = 0; i < of_this.size(); ++i) {
        shares[of_item[item][i]] = std::move(of_this[i]);
      }
    }
    return shares;
  }

  // Pairs equal amounts of two sides off, in the order of the nodes: rails line up.
  void join(const std::vector<RealPort>& in, std::vector<Amount> in_share,
            const std::vector<RealPort>& out, std::vector<Amount> out_share,
            std::vector<Split>& log) {
    std::size_t i = 0, j = 0;
    while (i < in.size() && j < out.size()) {
      const Amount amount = std::min(in_share[i], out_share[j]);
      if (amount > 0) {
        real_.add(in[i].node, out[j].node, amount);
        log.push_back({via_, in[i].node, out[j].node, amount});
        in_share[i] -= amount;
        out_share[j] -= amount;
      }
      if (in_share[i] == 0) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  FlowNetwork& real_;
  const Contraction& items_;
  NodeId via_;
  Ports in_, out_;
};

class FamilyRemover {
 public:
  FamilyRemover(const Graph& graph, const Demand& demand, const Family& family, Progress& progress,
                const RemovalOptions& options)
      : real_(graph),
        demand_(demand),
        all_trees_(demand.total()),
        nesting_(family),
        progress_(progress),
        options_(options) {}

  SwitchRemoval run() {
    const int sets = nesting_.family().num_sets();
    std::vector<std::uint8_t> has_switch(static_cast<std::size_t>(sets), 0);
    for (std::size_t v = 0; v < demand_.is_target.size(); ++v) {
      if (!demand_.is_target[v]) {
        has_switch[static_cast<std::size_t>(nesting_.family().set_of[v])] = 1;
      }
    }
    // Parents come after their children, and go first.
    for (int set = sets - 1; set >= 0; --set) {
      if (has_switch[static_cast<std::size_t>(set)]) remove_from(set);
      progress_(sets - set, sets);
    }
    result_.logical = real_.arcs();
    return std::move(result_);
  }

 private:
  void remove_from(int set) {
    const Contraction items(nesting_, set);
    const Problem problem = contracted(items);
    const SwitchRemoval& solution = solved(problem);
    for (std::size_t s = 0; s < solution.splits.size();) {
      std::vector<Split> of_switch;
      const NodeId via = solution.splits[s].via;
      for (; s < solution.splits.size() && solution.splits[s].via == via; ++s) {
        of_switch.push_back(solution.splits[s]);
      }
      Lift(real_, items, items.first[static_cast<std::size_t>(via)])
          .make(of_switch, result_.splits);
    }
    for (int item = 0; item < items.num_items(); ++item) {
      if (is_switch(items, item)) retire(items.first[static_cast<std::size_t>(item)]);
    }
    result_.exchanges += solution.exchanges;
    result_.exact_switches += solution.exact_switches;
  }

  bool is_switch(const Contraction& items, int item) const {
    const auto at = static_cast<std::size_t>(item);
    return items.child[at] < 0 && !demand_.is_target[static_cast<std::size_t>(items.first[at])];
  }

  void retire(NodeId via) {
    for (const int arc : real_.arcs_of(via)) {
      real_.set_capacity(arc, 0);
      real_.set_capacity(arc ^ 1, 0);
    }
  }

  Problem contracted(const Contraction& items) const {
    std::map<std::pair<int, int>, Amount> capacity;
    for (const NodeId v : items.nodes) {
      const int here = items.item_of(v);
      for (const int arc : real_.arcs_of(v)) {
        const int there = items.item_of(real_.head(arc));
        if (there == here) continue;
        if (real_.capacity(arc) > 0) capacity[{here, there}] += real_.capacity(arc);
        if (there == items.outside() && real_.capacity(arc ^ 1) > 0) {
          capacity[{there, here}] += real_.capacity(arc ^ 1);
        }
      }
    }
    const bool whole = items.is_whole();
    Problem problem;
    problem.graph.num_nodes = items.num_items() + (whole ? 0 : 1);
    problem.outside = whole ? -1 : items.outside();
    for (const auto& [ends, amount] : capacity) {
      problem.graph.arcs.push_back({ends.first, ends.second, amount});
    }
    const auto size = static_cast<std::size_t>(problem.graph.num_nodes);
    problem.demand = {std::vector<Amount>(size, 0), std::vector<std::uint8_t>(size, 0)};
    for (const NodeId v : items.nodes) {
      const auto item = static_cast<std::size_t>(items.item_of(v));
      problem.demand.trees[item] += demand_.trees[static_cast<std::size_t>(v)];
      problem.demand.is_target[item] |= demand_.is_target[static_cast<std::size_t>(v)];
    }
    if (!whole) {
      problem.demand.trees.back() = all_trees_ - problem.demand.total();
    }
    return problem;
  }

  // Equal boxes are equal problems, solved once.
  const SwitchRemoval& solved(const Problem& problem) {
    std::vector<Amount> key{problem.graph.num_nodes, problem.outside};
    for (const Arc& arc : problem.graph.arcs) {
      key.insert(key.end(), {arc.tail, arc.head, arc.capacity});
    }
    key.insert(key.end(), problem.demand.trees.begin(), problem.demand.trees.end());
    key.insert(key.end(), problem.demand.is_target.begin(), problem.demand.is_target.end());
    const auto known = solutions_.find(key);
    if (known != solutions_.end()) return known->second;
    return solutions_.emplace(std::move(key), solve(problem, options_, progress_)).first->second;
  }

  FlowNetwork real_;
  const Demand& demand_;
  Amount all_trees_;
  Nesting nesting_;
  Progress& progress_;
  RemovalOptions options_;
  std::map<std::vector<Amount>, SwitchRemoval> solutions_;
  SwitchRemoval result_;
};

}  // namespace

SwitchRemoval remove_switches(const Graph& graph, const Demand& demand, const Family& family,
                              Progress progress, RemovalOptions options) {
  check(graph, demand);
  check(family, graph.num_nodes);
  return FamilyRemover(graph, demand, family, progress, options).run();
}

}  // namespace forestcoll
