// Problems of tree packing that just fit.
#pragma once

#include <utility>
#include <vector>

#include "forestcoll/optimality/optimality.hpp"
#include "support/random_graphs.hpp"

namespace forestcoll::testing {

struct PackingProblem {
  Graph graph;
  std::vector<Amount> trees;
};

// Random capacities and demand, scaled so that the demand just fits.
inline PackingProblem random_problem(Random& random, NodeId most_nodes, Amount least_trees) {
  const auto nodes = static_cast<NodeId>(between(random, 2, most_nodes));
  Graph graph = random_graph(random, nodes, 0, 9);
  Demand weights = equal_demand(nodes, 0, 1);
  for (Amount& weight : weights.trees) weight = between(random, least_trees, 3);
  weights.trees[0] = 1;
  const Bottleneck best = find_bottleneck(graph, weights);
  for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
  for (Amount& trees : weights.trees) trees *= best.denominator;
  return {std::move(graph), std::move(weights.trees)};
}

}  // namespace forestcoll::testing
