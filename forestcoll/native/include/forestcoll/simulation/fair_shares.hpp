// Event simulation of streams in pipeline chunks over resources with fair sharing.
//
// Every stream is cut into equal pipeline chunks, which follow one another. Pipeline chunk p starts
// when all its dependencies have brought theirs, and chunk p - window of its stream has arrived.
// After its latency, and once chunk p - 1 has left its sender, it occupies the sender for its cost
// and then flows. Flowing chunks share the resources by max-min fairness, in proportion to their
// sizes: a transfer that is cut into two has the share of both. So the pipeline chunks on one lane
// progress alike, and end in the order in which they began. Lanes of less priority share what those
// of more leave.
//
// Times are whole ticks, rounded up; in between, floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/simulation/streams.hpp"
#include "forestcoll/simulation/timeline.hpp"
#include "forestcoll/simulation/usage.hpp"

namespace forestcoll {

struct Setting {
  IndexedVector<double> rate;     // by kind of resource: units in a second
  IndexedVector<double> latency;  // by kind of delay: seconds
  IndexedVector<std::int64_t>
      start;  // by step: earliest tick of its pipeline chunks; empty: no limit
  std::int32_t pipeline_chunks = 1;
  bool lockstep = false;  // pipeline chunk p of step s waits until all of round s + p - 1 has ended
  double tick = 1;        // seconds
  int bins = 0;           // of the usage; 0: none is stored
  std::int32_t window = 1;             // pipeline chunks of a stream that may be on the way at once
  IndexedVector<double> chunk_cost;    // by kind of delay: seconds of every chunk; empty: none
  IndexedVector<double> message_cost;  // by kind of delay: seconds of the first; empty: none
  bool timeline = false;               // whether the times of every pipeline chunk are stored

  // How long a pipeline chunk occupies its sender before it flows.
  double cost(std::int32_t kind, bool is_first) const {
    const double of_chunk = chunk_cost.empty() ? 0 : chunk_cost[kind];
    return is_first && !message_cost.empty() ? of_chunk + message_cost[kind] : of_chunk;
  }
};

// Throws InvalidInput unless a setting has a rate and a latency for every kind.
void check(const Setting& setting, const Transfers& transfers);

struct Finish {
  std::int64_t ticks = 0;
  std::int64_t events = 0;
  std::int64_t work = 0;                  // lanes examined by all events
  IndexedVector<std::int64_t> of_stream;  // last pipeline chunk
  Usage usage;
  Timeline timeline;
};

// Throws Infeasible if transfers wait for one another in a cycle.
Finish fair_shares(const Streams& streams, const Setting& setting, Progress progress = {});

}  // namespace forestcoll
