// Products of cyclic groups are found exactly where every translation is a symmetry.
#include <algorithm>
#include <functional>
#include <numeric>

#include "forestcoll/common/translations.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace translations_tests {

// An arc from every node to the end of each step, digit by digit.
Graph cayley(const std::vector<NodeId>& radices, const std::vector<std::vector<NodeId>>& steps) {
  const NodeId nodes = std::accumulate(radices.begin(), radices.end(), 1, std::multiplies<>());
  Graph graph{nodes, {}};
  for (NodeId v = 0; v < nodes; ++v) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      NodeId rest = v, unit = 1, to = 0;
      for (std::size_t i = radices.size(); i-- > 0;) {
        to += (rest % radices[i] + steps[s][i]) % radices[i] * unit;
        unit *= radices[i];
        rest /= radices[i];
      }
      if (to != v) graph.arcs.push_back({v, to, static_cast<Amount>(s + 1)});
    }
  }
  graph.arcs = merged(std::move(graph.arcs));
  return graph;
}

std::vector<Arc> moved(const Graph& graph, const NodeMap<NodeId>& by) {
  std::vector<Arc> arcs;
  for (const Arc& arc : graph.arcs) arcs.push_back({by[arc.tail], by[arc.head], arc.capacity});
  return merged(std::move(arcs));
}

void every_move_is_a_symmetry() {
  Random random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<NodeId> radices;
    for (auto digits = between(random, 1, 4); digits > 0; --digits) {
      radices.push_back(static_cast<NodeId>(between(random, 2, 5)));
    }
    std::vector<std::vector<NodeId>> steps;
    for (auto count = between(random, 1, 4); count > 0; --count) {
      auto& step = steps.emplace_back();
      for (const NodeId radix : radices) {
        step.push_back(static_cast<NodeId>(between(random, 0, radix - 1)));
      }
    }
    const Graph graph = cayley(radices, steps);
    const auto found = find_translations(graph);
    CHECK(found.has_value());
    NodeMap<std::uint8_t> reached(graph.num_nodes, 0);
    for (NodeId by = 0; by < graph.num_nodes; ++by) {
      const NodeMap<NodeId> table = found->moved_by(by);
      CHECK(table[0] == by);
      CHECK(moved(graph, table) == static_cast<const std::vector<Arc>&>(graph.arcs));
      for (NodeId v = 0; v < graph.num_nodes; ++v) CHECK(found->difference(table[v], by) == v);
      reached[table[graph.num_nodes - 1]] = 1;
    }
    CHECK(std::ranges::count(reached, 1) == graph.num_nodes);
  }
}

void a_torus_has_two_radices_and_a_circulant_one() {
  const Graph torus = cayley({3, 4}, {{1, 0}, {2, 0}, {0, 1}, {0, 3}});
  CHECK(find_translations(torus)->radices() == std::vector<NodeId>({3, 4}));
  const Graph ring = cayley({12}, {{1}, {11}});
  CHECK(find_translations(ring)->radices() == std::vector<NodeId>({12}));
  const Graph cube = cayley({2, 2, 2}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  CHECK(find_translations(cube)->radices() == std::vector<NodeId>({2, 2, 2}));
  CHECK(find_translations(cube)->offsets().count() == 3);
}

void a_dent_breaks_the_symmetry() {
  const Graph torus = cayley({4, 4}, {{1, 0}, {3, 0}, {0, 1}, {0, 3}});
  for (std::size_t arc = 0; arc < torus.arcs.size(); arc += 5) {
    Graph dented = torus;
    ++dented.arcs[arc].capacity;
    CHECK(!find_translations(dented).has_value());
    dented.arcs.erase(dented.arcs.begin() + static_cast<std::ptrdiff_t>(arc));
    CHECK(!find_translations(dented).has_value());
  }
  CHECK(!find_translations(Graph{5, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}}}).has_value());
  CHECK(!find_translations(Graph{1, {}}).has_value());
}

void weights_and_targets_count_too() {
  const Graph torus = cayley({4, 4}, {{1, 0}, {3, 0}, {0, 1}, {0, 3}});
  Demand demand{NodeMap<Amount>(16, 2), NodeMap<std::uint8_t>(16, 1)};
  CHECK(is_alike_everywhere(torus, demand));
  Demand heavier = demand, fewer = demand;
  heavier.trees[3] = 3;
  fewer.is_target[3] = 0;
  CHECK(!is_alike_everywhere(torus, heavier));
  CHECK(!is_alike_everywhere(torus, fewer));
  CHECK(!is_alike_everywhere(torus, {demand.trees, NodeMap<std::uint8_t>(16, 0)}));
}

}  // namespace translations_tests

TESTS(translations) {
  every_move_is_a_symmetry();
  a_torus_has_two_radices_and_a_circulant_one();
  a_dent_breaks_the_symmetry();
  weights_and_targets_count_too();
}
