// Every shard arrives whole, over shortest paths, in the step of its distance, and balanced.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "baselines/bfb/bfb.hpp"
#include "forestcoll/common/errors.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace bfb_tests {

BroadcastNetwork network_of(Graph graph) {
  graph.arcs = merged(graph.arcs);
  std::vector<Amount> delay(graph.arcs.size(), 0);
  return {std::move(graph), std::move(delay), 1};
}

Symmetry each_by_itself(NodeId nodes) {
  Symmetry symmetry;
  for (NodeId v = 0; v < nodes; ++v) symmetry.representative.push_back(v);
  return symmetry;
}

// hops[u][v] from u to v, by repeated relaxation.
std::vector<std::vector<int>> hops_of(const Graph& graph) {
  const auto size = static_cast<std::size_t>(graph.num_nodes);
  std::vector<std::vector<int>> hops(size, std::vector<int>(size, 1000));
  for (std::size_t v = 0; v < size; ++v) hops[v][v] = 0;
  for (std::size_t round = 0; round < size; ++round) {
    for (auto& row : hops) {
      for (const Arc& arc : graph.arcs) {
        int& there = row[static_cast<std::size_t>(arc.head)];
        there = std::min(there, row[static_cast<std::size_t>(arc.tail)] + 1);
      }
    }
  }
  return hops;
}

// Checks a broadcast against its definition and returns the time of its busiest link, by step.
std::vector<Time> check_broadcast(const BroadcastNetwork& network, const Broadcast& made,
                                  Amount pieces) {
  const auto hops = hops_of(network.graph);
  std::map<std::pair<NodeId, NodeId>, Amount> capacity;
  for (const Arc& arc : network.graph.arcs) capacity[{arc.tail, arc.head}] = arc.capacity;
  std::map<std::pair<NodeId, NodeId>, std::vector<std::pair<Amount, Amount>>> got;
  std::map<std::tuple<int, NodeId, NodeId>, Amount> load;
  CHECK(made.first.size() == (pieces == 1 ? 0 : made.step.size()));
  for (std::size_t i = 0; i < made.step.size(); ++i) {
    const NodeId tail = made.tail[i], head = made.head[i];
    const Amount first = pieces == 1 ? 0 : made.first[i];
    const Amount amount = pieces == 1 ? 1 : made.amount[i];
    const auto source = static_cast<std::size_t>(made.source[i]);
    CHECK(capacity.contains({tail, head}) && amount > 0);
    CHECK(hops[source][static_cast<std::size_t>(head)] == made.step[i] + 1);
    CHECK(hops[source][static_cast<std::size_t>(tail)] == made.step[i]);
    got[{made.source[i], head}].emplace_back(first, amount);
    load[{made.step[i], tail, head}] += amount;
    if (i == 0) continue;
    const auto key = [&](std::size_t j) {
      return std::tuple(made.step[j], made.source[j], made.tail[j], made.head[j]);
    };
    CHECK(key(i - 1) < key(i));
  }
  for (NodeId source = 0; source < network.graph.num_nodes; ++source) {
    for (NodeId head = 0; head < network.graph.num_nodes; ++head) {
      auto parts = got[{source, head}];
      std::ranges::sort(parts);
      Amount end = source == head ? pieces : 0;
      for (const auto& [first, amount] : parts) {
        CHECK(first == end);
        end = first + amount;
      }
      CHECK(end == pieces);
    }
  }
  std::vector<Time> busiest;
  for (const auto& [where, amount] : load) {
    const auto& [step, tail, head] = where;
    if (step >= std::ssize(busiest)) busiest.resize(static_cast<std::size_t>(step) + 1);
    const Time time{amount, capacity[{tail, head}] * pieces};
    Time& most = busiest[static_cast<std::size_t>(step)];
    if (most < time) most = time;
  }
  return busiest;
}

std::vector<Time> longest(const BroadcastTimes& times) {
  std::vector<Time> most(static_cast<std::size_t>(times.steps));
  for (std::size_t i = 0; i < times.time.size(); ++i) {
    Time& here = most[i % most.size()];
    if (here < times.time[i]) here = times.time[i];
  }
  return most;
}

bool same(const Time& a, const Time& b) { return !(a < b) && !(b < a); }

void broadcasts_of_random_graphs_take_the_times_found_for_them() {
  Random random(21);
  for (int round = 0; round < 150; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 9));
    const BroadcastNetwork network = network_of(random_graph(random, nodes, 0, 4));
    const Symmetry alone = each_by_itself(nodes);
    const std::vector<Time> least = longest(broadcast_times(network, alone));
    Amount pieces = 1;
    for (const Time& time : least) pieces = std::lcm(pieces, time.denominator);
    const auto busiest = check_broadcast(network, broadcast(network, alone, pieces), pieces);
    CHECK(std::ranges::equal(least, busiest, same));
    for (const Amount few : {Amount{1}, Amount{2}}) {
      const auto coarse = check_broadcast(network, broadcast(network, alone, few), few);
      for (std::size_t step = 0; step < least.size(); ++step) {
        CHECK(!(coarse[step] < least[step]));
      }
    }
  }
}

void one_node_of_a_ring_stands_for_all() {
  constexpr NodeId nodes = 7;
  Graph ring{nodes, {}};
  NodeMap<NodeId> first;
  std::vector<NodeId> image;
  for (NodeId v = 0; v < nodes; ++v) {
    ring.arcs.push_back({v, (v + 1) % nodes, 2});
    ring.arcs.push_back({(v + 1) % nodes, v, 1});
    first.push_back(0);
    for (NodeId x = 0; x < nodes; ++x) image.push_back((x + v) % nodes);
  }
  const Symmetry rotated{first, image};
  const BroadcastNetwork network = network_of(ring);
  const BroadcastTimes all = broadcast_times(network, each_by_itself(nodes));
  const BroadcastTimes one = broadcast_times(network, rotated);
  CHECK(one.node == std::vector<NodeId>{0} && one.steps == all.steps);
  CHECK((std::vector<Time>(all.time.begin(), all.time.begin() + all.steps) == one.time));
  const Broadcast made = broadcast(network, rotated, 2);
  check_broadcast(network, made, 2);
  CHECK(made.step.size() == broadcast(network, each_by_itself(nodes), 2).step.size());
}

void a_thread_more_changes_nothing() {
  Random random(22);
  const BroadcastNetwork network = network_of(random_graph(random, 300, 0, 3));
  const Symmetry alone = each_by_itself(300);
  const Broadcast one = broadcast(network, alone, 6), two = broadcast(network, alone, 6, {}, 2);
  CHECK(one.step == two.step && one.source == two.source && one.tail == two.tail);
  CHECK(one.head == two.head && one.first == two.first && one.amount == two.amount);
}

void refuses_what_makes_no_sense() {
  const BroadcastNetwork one_way = network_of({2, {{0, 1, 1}}});
  CHECK_THROWS(Disconnected, broadcast_times(one_way, each_by_itself(2)));
  const BroadcastNetwork pair = network_of({2, {{0, 1, 1}, {1, 0, 1}}});
  CHECK_THROWS(InvalidInput, broadcast(pair, each_by_itself(2), 0));
  CHECK_THROWS(InvalidInput, broadcast(pair, each_by_itself(3), 1));
  const std::vector<NodeId> image{0, 1, 0, 1};
  CHECK_THROWS(InvalidInput, broadcast(pair, Symmetry{{1, 0}, image}, 1));
  CHECK_THROWS(InvalidInput, broadcast(pair, Symmetry{{0, 0}, {}}, 1));
}

}  // namespace bfb_tests

TESTS(bfb) {
  broadcasts_of_random_graphs_take_the_times_found_for_them();
  one_node_of_a_ring_stands_for_all();
  a_thread_more_changes_nothing();
  refuses_what_makes_no_sense();
}
