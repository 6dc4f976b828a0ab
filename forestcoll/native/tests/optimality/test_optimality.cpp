// The optimum equals the worst of all cuts (Theorem 1), for any roots and targets.
#include <numeric>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace optimality_tests {

struct Ratio {
  Amount over = 0, under = 1;
};

Ratio worst_ratio(const Graph& graph, const Demand& weights) {
  Ratio worst;
  each_cut(graph, weights, [&](Amount ingress, Amount outside) {
    if (outside > 0 && outside * worst.under > worst.over * ingress) worst = {outside, ingress};
  });
  const Amount divisor = std::gcd(worst.over, worst.under);
  return {worst.over / divisor, worst.under / divisor};
}

void equals(const Graph& graph, const Demand& weights) {
  const Ratio worst = worst_ratio(graph, weights);
  const Bottleneck found = find_bottleneck(graph, weights);
  CHECK(found.numerator == worst.over);
  CHECK(found.denominator == worst.under);
}

void bottleneck_equals_the_worst_of_all_cuts() {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 0, 3));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 6));
    equals(random_graph(random, nodes, switches, 12), equal_demand(nodes, switches, 1));
  }
}

void bottleneck_with_weights_and_a_single_root_too() {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 8));
    Demand weights = equal_demand(nodes, 0, 1);
    for (Amount& weight : weights.trees) weight = between(random, 0, 4);
    weights.trees[0] = 1;
    equals(random_graph(random, nodes, 0, 12), weights);
    std::fill(weights.trees.begin() + 1, weights.trees.end(), 0);  // a broadcast
    equals(random_graph(random, nodes, 0, 12), weights);
  }
}

void names_the_node_that_receives_nothing() {
  std::string said;
  try {
    find_bottleneck({3, {{0, 1, 1}, {1, 0, 1}, {2, 0, 1}}}, equal_demand(3, 0, 1));
  } catch (const Disconnected& error) {
    said = error.what();
  }
  CHECK(said == "node 2 receives nothing");
}

void refuses_what_it_cannot_do() {
  const Demand two = equal_demand(2, 0, 1);
  CHECK_THROWS(Disconnected, find_bottleneck({2, {{0, 1, 1}}}, two));
  for (const Arc& arc : {Arc{0, 2, 1}, Arc{2, 0, 1}, Arc{0, -1, 1}, Arc{-1, 0, 1}, Arc{0, 0, 1}}) {
    CHECK_THROWS(InvalidInput, find_bottleneck({2, {{0, 1, 1}, {1, 0, 1}, arc}}, two));
  }
  CHECK_THROWS(InvalidInput, find_bottleneck({2, {{0, 1, -1}, {1, 0, 1}}}, two));
  const Amount huge = Amount{1} << 61;
  CHECK_THROWS(CapacityOverflow, find_bottleneck({2, {{0, 1, huge}, {1, 0, huge}}}, two));
}

}  // namespace optimality_tests

TESTS(optimality) {
  bottleneck_equals_the_worst_of_all_cuts();
  bottleneck_with_weights_and_a_single_root_too();
  names_the_node_that_receives_nothing();
  refuses_what_it_cannot_do();
}
