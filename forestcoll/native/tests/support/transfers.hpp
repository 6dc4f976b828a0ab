// Hand-made transfers for the tests of simulations.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll::testing {

// Links of one kind, a path over each, and transfers that are added one by one.
class ByHand {
 public:
  explicit ByHand(int links) {
    t.kind_of_resource.assign(links, 0);
    for (int i = 0; i < links; ++i) way({i});
  }

  int way(const std::vector<std::int32_t>& links) {
    auto& rows = t.resources_of_way;
    rows.value.insert(rows.value.end(), links.begin(), links.end());
    rows.first.push_back(std::ssize(rows.value));
    t.delay_of_way.push_back(0);
    return t.delay_of_way.count() - 1;
  }

  int add(int way, Amount amount, int step, const std::vector<std::int32_t>& needs = {}) {
    t.way.push_back(way);
    t.amount.push_back(amount);
    t.adder.push_back(-1);
    t.step.push_back(step);
    t.gate.push_back(t.count() - 1);
    t.needs.value.insert(t.needs.value.end(), needs.begin(), needs.end());
    t.needs.first.push_back(std::ssize(t.needs.value));
    return t.count() - 1;
  }

  Transfers t;
};

// One unit a second, latencies of so many seconds, ticks of a 1024th of a second.
inline Setting setting(int pieces, double latency = 0, bool lockstep = false) {
  return {{1.0}, {latency}, {}, pieces, lockstep, 1.0 / 1024, 0, 1, {}, {}};
}

// A chain over links, each transfer of so many units.
inline Transfers chain(int links, Amount amount) {
  ByHand made(links);
  for (int i = 0; i < links; ++i) {
    made.add(i, amount, i, i == 0 ? std::vector<std::int32_t>{} : std::vector{i - 1});
  }
  return std::move(made.t);
}

}  // namespace forestcoll::testing
