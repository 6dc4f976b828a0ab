#include "forestcoll/tight_sets/tight_sets.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/parallel.hpp"
#include "forestcoll/common/shortcuts.hpp"
#include "forestcoll/common/translations.hpp"
#include "forestcoll/tight_sets/exchanges.hpp"

namespace forestcoll {

namespace {

// The smallest tight set of two or more items around a target; empty if only the whole is tight.
struct Around {
  std::vector<NodeId> set;
  bool has_equal = false;  // whether another set is as small, and the order of nodes decides
};

// The smallest tight sets around some of the targets. They depend on the cuts of the graph alone,
// not on the flow from which they are read.
class Search {
 public:
  explicit Search(const Subproblem& problem)
      : problem_(problem), network_(problem.graph), flow_(network_, problem.demand.trees) {}

  Around around(NodeId v) {
    if (flow_.settle(v) != 0) throw Infeasible("the capacities cannot carry the trees asked for");
    Around found{flow_.reaching(v)};
    if (found.set.size() == 1) found = beyond(v);
    if (found.set.size() >= all_items()) found.set.clear();
    return found;
  }

 private:
  std::size_t all_items() const {
    return problem_.demand.trees.size() - (problem_.outside < 0 ? 0 : 1);
  }

  // The item v is tight by itself. Larger tight sets around it have no residual arc from outside: v
  // with a component whose only entry is from v.
  Around beyond(NodeId v) const {
    Around found;
    std::vector<NodeId>& best = found.set;
    for (std::vector<NodeId>& component : flow_.source_components(v)) {
      if (component.size() + 1 >= all_items()) continue;
      if (!best.empty() && component.size() > best.size()) continue;
      if (std::ranges::find(component, problem_.outside) != component.end()) continue;
      std::ranges::sort(component);
      found.has_equal = component.size() == best.size();
      if (!found.has_equal || component < best) best = std::move(component);
    }
    if (!best.empty()) best.insert(std::ranges::lower_bound(best, v), v);
    return found;
  }

  const Subproblem& problem_;
  FlowNetwork network_;
  WarmFlow flow_;
};

// Smaller sets first; of intersecting sets, the first. ``set_at`` gives the set of each target, or
// its preimage, and ``image`` the nodes of it one by one. Few images are chosen, so no others are
// written out.
std::vector<std::vector<NodeId>> disjoint(std::vector<NodeId> targets, NodeId nodes,
                                          const auto& set_at, const auto& image) {
  std::erase_if(targets, [&](NodeId v) { return set_at(v).empty(); });
  std::ranges::stable_sort(targets, {}, [&](NodeId v) { return set_at(v).size(); });
  NodeMap<std::uint8_t> is_taken(nodes, 0);
  std::vector<std::vector<NodeId>> chosen;
  for (const NodeId target : targets) {
    const auto taken = [&](NodeId v) { return is_taken[image(v, target)] != 0; };
    if (std::ranges::any_of(set_at(target), taken)) continue;
    std::vector<NodeId>& set = chosen.emplace_back();
    for (const NodeId v : set_at(target)) set.push_back(image(v, target));
    std::ranges::sort(set);
    for (const NodeId v : set) is_taken[v] = 1;
  }
  return chosen;
}

}  // namespace

Family no_tight_sets(NodeId num_nodes) { return {NodeMap<int>(num_nodes, 0), {-1}}; }

void check(const Family& family, NodeId num_nodes) {
  const int sets = family.num_sets();
  if (family.set_of.count() != num_nodes || sets == 0) {
    throw InvalidInput("a family must name a set for every node");
  }
  for (const int set : family.set_of) {
    if (set < 0 || set >= sets) throw InvalidInput("a node is in a set that does not exist");
  }
  for (int set = 0; set < sets; ++set) {
    const int parent = family.parent[set];
    const bool last = set == sets - 1;
    if (last ? parent != -1 : (parent <= set || parent >= sets)) {
      throw InvalidInput("sets must come before their parents, the whole graph last");
    }
  }
}

std::vector<std::vector<NodeId>> minimal_tight_sets(const Subproblem& problem, Progress& progress,
                                                    int threads) {
  const std::vector<NodeId> targets = problem.demand.targets();
  if (problem.outside < 0 && is_alike_everywhere(problem.graph, problem.demand) &&
      Search(problem).around(targets.front()).set.empty()) {
    return {};  // then no other target has one either
  }
  NodeMap<Around> around(problem.graph.num_nodes);
  std::optional<Search> kept;  // by the first part, which runs on this thread, for the second round
  const auto search = [&](const std::vector<NodeId>& some) {
    in_parallel(
        threads, some.size(), progress, [&](std::size_t first, std::size_t last, Progress& own) {
          std::optional<Search> other;
          std::optional<Search>& held = first == 0 ? kept : other;
          Search& search = held ? *held : held.emplace(problem);
          for (std::size_t i = first; i < last; ++i) {
            around[some[i]] = search.around(some[i]);
            own(static_cast<std::int64_t>(i - first), static_cast<std::int64_t>(last - first));
          }
        });
  };
  std::optional<Exchanges> exchanges;
  if (is_open(Shortcut::kExchanges)) exchanges.emplace(problem);
  const auto stands_for = [&](NodeId v) { return exchanges ? exchanges->first_of(v) : v; };
  std::vector<NodeId> some;
  std::ranges::copy_if(targets, std::back_inserter(some),
                       [&](NodeId v) { return stands_for(v) == v; });
  search(some);
  // The order of nodes decides between equally small sets, and an image may decide otherwise.
  const auto is_image = [&](NodeId v) {
    return stands_for(v) != v && !around[stands_for(v)].has_equal;
  };
  some.clear();
  std::ranges::copy_if(targets, std::back_inserter(some),
                       [&](NodeId v) { return stands_for(v) != v && !is_image(v); });
  if (!some.empty()) search(some);
  const auto set_at = [&](NodeId v) -> const std::vector<NodeId>& {
    return around[is_image(v) ? stands_for(v) : v].set;
  };
  const auto image = [&](NodeId v, NodeId target) {
    return is_image(target) ? exchanges->image_of(v, target) : v;
  };
  return disjoint(targets, problem.graph.num_nodes, set_at, image);
}

}  // namespace forestcoll
