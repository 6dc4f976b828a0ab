// Trees through broadcasters take what each node sends, and reach all nodes.
#include <numeric>

#include "forestcoll/common/broadcasters.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace broadcasters_tests {

// Six trees of node 0. Beside one send for each of them, node 0 can serve the two others of 2
// trees, node 1 of two and a half, node 2 of one and node 3 of a half.
void what_a_division_leaves_over_is_put_together() {
  const std::vector<Amount> sent{10, 5, 2, 1}, trees{6, 0, 0, 0};
  const std::vector<BroadcastTrees> expected{
      {0, 2, {{0, 2}}}, {0, 2, {{1, 2}}}, {0, 1, {{2, 2}}}, {0, 1, {{1, 1}, {3, 1}}}};
  CHECK(assign_broadcasters(sent, trees) == expected);
  CHECK((parents_of(expected[0], 4) == NodeMap<NodeId>{-1, 0, 0, 0}));
  CHECK((parents_of(expected[1], 4) == NodeMap<NodeId>{-1, 0, 1, 1}));
  CHECK((parents_of(expected[3], 4) == NodeMap<NodeId>{-1, 0, 3, 1}));
}

// The root is one of the two broadcasters of its tree: it sends to the other and to one node more.
void a_root_can_be_one_of_several_broadcasters() {
  CHECK((parents_of({2, 1, {{0, 2}, {2, 1}}}, 5) == NodeMap<NodeId>{2, 2, -1, 0, 0}));
}

void too_few_sends_give_no_trees() {
  CHECK(assign_broadcasters(std::vector<Amount>{4, 1, 1}, std::vector<Amount>{3, 0, 0}).size() ==
        3);
  CHECK(assign_broadcasters(std::vector<Amount>{4, 1, 0}, std::vector<Amount>{3, 0, 0}).empty());
  CHECK(assign_broadcasters(std::vector<Amount>{2, 1}, std::vector<Amount>{2, 1}).empty());
}

// What all nodes send together is just enough.
void all_sends_are_used_up() {
  Random random(17);
  for (int round = 0; round < 300; ++round) {
    const Amount nodes = between(random, 3, 12);
    std::vector<Amount> trees, sent;
    for (Amount v = 0; v < nodes; ++v) trees.push_back(between(random, 0, 20));
    sent = trees;
    const Amount all = std::accumulate(trees.begin(), trees.end(), Amount{0});
    for (Amount left = all * (nodes - 2); left > 0;) {
      const Amount some = between(random, 1, left);
      sent[static_cast<std::size_t>(between(random, 0, nodes - 1))] += some;
      left -= some;
    }
    const std::vector<BroadcastTrees> assigned = assign_broadcasters(sent, trees);
    CHECK(static_cast<Amount>(assigned.size()) <= 3 * nodes);
    for (const BroadcastTrees& some : assigned) {
      trees[static_cast<std::size_t>(some.root)] -= some.multiplicity;
      const NodeMap<NodeId> parent = parents_of(some, static_cast<NodeId>(nodes));
      for (NodeId v = 0; v < parent.count(); ++v) {
        NodeId at = v;
        for (Amount hops = 0; at >= 0 && at != some.root && hops < nodes; ++hops) at = parent[at];
        CHECK(at == some.root);
        if (v != some.root) sent[static_cast<std::size_t>(parent[v])] -= some.multiplicity;
      }
    }
    CHECK(trees == std::vector<Amount>(trees.size(), 0));
    CHECK(sent == std::vector<Amount>(sent.size(), 0));
  }
}

}  // namespace broadcasters_tests

TESTS(broadcasters) {
  what_a_division_leaves_over_is_put_together();
  a_root_can_be_one_of_several_broadcasters();
  too_few_sends_give_no_trees();
  all_sends_are_used_up();
}
