// Paths over one switch are those that a replay of the splits finds.
#include <algorithm>
#include <optional>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/path_recovery/direct_paths.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"
#include "support/routes.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace direct_paths_tests {

void check_equal(const Routes& found, const Routes& due) {
  CHECK(found.first_path == due.first_path);
  CHECK(found.multiplicity == due.multiplicity);
  CHECK(found.first_hop == due.first_hop);
  CHECK(found.hop == due.hop);
}

// Returns whether all splits join physical links, and loads a part of each logical link.
bool is_as_replayed(Random& random, const Graph& graph, const SwitchRemoval& removal) {
  std::vector<Arc> loads;
  for (Arc load : rows(removal.logical)) {
    load.capacity = between(random, 0, load.capacity);
    loads.push_back(load);
  }
  const std::vector<Split> splits = rows(removal.splits);
  const std::optional<Routes> found = direct_routes(graph, splits, loads);
  if (!found) return false;
  check_equal(*found, replayed(graph, splits, loads));
  check_equal(*found, replayed(graph, splits, loads, 0));
  check_equal(*found, routes_of(graph, splits, loads));
  return true;
}

void paths_are_those_of_a_replay() {
  Random random(31);
  int direct = 0, layered = 0;
  for (int round = 0; round < 600; ++round) {
    const auto switches = static_cast<NodeId>(between(random, 1, 4));
    const auto nodes = static_cast<NodeId>(switches + between(random, 2, 5));
    Graph graph = random_graph(random, nodes, switches, 8);
    const Bottleneck best = find_bottleneck(graph, equal_demand(nodes, switches, 1));
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    const Demand demand = equal_demand(nodes, switches, best.denominator);
    const SwitchRemoval removal = remove_switches(graph, demand, find_tight_sets(graph, demand));
    ++(is_as_replayed(random, graph, removal) ? direct : layered);
  }
  CHECK(direct > 50 && layered > 50);
}

void splits_over_one_switch_that_come_apart_are_one_path() {
  // Switches 2 and 3 between 0 and 1, a link beside them, and parallel links to switch 2.
  const Graph graph{4, {{0, 1, 2}, {0, 2, 3}, {0, 2, 2}, {2, 1, 5}, {0, 3, 4}, {3, 1, 4}}};
  const std::vector<Split> splits{{2, 0, 1, 4}, {3, 0, 1, 3}, {2, 0, 1, 1}, {3, 0, 1, 0}};
  const std::vector<Arc> loads{{0, 1, 10}};
  const std::optional<Routes> found = direct_routes(graph, splits, loads);
  CHECK(found.has_value());
  CHECK((found->hop == std::vector<NodeId>{0, 1, 0, 2, 1, 0, 3, 1}));
  CHECK((found->multiplicity == std::vector<Amount>{2, 5, 3}));
  for (Amount load = 0; load <= 10; ++load) {
    check_equal(*direct_routes(graph, splits, {{0, 1, load}}),
                replayed(graph, splits, {{0, 1, load}}));
  }
  CHECK_THROWS(InvalidInput, direct_routes(graph, splits, {{0, 1, 11}}));
  CHECK_THROWS(InvalidInput, direct_routes(graph, splits, {{1, 0, 1}}));
}

void what_splits_leave_of_a_link_is_a_path() {
  const Graph graph{3, {{0, 2, 3}, {2, 1, 3}}};
  const std::vector<Split> splits{{2, 0, 1, 2}};
  const std::vector<Arc> loads{{0, 1, 2}, {0, 2, 1}, {2, 1, 1}};
  check_equal(*direct_routes(graph, splits, loads), replayed(graph, splits, loads));
  CHECK_THROWS(InvalidInput, direct_routes(graph, splits, {{0, 2, 2}}));
}

void links_and_splits_of_nothing_are_no_paths() {
  const Graph graph{4, {{0, 1, 0}, {0, 2, 1}, {2, 1, 1}}};
  const std::vector<Split> splits{{3, 0, 1, 0}, {2, 0, 1, 1}};
  const std::optional<Routes> found = direct_routes(graph, splits, {{0, 1, 1}});
  CHECK((found->hop == std::vector<NodeId>{0, 2, 1}));
  check_equal(*found, replayed(graph, splits, {{0, 1, 1}}));
}

void a_split_of_more_than_its_links_is_refused() {
  const Graph graph{3, {{0, 2, 3}, {2, 1, 2}}};
  CHECK(direct_routes(graph, {{2, 0, 1, 2}}, {}).has_value());
  CHECK_THROWS(InvalidInput, direct_routes(graph, {{2, 0, 1, 3}}, {}));
  CHECK_THROWS(InvalidInput, direct_routes(graph, {{2, 1, 0, 1}}, {}));
  CHECK_THROWS(InvalidInput, direct_routes(graph, {{2, 0, 1, 1}, {2, 0, 1, 2}}, {}));
}

void splits_of_splits_and_loads_to_their_tail_are_left_to_a_replay() {
  const Graph graph{4, {{0, 2, 1}, {2, 3, 1}, {3, 2, 1}, {2, 1, 1}, {2, 0, 1}}};
  CHECK(!direct_routes(graph, {{2, 0, 3, 1}, {3, 0, 2, 1}}, {}));
  CHECK(!direct_routes(graph, {{3, 2, 2, 1}, {2, 0, 1, 1}}, {}));
  CHECK(!direct_routes(graph, {{2, 3, 1, 1}, {3, 0, 1, 0}}, {}));
  CHECK(!direct_routes(graph, {{2, 0, 0, 1}}, {{0, 0, 1}}));
}

// Links asked for in any order, again and with others between.
void loads_may_come_in_any_order() {
  const Graph graph{5, {{0, 4, 9}, {4, 1, 3}, {4, 2, 3}, {4, 3, 3}, {0, 2, 1}, {1, 2, 1}}};
  const std::vector<Split> splits{{4, 0, 3, 3}, {4, 0, 1, 2}, {4, 0, 2, 3}, {4, 0, 1, 1}};
  std::vector<Arc> loads{{0, 1, 3}, {0, 2, 4}, {0, 3, 3}, {1, 2, 1}};
  const auto before = [](const Arc& a, const Arc& b) {
    return ends(a.tail, a.head) < ends(b.tail, b.head);
  };
  do {
    std::vector<Arc> twice = loads;
    twice.insert(twice.end(), loads.begin(), loads.end());
    check_equal(*direct_routes(graph, splits, twice), replayed(graph, splits, twice));
  } while (std::ranges::next_permutation(loads, before).found);
}

}  // namespace direct_paths_tests

TESTS(direct_paths) {
  loads_may_come_in_any_order();
  paths_are_those_of_a_replay();
  splits_over_one_switch_that_come_apart_are_one_path();
  what_splits_leave_of_a_link_is_a_path();
  links_and_splits_of_nothing_are_no_paths();
  a_split_of_more_than_its_links_is_refused();
  splits_of_splits_and_loads_to_their_tail_are_left_to_a_replay();
}
