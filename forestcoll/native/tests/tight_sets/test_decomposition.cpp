// Trimming keeps its invariants, makes sets tight, and lets slack networks decompose.
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tight_sets/contraction.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "forestcoll/tight_sets/trimming.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace decomposition_tests {

bool a_switch_sends_too_much(const Graph& graph, const Demand& demand) {
  NodeMap<Amount> kept(demand.trees.size(), 0);
  for (const Arc& arc : graph.arcs) {
    kept[arc.head] += arc.capacity;
    kept[arc.tail] -= arc.capacity;
  }
  for (std::size_t v = 0; v < kept.size(); ++v) {
    if (demand.is_target[v] == 0 && kept[v] < 0) return true;
  }
  return false;
}

struct Network {
  Graph graph;
  Demand demand;
};

// At its optimum, where all cuts are known to carry the demand.
Network random_network(Random& random) {
  const auto switches = static_cast<NodeId>(between(random, 1, 3));
  const auto nodes = static_cast<NodeId>(switches + between(random, 3, 6));
  Graph graph = random_graph(random, nodes, switches, 6);
  if (random() % 2 == 0) {  // both directions alike
    const std::vector<Arc> arcs = graph.arcs;
    for (const Arc& arc : arcs) graph.arcs.push_back({arc.head, arc.tail, arc.capacity});
  }
  const Bottleneck best = find_bottleneck(graph, equal_demand(nodes, switches, 1));
  for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
  return {graph, equal_demand(nodes, switches, best.denominator)};
}

Graph merged(const Graph& graph) {
  Graph merged{graph.num_nodes, {}};
  std::vector<Arc> arcs = graph.arcs;
  std::ranges::sort(arcs, {}, [](const Arc& a) { return std::pair{a.tail, a.head}; });
  for (const Arc& arc : arcs) {
    const bool again = !merged.arcs.empty() && merged.arcs.back().tail == arc.tail &&
                       merged.arcs.back().head == arc.head;
    if (again) {
      merged.arcs.back().capacity += arc.capacity;
    } else {
      merged.arcs.push_back(arc);
    }
  }
  return merged;
}

void trimming_keeps_every_cut_and_makes_its_sets_tight() {
  Random random(3);
  Progress progress;
  int trimmed = 0;
  for (int round = 0; round < 600; ++round) {
    auto [graph, demand] = random_network(random);
    graph = merged(graph);
    Subproblem problem{graph, demand, -1};
    const auto sets = trim(problem, progress);
    for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
      CHECK(problem.graph.arcs[i].capacity >= 0);
      CHECK(problem.graph.arcs[i].capacity <= graph.arcs[i].capacity);
      CHECK(!sets.empty() || problem.graph.arcs[i] == graph.arcs[i]);
    }
    CHECK(carries(problem.graph, demand));
    CHECK(!a_switch_sends_too_much(problem.graph, demand));
    for (const auto& set : sets) {
      CHECK(surplus(problem.graph, demand, set) == 0);
      trimmed += surplus(graph, demand, set) > 0 ? 1 : 0;
    }
  }
  CHECK(trimmed > 100);
}

void nested_sets_are_tight_under_the_trimmed_capacities() {
  Random random(4);
  int deeper = 0;
  for (int round = 0; round < 400; ++round) {
    auto [graph, demand] = random_network(random);
    const Decomposition found = decompose(graph, demand);
    const Family plain = find_tight_sets(graph, demand);
    deeper += found.family.num_sets() > plain.num_sets() ? 1 : 0;
    for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
      CHECK(found.capacity[i] >= 0 && found.capacity[i] <= graph.arcs[i].capacity);
      graph.arcs[i].capacity = found.capacity[i];
    }
    forestcoll::check(found.family, graph.num_nodes);
    CHECK(carries(graph, demand));
    CHECK(!a_switch_sends_too_much(graph, demand));
    const Nesting nesting(found.family);
    for (int set = 0; set + 1 < found.family.num_sets(); ++set) {
      CHECK(surplus(graph, demand, nesting.nodes_inside(set)) == 0);
    }
  }
  CHECK(deeper > 50);
}

void link(Graph& graph, NodeId a, NodeId b, Amount capacity) {
  graph.arcs.push_back({a, b, capacity});
  graph.arcs.push_back({b, a, capacity});
}

void a_dead_link_does_not_keep_other_boxes_together() {
  // Three boxes of 4 GPUs, each with a switch (12, 13, 14), on one switch 15; GPU 0 has lost its
  // link. With 3 trees a GPU, the first box needs 24 and gets 8 from each of its links; the others
  // get 32.
  Graph graph{16, {}};
  for (NodeId gpu = 0; gpu < 12; ++gpu) {
    link(graph, gpu, 12 + gpu / 4, 60);
    if (gpu > 0) link(graph, gpu, 15, 8);
  }
  const Demand demand = equal_demand(16, 4, 3);
  CHECK(find_tight_sets(graph, demand).num_sets() == 2);
  const Decomposition found = decompose(graph, demand);
  CHECK(found.family.num_sets() == 4);
  for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
    const Arc& arc = graph.arcs[i];
    const bool slack = (arc.tail == 15 && arc.head > 3) || (arc.head == 15 && arc.tail > 3);
    CHECK(found.capacity[i] == (slack ? 6 : arc.capacity));
  }
}

void leaves_of_a_slack_fat_tree_fall_apart() {
  // Four leaves (8 to 11) of two hosts, two spines (12, 13); the hosts are the bottleneck.
  Graph graph{14, {}};
  for (NodeId host = 0; host < 8; ++host) link(graph, host, 8 + host / 2, 7);
  for (NodeId leaf = 8; leaf < 12; ++leaf) {
    link(graph, leaf, 12, 7);
    link(graph, leaf, 13, 7);
  }
  const Demand demand = equal_demand(14, 6, 1);
  CHECK(find_tight_sets(graph, demand).num_sets() == 1);
  const Family family = decompose(graph, demand).family;
  CHECK((family.set_of == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3, 4, 4}));
}

// Hosts 0 to n - 1, each on a switch of its own. The switches form a circulant: each has links to
// the `reach` before it and the `reach` after it.
Graph lone_hosts(NodeId hosts, Amount trees, NodeId reach, Amount between) {
  Graph graph{2 * hosts, {}};
  for (NodeId host = 0; host < hosts; ++host) {
    link(graph, host, hosts + host, trees * (hosts - 1));
    for (NodeId step = 1; step <= reach; ++step) {
      link(graph, hosts + host, hosts + (host + step) % hosts, between);
    }
  }
  return graph;
}

bool is_untrimmed(const Graph& graph, const Demand& demand) {
  const Decomposition found = decompose(graph, demand);
  for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
    if (found.capacity[i] != graph.arcs[i].capacity) return false;
  }
  return found.family.num_sets() == 1;
}

void many_switches_with_one_host_each_fall_apart() {
  // With 100 trees each, a host gets 108 x 100 over its own link, and its switch 12 x 1500 from
  // others. Each of these links keeps 900 = 108 x 100 / 12. There may be 109^3 > 2^19 paths.
  const Graph graph = lone_hosts(109, 100, 6, 1500);
  const Demand demand = equal_demand(218, 109, 100);
  CHECK(find_tight_sets(graph, demand).num_sets() == 1);
  const Decomposition found = decompose(graph, demand);
  CHECK(found.family.num_sets() == 110);
  for (std::size_t i = 0; i < graph.arcs.size(); ++i) {
    const bool between = graph.arcs[i].tail >= 109 && graph.arcs[i].head >= 109;
    CHECK(found.capacity[i] == (between ? 900 : 10800));
  }
  for (NodeId host = 0; host < 109; ++host) {
    CHECK(found.family.set_of[host] == found.family.set_of[109 + host]);
  }
}

void few_paths_through_switches_with_one_host_each_need_no_trimming() {
  // The same with 44 trees each, for 109 hosts: 109 x 109 x 44 < 2^19 enter them in all. And with
  // 79 hosts and any number of trees: 79^3 < 2^19 splits.
  CHECK(is_untrimmed(lone_hosts(109, 44, 6, 1500), equal_demand(218, 109, 44)));
  CHECK(!is_untrimmed(lone_hosts(109, 45, 6, 1500), equal_demand(218, 109, 45)));
  CHECK(is_untrimmed(lone_hosts(79, 300, 6, 4500), equal_demand(158, 79, 300)));
}

// GPUs 0 and 1 at switch 5, 2 and 3 at switch 6; GPU 4 and both switches in a triangle of 4. Each
// box needs the 3 trees of the others and gets 8.
Graph two_boxes_and_a_gpu() {
  Graph graph{7, {}};
  for (NodeId gpu = 0; gpu < 4; ++gpu) link(graph, gpu, 5 + gpu / 2, 20);
  link(graph, 5, 6, 4);
  link(graph, 4, 5, 4);
  link(graph, 4, 6, 4);
  return graph;
}

// Whether the links between these pairs have so much capacity left, in each direction.
bool has_left(const Graph& graph, const std::vector<std::tuple<NodeId, NodeId, Amount>>& expected) {
  return std::ranges::all_of(expected, [&](const auto& one) {
    const auto& [a, b, left] = one;
    return std::ranges::all_of(graph.arcs, [&, a = a, b = b, left = left](const Arc& arc) {
      const bool joins = (arc.tail == a && arc.head == b) || (arc.tail == b && arc.head == a);
      return !joins || arc.capacity == left;
    });
  });
}

void a_tight_set_keeps_what_enters_it_when_its_neighbour_is_trimmed() {
  // The first box gives 3 of its link to the second, which comes first, and 2 of that to GPU 4,
  // both ways. Then the second gets 1 and 4, and gives 2 of its link to GPU 4. The first can spare
  // none.
  Subproblem problem{two_boxes_and_a_gpu(), equal_demand(7, 2, 1), -1};
  Progress progress;
  const auto sets = trim(problem, progress);
  CHECK((sets == std::vector<std::vector<NodeId>>{{0, 1, 5}, {2, 3, 6}}));
  CHECK(has_left(problem.graph, {{5, 6, 1}, {4, 5, 2}, {4, 6, 2}, {0, 5, 20}}));
}

void a_set_is_made_tight_by_itself_where_two_at_once_break_a_cut() {
  // Here the link to GPU 4 comes first. The first box gives 3 of it and 2 of the other. The second
  // must give 3 of its own to GPU 4, which then gets 2 of the 4 it needs. The first box takes
  // everything back; the second, by itself, gives 3 and 2.
  Subproblem problem{merged(two_boxes_and_a_gpu()), equal_demand(7, 2, 1), -1};
  Progress progress;
  const auto sets = trim(problem, progress);
  CHECK((sets == std::vector<std::vector<NodeId>>{{2, 3, 6}}));
  CHECK(has_left(problem.graph, {{5, 6, 2}, {4, 5, 4}, {4, 6, 1}, {0, 5, 20}}));
}

}  // namespace decomposition_tests

TESTS(decomposition) {
  trimming_keeps_every_cut_and_makes_its_sets_tight();
  nested_sets_are_tight_under_the_trimmed_capacities();
  a_dead_link_does_not_keep_other_boxes_together();
  leaves_of_a_slack_fat_tree_fall_apart();
  many_switches_with_one_host_each_fall_apart();
  few_paths_through_switches_with_one_host_each_need_no_trimming();
  a_tight_set_keeps_what_enters_it_when_its_neighbour_is_trimmed();
  a_set_is_made_tight_by_itself_where_two_at_once_break_a_cut();
}
