#include "forestcoll/tight_sets.hpp"

#include <algorithm>
#include <string>

#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"

namespace forestcoll {

namespace {

class Search {
 public:
  explicit Search(const Problem& problem)
      : problem_(problem),
        network_(problem.graph),
        flow_(network_, problem.demand.trees),
        taken_(problem.demand.trees.size(), 0) {}

  std::vector<std::vector<NodeId>> run(Progress& progress) {
    std::vector<std::vector<NodeId>> found;
    const NodeId items = problem_.graph.num_nodes;
    for (const NodeId v : problem_.demand.targets()) {
      if (flow_.settle(v) != 0) {
        throw Infeasible("the capacities cannot carry the trees asked for");
      }
      progress(v, items);
      std::vector<NodeId> set = flow_.reaching(v);
      if (set.size() == 1) set = smallest_around(v);
      if (set.size() > 1 && set.size() < all_items()) found.push_back(std::move(set));
    }
    return disjoint(std::move(found));
  }

 private:
  std::size_t all_items() const {
    return problem_.demand.trees.size() - (problem_.outside < 0 ? 0 : 1);
  }

  // The item v is tight by itself. Larger tight sets around it are what nothing else reaches in
  // the residual graph: v with a component that has no way in but from v.
  std::vector<NodeId> smallest_around(NodeId v) const {
    std::vector<NodeId> best;
    for (std::vector<NodeId>& component : flow_.source_components(v)) {
      if (!best.empty() && component.size() + 1 >= best.size()) continue;
      if (std::ranges::find(component, problem_.outside) != component.end()) continue;
      best = std::move(component);
      best.push_back(v);
    }
    std::ranges::sort(best);
    return best;
  }

  std::vector<std::vector<NodeId>> disjoint(std::vector<std::vector<NodeId>> sets) {
    std::ranges::stable_sort(sets, {}, &std::vector<NodeId>::size);
    std::vector<std::vector<NodeId>> chosen;
    for (std::vector<NodeId>& set : sets) {
      const auto taken = [this](NodeId v) { return taken_[static_cast<std::size_t>(v)] != 0; };
      if (std::ranges::any_of(set, taken)) continue;
      for (const NodeId v : set) taken_[static_cast<std::size_t>(v)] = 1;
      chosen.push_back(std::move(set));
    }
    return chosen;
  }

  const Problem& problem_;
  FlowNetwork network_;
  WarmFlow flow_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace

Family no_tight_sets(NodeId num_nodes) {
  return {std::vector<int>(static_cast<std::size_t>(num_nodes), 0), {-1}};
}

void check(const Family& family, NodeId num_nodes) {
  const int sets = family.num_sets();
  if (family.set_of.size() != static_cast<std::size_t>(num_nodes) || sets == 0) {
    throw InvalidInput("a family must name a set for every node");
  }
  for (const int set : family.set_of) {
    if (set < 0 || set >= sets) throw InvalidInput("a node is in a set that does not exist");
  }
  for (int set = 0; set < sets; ++set) {
    const int parent = family.parent[static_cast<std::size_t>(set)];
    const bool last = set == sets - 1;
    if (last ? parent != -1 : (parent <= set || parent >= sets)) {
      throw InvalidInput("sets must come before their parents, the whole graph last");
    }
  }
}

std::vector<std::vector<NodeId>> minimal_tight_sets(const Problem& problem, Progress& progress) {
  return Search(problem).run(progress);
}

}  // namespace forestcoll
