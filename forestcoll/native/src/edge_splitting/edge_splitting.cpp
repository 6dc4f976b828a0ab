#include "forestcoll/edge_splitting/edge_splitting.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/edge_splitting/lifting.hpp"
#include "forestcoll/edge_splitting/links.hpp"
#include "forestcoll/edge_splitting/switch_remover.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tight_sets/subproblem.hpp"

namespace forestcoll {

namespace {

class FamilyRemover {
 public:
  FamilyRemover(const Graph& graph, const Demand& demand, const Family& family, Progress& progress,
                const RemovalOptions& options)
      : demand_(demand),
        contractor_(demand),
        all_targets_(static_cast<int>(demand.targets().size())),
        batch_(whole_batch(demand)),
        nesting_(family),
        links_(graph, demand.is_target, nesting_),
        progress_(progress),
        options_(options) {}

  SwitchRemoval run() {
    const int sets = nesting_.family().num_sets();
    IndexedVector<std::uint8_t> has_switch(sets, 0);
    for (std::size_t v = 0; v < demand_.is_target.size(); ++v) {
      if (!demand_.is_target[v]) {
        has_switch[nesting_.family().set_of[v]] = 1;
      }
    }
    // Parents come after their children in number, and are split first.
    for (int set = sets - 1; set >= 0; --set) {
      if (has_switch[set]) {
        remove_from(set);
      } else {
        links_.open(set, [](const Arc&) {});
      }
      progress_(sets - set, sets);
    }
    result_.logical = links_.merged();
    result_.splits = links_.take_splits();
    return std::move(result_);
  }

 private:
  void remove_from(int set) {
    const Contraction items(nesting_, set);
    const Subproblem problem = contracted(items);
    const Amount batch = batch_in(items);
    const ItemSplits& solution = solved(problem, batch);
    const IndexedVector<int> targets_of = count_targets(items);
    for (std::span<const Split> left = solution.splits; !left.empty();) {
      const NodeId via = left.front().via, real = items.first[via];
      const auto next = std::ranges::find_if(left, [via](const Split& s) { return s.via != via; });
      const auto of_switch = left.first(static_cast<std::size_t>(next - left.begin()));
      lift(of_switch, real, items, targets_of, batch, links_);
      links_.remove(real);
      left = left.subspan(of_switch.size());
    }
    for (int item = 0; item < items.num_items(); ++item) {
      if (is_switch(items, item)) links_.remove(items.first[item]);
    }
    result_.exact_switches += solution.exact_switches;
  }

  // The trees of every root are a multiple of this.
  static Amount whole_batch(const Demand& demand) {
    Amount batch = 0;
    for (const Amount trees : demand.trees) batch = std::gcd(batch, trees);
    return std::max<Amount>(batch, 1);
  }

  // The targets of each item, and of everything outside.
  IndexedVector<int> count_targets(const Contraction& items) const {
    IndexedVector<int> count(items.num_items() + 1, 0);
    count.back() = all_targets_;
    for (const NodeId v : items.nodes) {
      if (!demand_.is_target[v]) continue;
      ++count[items.item_of(v)];
      --count.back();
    }
    return count;
  }

  bool is_switch(const Contraction& items, int item) const {
    return items.child[item] < 0 && !demand_.is_target[items.first[item]];
  }

  // Splits and their shares are whole batches where a single switch joins all items of the network.
  // With several, a tree could leave its box by its own link through one of them only, and whole
  // batches would take the other links in turn: trees of more hops.
  Amount batch_in(const Contraction& items) const {
    int switches = 0;
    for (int item = 0; item < items.num_items(); ++item) switches += is_switch(items, item) ? 1 : 0;
    return items.is_whole() && switches == 1 ? batch_ : 1;
  }

  // Opens a set and contracts it.
  Subproblem contracted(const Contraction& items) {
    const auto item_of = [&](NodeId node) { return items.item_of(node); };
    Subproblem problem =
        contractor_.without_arcs(items.nodes, items.num_items(), items.is_whole(), item_of);
    std::vector<Arc> arcs;
    for (const NodeId node : items.nodes) {
      const auto& [in, out] = links_.beyond(node);
      if (in > 0) arcs.push_back({items.outside(), item_of(node), in});
      if (out > 0) arcs.push_back({item_of(node), items.outside(), out});
    }
    links_.open(items.set, [&](const Arc& link) {
      arcs.push_back({item_of(link.tail), item_of(link.head), link.capacity});
    });
    problem.graph.arcs = merged(std::move(arcs));
    return problem;
  }

  // Equal boxes are equal problems, each solved once. (The whole network is equal to no other set,
  // so the batch follows from the problem.)
  const ItemSplits& solved(const Subproblem& problem, Amount batch) {
    std::vector<Amount> key = content(problem);
    const auto known = solutions_.find(key);
    if (known != solutions_.end()) return known->second;
    return solutions_.emplace(std::move(key), remove_switches(problem, batch, options_, progress_))
        .first->second;
  }

  const Demand& demand_;
  Contractor contractor_;
  int all_targets_;
  Amount batch_;
  Nesting nesting_;
  Links links_;
  Progress& progress_;
  RemovalOptions options_;
  std::map<std::vector<Amount>, ItemSplits> solutions_;
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
