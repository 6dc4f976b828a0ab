#include "forestcoll/tight_sets/tight_sets.hpp"

#include <algorithm>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/parallel.hpp"
#include "forestcoll/common/translations.hpp"

namespace forestcoll {

namespace {

// The smallest tight sets around some of the targets. They depend on the cuts of the graph alone,
// not on the flow from which they are read.
class Search {
 public:
  explicit Search(const Subproblem& problem)
      : problem_(problem), network_(problem.graph), flow_(network_, problem.demand.trees) {}

  // The smallest tight set of two or more items around v; empty if only the whole is tight.
  std::vector<NodeId> around(NodeId v) {
    if (flow_.settle(v) != 0) throw Infeasible("the capacities cannot carry the trees asked for");
    std::vector<NodeId> set = flow_.reaching(v);
    if (set.size() == 1) set = beyond(v);
    return set.size() < all_items() ? set : std::vector<NodeId>{};
  }

 private:
  std::size_t all_items() const {
    return problem_.demand.trees.size() - (problem_.outside < 0 ? 0 : 1);
  }

  // The item v is tight by itself. Larger tight sets around it have no residual arc from outside: v
  // with a component whose only entry is from v.
  std::vector<NodeId> beyond(NodeId v) const {
    std::vector<NodeId> best;
    for (std::vector<NodeId>& component : flow_.source_components(v)) {
      if (component.size() + 1 >= all_items()) continue;
      if (!best.empty() && component.size() > best.size()) continue;
      if (std::ranges::find(component, problem_.outside) != component.end()) continue;
      std::ranges::sort(component);
      if (best.empty() || component.size() < best.size() || component < best) {
        best = std::move(component);
      }
    }
    if (!best.empty()) best.insert(std::ranges::lower_bound(best, v), v);
    return best;
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
      Search(problem).around(targets.front()).empty()) {
    return {};  // then no other target has one either
  }
  std::vector<std::vector<NodeId>> found(targets.size());
  in_parallel(
      threads, targets.size(), progress, [&](std::size_t first, std::size_t last, Progress& own) {
        Search search(problem);
        for (std::size_t i = first; i < last; ++i) {
          found[i] = search.around(targets[i]);
          own(static_cast<std::int64_t>(i - first), static_cast<std::int64_t>(last - first));
        }
      });
  std::erase_if(found, &std::vector<NodeId>::empty);
  return disjoint(std::move(found), problem.graph.num_nodes);
}

}  // namespace forestcoll
