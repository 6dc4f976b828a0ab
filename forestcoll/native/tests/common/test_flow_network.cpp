// Arcs of a network are found by their ends, however they came into it.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/common/flow_network.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace flow_network_tests {

// A pair of arcs is found with and without room made for it.
void expected_arcs_are_as_others() {
  const std::vector<Arc> arcs{{0, 1, 2}, {1, 0, 3}, {2, 1, 1}};
  FlowNetwork network(3), expected(3);
  expected.expect(arcs.size());
  for (const Arc& arc : arcs) {
    const int number = network.add(arc.tail, arc.head, arc.capacity);
    CHECK(expected.add(arc.tail, arc.head, arc.capacity) == number);
    CHECK(expected.find(arc.tail, arc.head) == number);
  }
  expected.expect(1000);
  CHECK(expected.arcs() == network.arcs());
  CHECK(expected.find(0, 2) == -1);
}

// Sorted arcs come into a network in one pass, without an index. It is the network that they make
// one by one, and arcs may be added to it.
void sorted_arcs_make_the_same_network() {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 9));
    Graph graph = random_graph(random, nodes, 0, 6);
    graph.arcs = merged(std::move(graph.arcs));
    FlowNetwork sorted(graph), one_by_one(nodes);
    const auto check_same = [&] {
      CHECK(sorted.num_arcs() == one_by_one.num_arcs());
      for (int arc = 0; arc < sorted.num_arcs(); ++arc) {
        CHECK(sorted.head(arc) == one_by_one.head(arc));
        CHECK(sorted.capacity(arc) == one_by_one.capacity(arc));
      }
      for (NodeId v = 0; v < nodes; ++v) {
        CHECK(std::ranges::equal(sorted.arcs_of(v), one_by_one.arcs_of(v)));
        CHECK(std::ranges::equal(sorted.neighbours(v), one_by_one.neighbours(v)));
        for (NodeId u = 0; u < nodes; ++u) CHECK(sorted.find(v, u) == one_by_one.find(v, u));
      }
    };
    for (const Arc& arc : graph.arcs) one_by_one.add(arc.tail, arc.head, arc.capacity);
    check_same();
    for (NodeId v = 0; v < nodes; ++v) {
      const NodeId head = (v + 2) % nodes == v ? (v + 1) % nodes : (v + 2) % nodes;
      CHECK(sorted.add(v, head, 1) == one_by_one.add(v, head, 1));
    }
    check_same();
  }
}

// Pairs of arcs are found by both of their ends, before and after the index grows.
void arcs_are_found_by_their_ends() {
  Random random(7);
  for (const bool expected : {false, true}) {
    FlowNetwork network(40);
    if (expected) network.expect(500);
    std::map<std::pair<NodeId, NodeId>, Amount> due;
    for (int step = 0; step < 500; ++step) {
      const auto tail = static_cast<NodeId>(between(random, 0, 39));
      const auto head = static_cast<NodeId>(between(random, 0, 39));
      if (tail == head) continue;
      const Amount capacity = between(random, 0, 9);
      const int arc = network.add(tail, head, capacity);
      CHECK(network.tail(arc) == tail && network.head(arc) == head);
      due[{tail, head}] += capacity;
      due[{head, tail}] += 0;
    }
    CHECK(network.num_arcs() == static_cast<int>(due.size()));
    for (NodeId tail = 0; tail < 40; ++tail) {
      for (NodeId head = 0; head < 40; ++head) {
        const auto known = due.find({tail, head});
        const int arc = tail == head ? -1 : network.find(tail, head);
        CHECK((arc >= 0) == (known != due.end()));
        if (arc < 0) continue;
        CHECK(network.tail(arc) == tail && network.head(arc) == head);
        CHECK(network.capacity(arc) == known->second);
      }
    }
  }
}

}  // namespace flow_network_tests

TESTS(flow_network) {
  arcs_are_found_by_their_ends();
  expected_arcs_are_as_others();
  sorted_arcs_make_the_same_network();
}
