// Contracted edges are those that the links behind them have, found link by link.
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/tight_sets/contraction.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace contraction_tests {

// Nested sets of nodes in any order: each set after the first half lies in a later one.
Family random_family(Random& random, NodeId nodes, int sets) {
  Family family{NodeMap<int>(nodes), IndexedVector<int>(sets)};
  for (int set = 0; set + 1 < sets; ++set) {
    family.parent[set] = static_cast<int>(between(random, set + 1, sets - 1));
  }
  family.parent.back() = -1;
  for (int& set : family.set_of) set = static_cast<int>(between(random, 0, sets - 1));
  return family;
}

void check_edges(const Family& family, const std::vector<Arc>& links) {
  const Nesting nesting(family);
  const ContractedEdges edges(nesting, ArcColumns(links).view());
  // Set, items, and the places of the links, in order.
  std::map<std::tuple<int, int, int>, std::vector<int>> due;
  std::vector<Amount> entering(nesting.num_positions(), 0);
  for (int i = 0; i < static_cast<int>(links.size()); ++i) {
    const Arc& link = links[static_cast<std::size_t>(i)];
    const int set = nesting.common_set(link.tail, link.head);
    due[{set, nesting.item_of(link.tail, set), nesting.item_of(link.head, set)}].push_back(i);
    for (int inner = family.set_of[link.head]; inner != set; inner = family.parent[inner]) {
      entering[nesting.first_position(inner) +
               static_cast<std::size_t>(nesting.item_of(link.head, inner))] += link.capacity;
    }
  }
  CHECK(edges.entering == entering);
  auto next = due.begin();
  for (int set = 0; set < family.num_sets(); ++set) {
    for (const auto& edge : edges.of(set)) {
      CHECK(next != due.end() && (next->first == std::tuple(set, edge.from, edge.to)));
      const auto behind = edges.links_of(edge);
      CHECK((std::vector<int>(behind.begin(), behind.end()) == next->second));
      ++next;
    }
  }
  CHECK(next == due.end());
}

std::vector<Arc> random_links(Random& random, NodeId nodes, int count) {
  std::vector<Arc> links;
  for (int i = 0; i < count; ++i) {
    const auto tail = static_cast<NodeId>(between(random, 0, nodes - 1));
    const auto head = static_cast<NodeId>(between(random, 0, nodes - 1));
    if (tail != head) links.push_back({tail, head, between(random, 1, 9)});
  }
  return merged(std::move(links));
}

// Few links for each item are sorted, many are counted.
void edges_are_those_of_their_links() {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 2, 60));
    const Family family = random_family(random, nodes, static_cast<int>(between(random, 1, 8)));
    for (const int count : {0, 5, 60, 900}) {
      check_edges(family, random_links(random, nodes, count));
    }
  }
}

}  // namespace contraction_tests

TESTS(contraction) { edges_are_those_of_their_links(); }
