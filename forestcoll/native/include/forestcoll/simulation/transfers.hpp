// What a simulation carries out: transfers over ways through a network, each after what it needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Rows of numbers, one behind the other.
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

// Links, and whatever else works off amounts of data at a rate, are *resources*. Those of one kind
// have one rate; ways of one delay kind have one latency. What the rates and latencies are is said
// when a simulation is run.
struct Transfers {
  IndexedVector<std::int32_t> kind_of_resource;
  Rows resources_of_way;
  IndexedVector<std::int32_t> delay_of_way;  // its kind
  IndexedVector<std::int32_t> way;           // by transfer, as all that follows
  IndexedVector<Amount> amount;
  IndexedVector<std::int32_t> adder;  // the resource that adds up what has come in; -1: none
  IndexedVector<std::int32_t> step;   // in which the schedule sends it
  IndexedVector<std::int32_t> gate;   // transfers of one gate start together
  Rows needs;                         // transfers with smaller numbers

  int count() const { return way.count(); }
};

// Throws InvalidInput unless all numbers name what there is.
void check(const Transfers& transfers);

}  // namespace forestcoll
