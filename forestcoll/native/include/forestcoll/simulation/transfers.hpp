// The input of a simulation: transfers over paths through a network, with dependencies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Rows of numbers in one array.
struct Rows {
  std::vector<std::int64_t> first{0};
  std::vector<std::int32_t> value;

  int count() const { return static_cast<int>(first.size()) - 1; }
  std::span<const std::int32_t> operator[](int row) const {
    const auto begin = static_cast<std::size_t>(first[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(first[static_cast<std::size_t>(row) + 1]);
    return std::span(value).subspan(begin, end - begin);
  }
};

// *Resources* are links and everything else that works off amounts of data at a rate. Those of one
// kind have one rate; paths of one delay kind have one latency. Rates and latencies are given when
// a simulation is run.
struct Transfers {
  IndexedVector<std::int32_t> kind_of_resource;
  Rows resources_of_way;
  IndexedVector<std::int32_t> delay_of_way;  // its kind
  IndexedVector<std::int32_t> way;           // by transfer, like all that follow
  IndexedVector<Amount> amount;
  IndexedVector<std::int32_t> adder;     // the resource that adds up received data; -1: none
  IndexedVector<std::int32_t> step;      // the step of the schedule
  IndexedVector<std::int32_t> gate;      // transfers of one gate start together
  Rows needs;                            // transfers with smaller numbers
  IndexedVector<std::int32_t> priority;  // the larger goes first on a link; empty: all alike

  int count() const { return way.count(); }
};

// Throws InvalidInput unless all numbers are in range.
void check(const Transfers& transfers);

}  // namespace forestcoll
