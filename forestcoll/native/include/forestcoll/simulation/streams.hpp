// The classes of transfers, ready to be simulated: what streams over which resources, after what.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/simulation/classes.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

// What goes over the same resources shares its fate: at any moment it has the same rate per unit.
struct Lane {
  std::vector<std::int32_t> resources;  // each once
};

// One leg of a stream: what one unit of its amount puts on each resource of its lane, all transfers
// of the class that use one resource together.
struct Leg {
  std::int32_t lane = -1;
  std::vector<std::int64_t> uses;  // by place in the lane
};

struct Streams {
  IndexedVector<std::int32_t> kind_of_resource;
  IndexedVector<Lane> lanes;
  IndexedVector<Amount> amount;       // by stream, as all that follows
  IndexedVector<std::int32_t> delay;  // kind
  IndexedVector<std::int32_t> step, gate;
  IndexedVector<Leg> moving, adding;    // the latter without a lane where nothing is added
  IndexedVector<std::int64_t> members;  // transfers of the class
  Rows needs, users;                    // users: gates
  Rows streams_of_gate;

  int count() const { return amount.count(); }
};

Streams streams_of(const Transfers& transfers, const Classes& classes);

}  // namespace forestcoll
