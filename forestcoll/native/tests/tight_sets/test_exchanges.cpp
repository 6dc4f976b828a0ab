// Exchanges are automorphisms, and one GPU stands for all of equal boxes.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/tight_sets/exchanges.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace exchanges_tests {

// Boxes of four GPUs on a switch each, and one switch for all. Node 5 b + 4 is the switch of box b.
Subproblem cluster(NodeId boxes) {
  const NodeId hub = 5 * boxes;
  Subproblem problem{{hub + 1, {}}, {}, -1};
  for (NodeId v = 0; v <= hub; ++v) {
    const bool is_gpu = v < hub && v % 5 < 4;
    problem.demand.trees.push_back(is_gpu ? 1 : 0);
    problem.demand.is_target.push_back(is_gpu ? 1 : 0);
    if (!is_gpu) continue;
    const NodeId own = v - v % 5 + 4;
    for (const auto& [to, capacity] : {std::pair{own, Amount{20}}, {hub, Amount{2}}}) {
      problem.graph.arcs.push_back({v, to, capacity});
      problem.graph.arcs.push_back({to, v, capacity});
    }
  }
  return problem;
}

std::map<std::pair<NodeId, NodeId>, Amount> capacities(const Subproblem& problem) {
  std::map<std::pair<NodeId, NodeId>, Amount> capacity;
  for (const Arc& arc : problem.graph.arcs) capacity[{arc.tail, arc.head}] += arc.capacity;
  return capacity;
}

// Checks the exchange of a node with the one that stands for it, arc by arc.
void check_exchange(const Subproblem& problem, const Exchanges& exchanges, NodeId node) {
  const auto moved = [&](NodeId v) { return exchanges.image_of(v, node); };
  CHECK(moved(exchanges.first_of(node)) == node);
  const auto capacity = capacities(problem);
  std::map<std::pair<NodeId, NodeId>, Amount> image;
  for (const auto& [ends, amount] : capacity) {
    image[{moved(ends.first), moved(ends.second)}] += amount;
  }
  CHECK(image == capacity);
  for (NodeId v = 0; v < problem.graph.num_nodes; ++v) {
    CHECK(problem.demand.trees[moved(v)] == problem.demand.trees[v]);
    CHECK(problem.demand.is_target[moved(v)] == problem.demand.is_target[v]);
  }
}

void one_gpu_stands_for_all_of_equal_boxes() {
  const Subproblem problem = cluster(3);
  const Exchanges exchanges(problem);
  for (const NodeId gpu : problem.demand.targets()) {
    CHECK(exchanges.first_of(gpu) == 0);
    check_exchange(problem, exchanges, gpu);
  }
  CHECK((exchanges.image({0, 1, 4}, 12) == std::vector<NodeId>{11, 12, 14}));
}

// A slower NIC makes a GPU its own orbit, and its box no equal of the others.
void unequal_boxes_and_gpus_stand_for_themselves() {
  Subproblem problem = cluster(3);
  for (Arc& arc : problem.graph.arcs) {
    if (arc.head == 15 && arc.tail == 6) arc.capacity = 1;
  }
  const Exchanges exchanges(problem);
  CHECK(exchanges.first_of(6) == 6);
  CHECK(exchanges.first_of(7) == 5);
  CHECK(exchanges.first_of(8) == 5);
  CHECK(exchanges.first_of(13) == 0);
  CHECK((exchanges.image({5, 6, 9}, 6) == std::vector<NodeId>{5, 6, 9}));
}

void nothing_is_exchanged_without_switches() {
  Subproblem problem{{3, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}}}, equal_demand(3, 0, 1), -1};
  const Exchanges exchanges(problem);
  for (NodeId v = 0; v < 3; ++v) CHECK(exchanges.first_of(v) == v);
}

void exchanges_are_automorphisms_of_random_clusters() {
  Random random(5);
  int exchanged = 0;
  for (int round = 0; round < 200; ++round) {
    Subproblem problem = cluster(static_cast<NodeId>(between(random, 2, 4)));
    for (Amount changes = between(random, 0, 2); changes > 0; --changes) {
      const auto arc = between(random, 0, problem.graph.arcs.count() - 1);
      problem.graph.arcs[arc].capacity += between(random, 0, 1);
    }
    if (between(random, 0, 1) == 1) problem.graph.arcs.push_back({0, 1, 1});
    const Exchanges exchanges(problem);
    for (NodeId v = 0; v < problem.graph.num_nodes; ++v) {
      check_exchange(problem, exchanges, v);
      exchanged += exchanges.first_of(v) == v ? 0 : 1;
    }
  }
  CHECK(exchanged > 500);
}

}  // namespace exchanges_tests

TESTS(exchanges) {
  one_gpu_stands_for_all_of_equal_boxes();
  unequal_boxes_and_gpus_stand_for_themselves();
  nothing_is_exchanged_without_switches();
  exchanges_are_automorphisms_of_random_clusters();
}
