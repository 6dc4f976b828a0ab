// What links show of a set, and what is left of them, is what a plain list of links shows.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <vector>

#include "forestcoll/edge_splitting/links.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace links_tests {

constexpr NodeId kNodes = 10, kFirstSwitch = 6;

// Sets 0 = {0, 1, 6} and 1 = {2, 3, 7} inside 2, which also holds 8; 4, 5 and 9 are around them.
Family nested_sets() { return {{0, 0, 1, 1, 3, 3, 0, 1, 2, 3}, {2, 2, 3, -1}}; }

std::vector<Arc> sorted(std::vector<Arc> arcs) {
  std::ranges::sort(arcs, {}, [](const Arc& a) { return std::tuple(a.tail, a.head, a.capacity); });
  return arcs;
}

// Links beside a plain list of them.
class Pair {
 public:
  explicit Pair(const Graph& graph)
      : family_(nested_sets()), nesting_(family_), links_(graph, is_target_, nesting_) {
    for (const Arc& arc : graph.arcs) {
      if (arc.capacity > 0) list_.push_back(arc);
    }
  }

  void open(int set) {
    std::vector<Arc> found, due;
    links_.open(set, [&](const Arc& link) { found.push_back(link); });
    std::ranges::copy_if(list_, std::back_inserter(due), [&](const Arc& link) {
      return nesting_.common_set(link.tail, link.head) == set;
    });
    CHECK(sorted(found) == sorted(due));
  }

  // Before a set is opened, its nodes have the links that leave it.
  void check_beyond(int set) const {
    for (const NodeId node : nesting_.nodes_inside(set)) {
      Links::Beyond due;
      for (const Arc& link : list_) {
        const NodeId other = link.tail == node ? link.head : link.tail;
        if (nesting_.item_of(other, set) < nesting_.num_items(set)) continue;
        if (link.head == node) due.in += link.capacity;
        if (link.tail == node) due.out += link.capacity;
      }
      CHECK(links_.beyond(node).in == due.in);
      CHECK(links_.beyond(node).out == due.out);
    }
  }

  void split(const Split& made) {
    links_.expect(1);
    links_.split(made);
    list_.push_back({made.from, made.to, made.amount});
    splits_.push_back(made);
  }

  void remove(NodeId via) {
    const auto is_at = [via](const Arc& link) { return link.tail == via || link.head == via; };
    std::vector<Arc> found, due;
    links_.each_at(via, [&](const Arc& link) { found.push_back(link); });
    std::ranges::copy_if(list_, std::back_inserter(due), is_at);
    CHECK(sorted(found) == sorted(due));
    links_.remove(via);
    std::erase_if(list_, is_at);
  }

  void check_rest() const { CHECK(rows(links_.merged()) == merged(list_)); }
  void check_splits() { CHECK(rows(links_.take_splits()) == splits_); }

 private:
  NodeMap<std::uint8_t> is_target_{1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  Family family_;
  Nesting nesting_;
  Links links_;
  std::vector<Arc> list_;
  std::vector<Split> splits_;
};

void links_are_those_of_a_list() {
  Random random(11);
  const auto any = [&] { return static_cast<NodeId>(between(random, 0, kNodes - 1)); };
  for (int round = 0; round < 200; ++round) {
    Graph graph{kNodes, {}};
    for (int link = 0; link < 60; ++link) {
      const NodeId tail = any(), head = any();
      if (tail != head) graph.arcs.push_back({tail, head, between(random, 0, 9)});
    }
    Pair links(graph);
    links.open(3);
    links.remove(9);
    // From inside a set out of it, as splits at switches around it make them.
    links.split({9, 0, 4, between(random, 1, 9)});
    links.split({9, 8, 5, between(random, 1, 9)});
    links.check_beyond(2);
    links.open(2);
    links.split({8, 6, 3, between(random, 1, 9)});
    links.split({8, 4, 2, between(random, 1, 9)});
    links.remove(8);
    links.check_rest();
    for (const int set : {1, 0}) {
      links.check_beyond(set);
      links.open(set);
      links.remove(kFirstSwitch + set);
    }
    links.check_rest();
    links.check_splits();
  }
}

void a_switch_is_removed_once() {
  Pair links(Graph{kNodes, {{4, 9, 3}, {9, 5, 3}, {4, 5, 0}}});
  links.open(3);
  links.remove(9);
  links.remove(9);
  links.check_beyond(2);
  links.check_rest();
}

}  // namespace links_tests

TESTS(links) {
  links_are_those_of_a_list();
  a_switch_is_removed_once();
}
