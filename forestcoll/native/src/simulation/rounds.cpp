#include "forestcoll/simulation/rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

constexpr std::int64_t kMostWork = 100'000'000;  // beyond it events are as fast

// Streams by depth: the load of each depth on the resources, and its lanes.
class Depths {
 public:
  Depths(const Streams& streams, IndexedVector<std::int32_t> depth)
      : s_(streams), resources_(streams.kind_of_resource.count()) {
    const auto deepest = std::max_element(depth.begin(), depth.end());
    count_ = deepest == depth.end() ? 0 : *deepest + 1;
    if (static_cast<std::int64_t>(count_) * resources_ > kMostWork) return;
    load_.assign(static_cast<std::size_t>(count_) * static_cast<std::size_t>(resources_), 0.0);
    lanes_.resize(static_cast<std::size_t>(count_));
    for (int i = 0; i < s_.count(); ++i) add(i, depth[i]);
    for (auto& lanes : lanes_) {
      std::sort(lanes.begin(), lanes.end());
      lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    }
    is_small_ = true;
  }

  bool is_small() const { return is_small_; }
  int count() const { return count_; }

  std::int64_t work() const {
    std::int64_t lanes = 0;
    for (const auto& some : lanes_) lanes += std::ssize(some);
    return lanes + static_cast<std::int64_t>(count_) * resources_;
  }

  // The common level of all streams from one depth to another; none if levels differ.
  std::optional<double> level(int first, int last, const Setting& setting, bool forced) const {
    IndexedVector<double> level(resources_, 0.0);
    double least = 0;
    for (int r = 0; r < resources_; ++r) {
      double load = 0;
      for (int depth = first; depth <= last; ++depth) load += load_[at(depth, r)];
      if (load == 0) continue;
      level[r] = setting.rate[s_.kind_of_resource[r]] / load;
      if (least == 0 || level[r] < least) least = level[r];
    }
    if (forced) return least;
    for (int depth = first; depth <= last; ++depth) {
      for (const auto lane : lanes_[static_cast<std::size_t>(depth)]) {
        const auto& on = s_.lanes[lane].resources;
        if (std::none_of(on.begin(), on.end(), [&](auto r) { return level[r] == least; })) {
          return std::nullopt;
        }
      }
    }
    return least;
  }

 private:
  std::size_t at(int depth, int resource) const {
    return static_cast<std::size_t>(depth) * static_cast<std::size_t>(resources_) +
           static_cast<std::size_t>(resource);
  }

  void add(int stream, int depth) {
    const Leg& leg = s_.moving[stream];
    const auto& on = s_.lanes[leg.lane].resources;
    lanes_[static_cast<std::size_t>(depth)].push_back(leg.lane);
    for (std::size_t i = 0; i < on.size(); ++i) {
      load_[at(depth, on[i])] +=
          static_cast<double>(s_.amount[stream]) * static_cast<double>(leg.uses[i]);
    }
  }

  const Streams& s_;
  int resources_, count_ = 0;
  bool is_small_ = false;
  std::vector<double> load_;
  std::vector<std::vector<std::int32_t>> lanes_;
};

// The depth of each stream: its step, or the longest chain of dependencies before it; none if a
// step depends on itself.
std::optional<IndexedVector<std::int32_t>> depths_of(const Streams& s, bool lockstep) {
  IndexedVector<std::int32_t> depth(s.count(), 0);
  for (int i = 0; i < s.count(); ++i) {
    if (lockstep) depth[i] = s.step[i];
    for (const auto need : s.needs[i]) {
      if (need >= i) return std::nullopt;
      if (!lockstep) depth[i] = std::max(depth[i], depth[need] + 1);
      if (depth[need] >= depth[i]) return std::nullopt;
    }
  }
  return depth;
}

}  // namespace

std::optional<double> in_rounds(const Streams& s, const Setting& setting) {
  if (!setting.start.empty() || s.streams_of_gate.count() != s.count()) return std::nullopt;
  if (!s.priority.empty()) return std::nullopt;
  const bool has_one_chunk = setting.pipeline_chunks == 1;
  if (!has_one_chunk && (setting.window > 1 || !setting.message_cost.empty())) return std::nullopt;
  for (int i = 0; i < s.count(); ++i) {
    if (s.adding[i].lane >= 0 || s.delay[i] != s.delay[0]) return std::nullopt;
  }
  auto found = depths_of(s, setting.lockstep);
  if (!found) return std::nullopt;
  const Depths depths(s, std::move(*found));
  const int tree_depth = depths.count(), pipeline_chunks = setting.pipeline_chunks;
  // Rounds with all depths in flight are equal, so at most two ramps of rounds differ.
  const int distinct = std::min(tree_depth + pipeline_chunks - 1, 2 * tree_depth);
  if (!depths.is_small() || depths.work() * distinct > kMostWork) return std::nullopt;
  double seconds = 0;
  const double wait =
      s.count() == 0 ? 0 : setting.latency[s.delay[0]] + setting.cost(s.delay[0], has_one_chunk);
  for (int round = 0; round < tree_depth + pipeline_chunks - 1;) {
    const int first = std::max(0, round - pipeline_chunks + 1),
              last = std::min(tree_depth - 1, round);
    const bool is_full = first == 0 && last == tree_depth - 1;
    const int times = is_full ? pipeline_chunks - tree_depth + 1 : 1;  // all depths are in flight
    const auto level = depths.level(first, last, setting, setting.lockstep);
    if (!level) return std::nullopt;
    if (*level > 0) seconds += times * (wait + 1 / (*level * pipeline_chunks));
    round += times;
  }
  return seconds;
}

}  // namespace forestcoll
