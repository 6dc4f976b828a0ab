// Streams in pipeline chunks over shared resources, event by event.
//
// Every stream is cut into equal pipeline chunks, which follow one another. A pipeline chunk starts when all that it
// needs has brought the same pipeline chunk, and the one before it has arrived; after its latency it flows.
// All that flows shares the resources by max-min fairness, in proportion to the sizes of the
// pipeline chunks: a transfer that is cut into two has the share of both. So the pipeline chunks on one lane progress
// alike, and end in the order in which they began.
//
// Times are whole ticks, rounded up; in between, floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/simulation/streams.hpp"
#include "forestcoll/simulation/usage.hpp"

namespace forestcoll {

struct Setting {
  IndexedVector<double> rate;         // by kind of resource: units in a second
  IndexedVector<double> latency;      // by kind of delay: seconds
  IndexedVector<std::int64_t> start;  // by step: no pipeline chunk goes before this tick; empty: whenever
  std::int32_t pipeline_chunks = 1;
  bool lockstep = false;  // pipeline chunk p of step s waits until all of round s + p - 1 has ended
  double tick = 1;        // seconds
  int bins = 0;           // of the usage; none is kept if there are none
};

// Throws InvalidInput unless a setting has a rate and a latency for every kind.
void check(const Setting& setting, const Transfers& transfers);

struct Finish {
  std::int64_t ticks = 0;
  std::int64_t events = 0;
  std::int64_t work = 0;                  // what all events looked at, in lanes
  IndexedVector<std::int64_t> of_stream;  // last pipeline chunk
  Usage usage;
};

// Throws Infeasible if transfers wait for one another in a cycle.
Finish fair_shares(const Streams& streams, const Setting& setting, Progress progress = {});

}  // namespace forestcoll
