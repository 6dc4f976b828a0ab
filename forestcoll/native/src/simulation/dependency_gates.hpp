// Gates: which pipeline chunks of which streams may start.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/streams.hpp"

namespace forestcoll {

using Tick = std::int64_t;

// A tick so many seconds later, rounded up.
inline Tick after(Tick now, double seconds, double tick) {
  constexpr double kMost = 4e18;
  const double count = std::ceil(seconds / tick);
  if (!(static_cast<double>(now) + count < kMost)) {
    throw CapacityOverflow("a simulation takes more than 4e18 ticks");
  }
  return now + static_cast<Tick>(count);
}

// Every gate starts the pipeline chunks of its streams one after the other, all of its streams at
// once.
class Gates {
 public:
  Gates(const Streams& streams, const Setting& setting)
      : s_(streams), setting_(setting), done_(streams.count(), 0) {
    const int gates = s_.streams_of_gate.count();
    next_.assign(gates, 0);
    missing_.assign(gates, 0);
    left_ = static_cast<std::int64_t>(s_.count()) * setting.pipeline_chunks;
    if (setting.lockstep) {
      in_round_.assign(rounds() + 1, 0);
      waiting_.resize(static_cast<std::size_t>(rounds()) + 1);
      for (int i = 0; i < s_.count(); ++i) {
        ++in_round_[s_.step[i]];
        --in_round_[s_.step[i] + setting.pipeline_chunks];
      }
      std::partial_sum(in_round_.begin(), in_round_.end(), in_round_.begin());
      skip_empty_rounds();
    }
  }

  // The gates that are open at first.
  void open(std::vector<std::int32_t>& opened) {
    for (int gate = 0; gate < next_.count(); ++gate) await(gate, opened);
  }

  // Notes that one more pipeline chunk of a stream has arrived.
  void arrived(std::int32_t stream, std::vector<std::int32_t>& opened) {
    --left_;
    const std::int32_t pipeline_chunk = done_[stream]++;
    for (const auto gate : s_.users[stream]) {
      if (next_[gate] == pipeline_chunk) meet(gate, opened);
    }
    const std::int32_t own = s_.gate[stream];  // a later pipeline chunk may follow
    if (next_[own] - setting_.window == pipeline_chunk) meet(own, opened);
    if (setting_.lockstep && --in_round_[s_.step[stream] + pipeline_chunk] == 0) next_round(opened);
  }

  // Takes the pipeline chunk that an open gate starts next. The gate opens again at once if the
  // window and the dependencies allow the chunk behind it.
  void start(std::int32_t gate, std::vector<std::int32_t>& opened) {
    if (++next_[gate] == setting_.pipeline_chunks) return;
    for (const auto stream : s_.streams_of_gate[gate]) {
      missing_[gate] += done_[stream] <= next_[gate] - setting_.window;
      for (const auto need : s_.needs[stream]) missing_[gate] += done_[need] <= next_[gate];
    }
    if (missing_[gate] == 0) let_go(gate, opened);
  }

  Tick not_before(std::int32_t gate) const {
    return setting_.start.empty() ? 0 : setting_.start[step(gate)];
  }
  bool all_done() const { return left_ == 0; }
  std::int64_t left() const { return left_; }

 private:
  std::int32_t step(std::int32_t gate) const { return s_.step[s_.streams_of_gate[gate][0]]; }

  int rounds() const {
    const auto last = std::max_element(s_.step.begin(), s_.step.end());
    return last == s_.step.end() ? 0 : *last + setting_.pipeline_chunks;
  }

  void await(std::int32_t gate, std::vector<std::int32_t>& opened) {
    for (const auto stream : s_.streams_of_gate[gate]) {
      missing_[gate] += static_cast<std::int32_t>(s_.needs[stream].size());
    }
    if (missing_[gate] == 0) let_go(gate, opened);
  }

  void meet(std::int32_t gate, std::vector<std::int32_t>& opened) {
    if (--missing_[gate] == 0 && next_[gate] < setting_.pipeline_chunks) let_go(gate, opened);
  }

  void let_go(std::int32_t gate, std::vector<std::int32_t>& opened) {
    const std::int32_t round = step(gate) + next_[gate];
    if (setting_.lockstep && round > round_) {
      waiting_[static_cast<std::size_t>(round)].push_back(gate);
    } else {
      opened.push_back(gate);
    }
  }

  void skip_empty_rounds() {
    while (round_ < in_round_.count() && in_round_[round_] == 0) ++round_;
  }

  void next_round(std::vector<std::int32_t>& opened) {
    const int before = round_;
    skip_empty_rounds();
    for (int round = before + 1; round <= round_ && round < in_round_.count(); ++round) {
      auto& gates = waiting_[static_cast<std::size_t>(round)];
      opened.insert(opened.end(), gates.begin(), gates.end());
      gates.clear();
    }
  }

  const Streams& s_;
  const Setting& setting_;
  IndexedVector<std::int32_t> done_;  // pipeline chunks, by stream
  IndexedVector<std::int32_t> next_,
      missing_;  // by gate: the next pipeline chunk, the number of arrivals it waits for
  std::int64_t left_ = 0;
  int round_ = 0;
  IndexedVector<std::int64_t> in_round_;
  std::vector<std::vector<std::int32_t>> waiting_;  // gates, by round
};

}  // namespace forestcoll
