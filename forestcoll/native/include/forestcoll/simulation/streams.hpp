// Streams: the classes of transfers, prepared for simulation with resources and dependencies.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/simulation/classes.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

// A set of resources. Streams over the same resources have the same rate per unit at any moment.
// With priorities every stream has lanes of its own.
struct Lane {
  std::vector<std::int32_t> resources;  // each once
};

// One leg of a stream: the load of one unit of its amount on each resource of its lane, summed over
// all transfers of the class.
struct Leg {
  std::int32_t lane = -1;
  std::vector<std::int64_t> uses;  // by place in the lane
};

struct Streams {
  IndexedVector<std::int32_t> kind_of_resource;
  IndexedVector<Lane> lanes;
  IndexedVector<Amount> amount;       // by stream, like all that follow
  IndexedVector<std::int32_t> delay;  // kind
  IndexedVector<std::int32_t> step, gate;
  IndexedVector<std::int32_t> priority;  // empty: all alike
  IndexedVector<Leg> moving, adding;     // the latter has no lane where nothing is added
  IndexedVector<std::int64_t> members;   // transfers of the class
  Rows needs, users;                     // users: gates
  Rows streams_of_gate;

  int count() const { return amount.count(); }
};

Streams streams_of(const Transfers& transfers, const Classes& classes);

}  // namespace forestcoll
