#include "forestcoll/tight_sets/subproblem.hpp"

#include <algorithm>

namespace forestcoll {

std::vector<Amount> content(const Subproblem& problem) {
  const Demand& demand = problem.demand;
  std::vector<Amount> content{problem.graph.num_nodes, problem.outside};
  content.reserve(2 + 3 * problem.graph.arcs.size() + 2 * demand.trees.size());
  for (const Arc& arc : problem.graph.arcs) {
    content.insert(content.end(), {arc.tail, arc.head, arc.capacity});
  }
  content.insert(content.end(), demand.trees.begin(), demand.trees.end());
  content.insert(content.end(), demand.is_target.begin(), demand.is_target.end());
  return content;
}

void Contractor::add_arcs(std::vector<Crossing> crossings, const std::vector<Arc>& arcs,
                          Contracted& set) {
  std::ranges::sort(crossings, {}, [](const Crossing& c) { return ends(c.tail, c.head); });
  std::vector<Arc>& merged = set.problem.graph.arcs;
  for (const auto& [tail, head, arc] : crossings) {
    if (merged.empty() || merged.back().tail != tail || merged.back().head != head) {
      merged.push_back({tail, head, 0});
      set.first.push_back(set.behind.size());
    }
    merged.back().capacity += arcs[arc].capacity;
    set.behind.push_back(arc);
  }
  set.first.push_back(set.behind.size());
}

}  // namespace forestcoll
