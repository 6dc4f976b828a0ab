// When each pipeline chunk of each stream starts, flows, arrives and ends.
//
// The pipeline chunks of a stream pass each moment in their order, so counting them tells which one
// passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

class Timeline {
 public:
  // A chunk starts when it begins to wait for its latency. It ends when its receiver has added it;
  // where nothing is added, on arrival.
  enum Moment { kStart, kFlow, kArrival, kEnd, kMoments };

  Timeline() = default;  // stores nothing
  Timeline(int streams, int pipeline_chunks)
      : chunks_(pipeline_chunks),
        passed_(streams * kMoments, 0),
        tick_(static_cast<std::size_t>(streams * chunks_ * kMoments), 0) {}

  void note(Moment moment, std::int32_t stream, std::int64_t tick) {
    if (tick_.empty()) return;
    const std::int64_t chunk = passed_[stream * kMoments + moment]++;
    const std::int64_t place = (stream * chunks_ + chunk) * kMoments + moment;
    tick_[static_cast<std::size_t>(place)] = tick;
  }

  // A row of moments for each pipeline chunk of each stream.
  const std::vector<std::int64_t>& ticks() const { return tick_; }

 private:
  std::int64_t chunks_ = 0;
  IndexedVector<std::int32_t> passed_;  // pipeline chunks, by stream and moment
  std::vector<std::int64_t> tick_;
};

}  // namespace forestcoll
