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

// Smaller sets first; of intersecting sets, the first.
std::vector<std::vector<NodeId>> disjoint(std::vector<std::vector<NodeId>> sets, NodeId nodes) {
  std::ranges::stable_sort(sets, {}, &std::vector<NodeId>::size);
  NodeMap<std::uint8_t> is_taken(nodes, 0);
  std::vector<std::vector<NodeId>> chosen;
  for (std::vector<NodeId>& set : sets) {
    const auto taken = [&](NodeId v) { return is_taken[v] != 0; };
    if (std::ranges::any_of(set, taken)) continue;
    for (const NodeId v : set) is_taken[v] = 1;
    chosen.push_back(std::move(set));
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
  const auto search = [&](const std::vector<NodeId>& some) {
    in_parallel(
        threads, some.size(), progress, [&](std::size_t first, std::size_t last, Progress& own) {
          Search search(problem);
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
  some.clear();
  std::vector<NodeId> images;
  for (const NodeId v : targets) {
    if (stands_for(v) == v) continue;
    (around[stands_for(v)].has_equal ? some : images).push_back(v);
  }
  if (!some.empty()) search(some);
  for (const NodeId v : images) around[v].set = exchanges->image(around[stands_for(v)].set, v);
  std::vector<std::vector<NodeId>> found;
  for (const NodeId v : targets) {
    if (!around[v].set.empty()) found.push_back(std::move(around[v].set));
  }
  return disjoint(std::move(found), problem.graph.num_nodes);
}

}  // namespace forestcoll
