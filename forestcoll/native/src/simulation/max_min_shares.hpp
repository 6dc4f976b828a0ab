// Max-min fair rates, in units of the pipeline chunks' sizes: one level for each lane. Priorities
// are strict: lanes share what those of higher priority leave.
//
// A change on a lane affects only lanes that are connected with it through shared resources. Only
// these are divided anew.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/streams.hpp"

namespace forestcoll {

class MaxMinShares {
 public:
  MaxMinShares(const Streams& streams, const Setting& setting)
      : s_(streams),
        load_(streams.lanes.count()),
        level_(streams.lanes.count(), 0.0),
        last_level_(streams.lanes.count(), 0.0),
        is_listed_(streams.lanes.count()),
        is_open_(streams.lanes.count(), 0),
        is_seen_(streams.lanes.count(), 0) {
    if (!s_.priority.empty()) priority_.assign(streams.lanes.count(), 0);
    for (const auto kind : s_.kind_of_resource) rate_.push_back(setting.rate[kind]);
    const int resources = rate_.count();
    busy_on_.resize(static_cast<std::size_t>(resources));
    total_.assign(resources, 0);
    free_ = rate_;  // nothing flows
    left_.assign(resources, 0);
    is_reached_.assign(resources, 0);
    for (int lane = 0; lane < s_.lanes.count(); ++lane) {
      const auto size = s_.lanes[lane].resources.size();
      load_[lane].assign(size, 0);
      is_listed_[lane].assign(size, 0);
    }
  }

  // A leg begins (+1) or ends (-1) to flow.
  void change(std::int32_t stream, const Leg& leg, int by) {
    const auto& on = s_.lanes[leg.lane].resources;
    for (std::size_t i = 0; i < on.size(); ++i) {
      const Sum more = static_cast<Sum>(s_.amount[stream]) * leg.uses[i] * by;
      load_[leg.lane][i] += more;
      total_[on[i]] += more;
      if (is_listed_[leg.lane][i]) continue;
      is_listed_[leg.lane][i] = 1;
      busy_on_[static_cast<std::size_t>(on[i])].push_back(leg.lane);
    }
    changed_.push_back(leg.lane);
  }

  // Of the lane's first pipeline chunk.
  void set_priority(std::int32_t lane, std::int32_t priority) { priority_[lane] = priority; }
  bool is_busy(std::int32_t lane) const { return load_[lane][0] != 0; }
  double level(std::int32_t lane) const { return level_[lane]; }
  // The level before the last division.
  double last_level(std::int32_t lane) const { return last_level_[lane]; }
  // The total over a resource, in its units a second.
  double carried(std::int32_t resource) const {
    return rate_[resource] - std::max(0.0, free_[resource]);
  }

  // Finds the lanes and resources that changes affect. Their old levels are still valid.
  void find_concerned() {
    lanes_.clear();
    resources_.clear();
    for (const auto lane : changed_) see(lane);
    changed_.clear();
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      const std::int32_t r = resources_[i];
      std::erase_if(busy_on_[static_cast<std::size_t>(r)], [&](std::int32_t lane) {
        if (is_busy(lane)) {
          see(lane);
          return false;
        }
        const auto& on = s_.lanes[lane].resources;
        is_listed_[lane]
                  [static_cast<std::size_t>(std::find(on.begin(), on.end(), r) - on.begin())] = 0;
        return true;
      });
    }
  }

  const std::vector<std::int32_t>& lanes() const { return lanes_; }
  const std::vector<std::int32_t>& resources() const { return resources_; }

  // Divides the resources anew, for one priority after the other.
  void divide() {
    for (const auto lane : lanes_) {
      is_seen_[lane] = 0;
      last_level_[lane] = std::exchange(level_[lane], 0.0);
    }
    for (const auto r : resources_) {
      is_reached_[r] = 0;
      free_[r] = rate_[r];
    }
    if (priority_.empty()) {
      for (const auto r : resources_) left_[r] = total_[r];
      raise(lanes_, resources_);
      return;
    }
    by_priority_.clear();
    for (const auto lane : lanes_) {
      if (is_busy(lane)) by_priority_.push_back(lane);
    }
    std::sort(by_priority_.begin(), by_priority_.end(), [&](std::int32_t one, std::int32_t other) {
      return priority_[one] != priority_[other] ? priority_[one] > priority_[other] : one < other;
    });
    for (std::size_t i = 0, j = 0; i < by_priority_.size(); i = j) {
      const auto priority = priority_[by_priority_[i]];
      while (j < by_priority_.size() && priority_[by_priority_[j]] == priority) ++j;
      raise_after_others(std::span(by_priority_).subspan(i, j - i));
    }
  }

 private:
  __extension__ using Sum = __int128;  // of amounts
  // A share of a resource that is rounding, and not left by lanes of higher priority.
  static constexpr double kRounding = 1e-9;

  // Raises lanes of one priority on what is free of their resources.
  void raise_after_others(std::span<const std::int32_t> lanes) {
    used_.clear();
    for (const auto lane : lanes) {
      for (const auto r : s_.lanes[lane].resources) {
        left_[r] = 0;
        used_.push_back(r);
      }
    }
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    for (const auto lane : lanes) {
      const auto& on = s_.lanes[lane].resources;
      for (std::size_t i = 0; i < on.size(); ++i) left_[on[i]] += load_[lane][i];
    }
    for (const auto r : used_) {
      if (free_[r] < kRounding * rate_[r]) free_[r] = 0;
    }
    raise(lanes, used_);
  }

  // Progressive filling: raises these lanes evenly until a resource is full. Its lanes stop there,
  // the others go on. The heap may hold levels that are out of date; they are recomputed when
  // popped, and can only have risen.
  void raise(std::span<const std::int32_t> lanes, std::span<const std::int32_t> resources) {
    queue_.clear();
    for (const auto lane : lanes) is_open_[lane] = is_busy(lane);
    for (const auto r : resources) {
      if (left_[r] != 0) queue_.push_back({fill(r), r});
    }
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    double level = 0;
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const auto [at, r] = queue_.back();
      queue_.pop_back();
      if (left_[r] == 0) continue;
      const double now = fill(r);
      if (now > at && !queue_.empty() && now > queue_.front().first) {
        queue_.push_back({now, r});
        std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
        continue;
      }
      level = std::max(level, now);  // only rounding makes it less
      for (const auto lane : busy_on_[static_cast<std::size_t>(r)]) {
        if (is_open_[lane]) settle(lane, level);
      }
    }
  }

  double fill(std::int32_t r) const { return free_[r] / static_cast<double>(left_[r]); }

  void see(std::int32_t lane) {
    if (is_seen_[lane]) return;
    is_seen_[lane] = 1;
    lanes_.push_back(lane);
    for (const auto r : s_.lanes[lane].resources) {
      if (is_reached_[r]) continue;
      is_reached_[r] = 1;
      resources_.push_back(r);
    }
  }

  void settle(std::int32_t lane, double level) {
    level_[lane] = level;
    is_open_[lane] = 0;
    const auto& on = s_.lanes[lane].resources;
    for (std::size_t i = 0; i < on.size(); ++i) {
      left_[on[i]] -= load_[lane][i];
      free_[on[i]] -= level * static_cast<double>(load_[lane][i]);
    }
  }

  const Streams& s_;
  IndexedVector<double> rate_, free_;               // by resource
  IndexedVector<Sum> total_, left_;                 // of pipelined chunks, by resource
  std::vector<std::vector<std::int32_t>> busy_on_;  // lanes, by resource; some are idle by now
  IndexedVector<std::vector<Sum>> load_;            // by lane, by place
  IndexedVector<double> level_, last_level_;        // by lane
  IndexedVector<std::vector<std::uint8_t>> is_listed_;
  IndexedVector<std::uint8_t> is_open_;  // lanes that are raised at the moment
  IndexedVector<std::uint8_t> is_seen_, is_reached_;
  IndexedVector<std::int32_t> priority_;  // by lane; empty: all alike
  std::vector<std::int32_t> changed_, lanes_, resources_;
  std::vector<std::int32_t> by_priority_, used_;
  std::vector<std::pair<double, std::int32_t>> queue_;
};

}  // namespace forestcoll
