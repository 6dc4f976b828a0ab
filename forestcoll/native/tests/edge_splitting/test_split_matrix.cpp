// A guessed matrix uses the capacity of its ports, and crosses groups as far as possible.
#include <algorithm>
#include <utility>

#include "forestcoll/edge_splitting/split_matrix.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace split_matrix_tests {

void guess_spends_every_port_exactly() {
  Random random(6);
  for (int round = 0; round < 300; ++round) {
    std::vector<Port> ports;
    const Amount count = between(random, 2, 9);
    const bool equal = between(random, 0, 1) == 1;
    for (NodeId i = 0; i < count; ++i) {
      const Amount capacity = equal ? 12 : between(random, 0, 30);
      ports.push_back({i, capacity, capacity, static_cast<int>(between(random, 0, 3))});
    }
    const SplitMatrix matrix = guess_split_matrix(ports, between(random, 1, 5));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Amount row = 0, column = 0;
      for (std::size_t j = 0; j < ports.size(); ++j) {
        CHECK(matrix.at(i, j) >= 0);
        row += matrix.at(i, j);
        column += matrix.at(j, i);
      }
      CHECK(row == ports[i].in);
      CHECK(column == ports[i].out);
    }
  }
}

// Of passing traffic, group g can send in(g) and receive out(g) at most, both across groups. So at
// most 2 T - in(g) - out(g) of the total T crosses if g has more than half of it, and T if no group
// has.
void guess_crosses_groups_as_far_as_possible() {
  Random random(8);
  for (int round = 0; round < 400; ++round) {
    const Amount count = round < 396 ? between(random, 2, 9) : 300;
    const Amount groups = between(random, 2, 4);
    std::vector<Port> ports;
    IndexedVector<Amount> of_group(static_cast<int>(groups), 0);
    Amount total = 0;
    for (NodeId i = 0; i < count; ++i) {
      // One group holds most of the ports, or most of the traffic that passes through few ports.
      const Amount group = std::max<Amount>(0, between(random, -4, groups - 1));
      const Amount capacity = between(random, 0, group == 0 ? 60 : 20);
      ports.push_back({i, capacity, capacity, static_cast<int>(group)});
      of_group[group] += capacity;
      total += capacity;
    }
    const SplitMatrix matrix = guess_split_matrix(ports, 1);
    Amount across = 0;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      for (std::size_t j = 0; j < ports.size(); ++j) {
        if (ports[i].group != ports[j].group) across += matrix.at(i, j);
      }
    }
    const Amount largest = *std::ranges::max_element(of_group);
    CHECK(across == std::min(total, 2 * (total - largest)));
  }
}

// The first of 64 groups of one port sends to all others. With a sparse exchange it sends to groups
// 1 to 8 and the other multiples of 8, 14 in all. The 8 groups of a box all exchange in both cases.
void few_are_asked_for_among_many_groups_only() {
  for (const NodeId count : {8, 64}) {
    std::vector<Port> ports;
    for (NodeId i = 0; i < count; ++i) ports.push_back({i, 630, 630, i});
    for (const bool few : {false, true}) {
      const std::size_t peers = guess_split_matrix(ports, 1, few).row(0).size();
      CHECK(peers == (count == 64 && few ? 14U : static_cast<std::size_t>(count - 1)));
    }
  }
}

// Two strides for 1024 groups: 31 short steps and 31 long ones. For 2048 groups these would make
// over 100,000 entries, so there are three strides in base 13, and four in base 8 for 4096.
void more_groups_take_more_strides() {
  for (const auto& [count, peers] : {std::pair{1024, 62U}, {2048, 36U}, {4096, 28U}}) {
    std::vector<Port> ports;
    for (NodeId i = 0; i < count; ++i) ports.push_back({i, 5000, 5000, i});
    const SplitMatrix matrix = guess_split_matrix(ports, 1);
    CHECK(matrix.row(0).size() == peers);
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Amount total = 0;
      for (const auto& entry : matrix.row(i)) total += entry.amount;
      CHECK(total == 5000);
    }
  }
}

// Ports of 30 to 60 batches of 25: every share is whole batches, and every port is used up. Of
// ports of 3 batches on average, less than one for each other port, shares are in proportion
// instead.
void unequal_ports_share_whole_batches() {
  Random random(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<Port> ports;
    const auto count = static_cast<NodeId>(between(random, 4, 8));
    const bool many = round % 2 == 0;
    for (NodeId i = 0; i < count; ++i) {
      const Amount capacity = 25 * (many ? between(random, 30, 60) : i % 2 == 0 ? 2 : 4);
      ports.push_back({i, capacity, capacity, i});
    }
    const SplitMatrix matrix = guess_split_matrix(ports, 1, false, 25);
    bool whole = true;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Amount row = 0;
      for (const auto& entry : matrix.row(i)) {
        whole = whole && entry.amount % 25 == 0;
        row += entry.amount;
      }
      CHECK(row == ports[i].in);
    }
    CHECK(whole == many);
  }
}

// Any of 2048 groups is three steps away from any other at most.
void three_strides_reach_every_group_in_three_steps() {
  std::vector<Port> ports;
  for (NodeId i = 0; i < 2048; ++i) ports.push_back({i, 5000, 5000, i});
  const SplitMatrix matrix = guess_split_matrix(ports, 1);
  std::vector<int> hops(ports.size(), -1);
  std::vector<std::size_t> queue{0};
  hops[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto& entry : matrix.row(queue[i])) {
      if (hops[entry.to] >= 0) continue;
      hops[entry.to] = hops[queue[i]] + 1;
      queue.push_back(entry.to);
    }
  }
  CHECK(queue.size() == ports.size());
  CHECK(*std::ranges::max_element(hops) == 3);
}

// A router with 40 units to and from its GPU and each of 40 other routers. Of the 40 from each, the
// GPU gets 1. The other 39 pass on to all 39 other routers, not to one of them.
void what_only_passes_is_spread() {
  std::vector<Port> ports{{0, 40, 40, 0}};
  for (NodeId i = 1; i <= 40; ++i) ports.push_back({i, 40, 40, 1});
  const SplitMatrix matrix = guess_split_matrix(ports, 1);
  for (std::size_t i = 1; i < ports.size(); ++i) {
    CHECK(matrix.at(0, i) == 1);
    CHECK(matrix.at(i, 0) == 1);
    CHECK(matrix.at(i, i) == 0);
    for (std::size_t j = 1; j < ports.size(); ++j) CHECK(matrix.at(i, j) <= 2);
  }
}

// Among 300 routers, traffic passes on to some others each, two steps from any. With 600 units from
// the GPU's own router to each other, the GPU gets 2 of them, and 598 go on to 34 others.
void what_only_passes_hundreds_of_ports_goes_to_some() {
  std::vector<Port> ports{{0, 600, 600, 0}};
  for (NodeId i = 1; i <= 300; ++i) ports.push_back({i, 600, 600, 1});
  const SplitMatrix matrix = guess_split_matrix(ports, 1);
  for (std::size_t i = 1; i < ports.size(); ++i) {
    CHECK(matrix.at(0, i) == 2);
    CHECK(matrix.at(i, 0) == 2);
    CHECK(matrix.row(i).size() < 40);
    Amount total = 0;
    for (const auto& entry : matrix.row(i)) total += entry.amount;
    CHECK(total == 600);
  }
}

}  // namespace split_matrix_tests

TESTS(split_matrix) {
  what_only_passes_is_spread();
  what_only_passes_hundreds_of_ports_goes_to_some();
  few_are_asked_for_among_many_groups_only();
  more_groups_take_more_strides();
  unequal_ports_share_whole_batches();
  three_strides_reach_every_group_in_three_steps();
  guess_spends_every_port_exactly();
  guess_crosses_groups_as_far_as_possible();
}
