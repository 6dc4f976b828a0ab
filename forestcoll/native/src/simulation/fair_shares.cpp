#include "forestcoll/simulation/fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>

#include "dependency_gates.hpp"
#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/priorities.hpp"

namespace forestcoll {
namespace {

__extension__ using Sum = __int128;  // of amounts

constexpr Tick kNever = std::numeric_limits<Tick>::max();
// A share of a resource that is rounding, and not left by lanes of higher priority.
constexpr double kRounding = 1e-9;

// Max-min fair rates, in units of the pipeline chunks' sizes: one level for each lane. Priorities
// are strict: lanes share what those of higher priority leave.
//
// A change on a lane affects only lanes that are connected with it through shared resources. Only
// these are divided anew.
class Shares {
 public:
  Shares(const Streams& streams, const Setting& setting)
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

// A lane's pipeline chunks, in the order in which they began. The lane measures progress in shares
// of a stream, so all chunks have equal size and end in this order.
struct Queue {
  struct Entry {
    double end;  // the lane's progress at which this pipeline chunk ends
    std::int32_t stream;
    std::int32_t pipeline_chunk;
    bool adding;
  };
  std::vector<Entry> entries;
  std::size_t head = 0;
  double come = 0;
  Tick since = 0;      // time of `come`
  Tick next = kNever;  // when its first pipeline chunk ends

  bool empty() const { return head == entries.size(); }
  double end() const { return entries[head].end; }
  void push(Entry entry) {
    if (head > 64 && 2 * head > entries.size()) {
      entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(head));
      head = 0;
    }
    entries.push_back(entry);
  }
};

template <typename T>
using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

// Streams that wait for their latency. Within one kind, latencies end in the order in which they
// began.
class Delayed {
 public:
  explicit Delayed(int kinds = 0) : waiting_(static_cast<std::size_t>(kinds)) {}

  void push(std::int32_t kind, Tick until, std::int32_t stream) {
    auto& row = waiting_[static_cast<std::size_t>(kind)];
    if (row.empty()) kinds_.push({until, kind});
    row.push_back({until, stream});
  }

  // The end of the first latency.
  Tick first() const { return kinds_.empty() ? kNever : kinds_.top().first; }

  // The kind and the stream whose time has come.
  std::pair<std::int32_t, std::int32_t> pop() {
    const std::int32_t kind = kinds_.top().second;
    kinds_.pop();
    auto& row = waiting_[static_cast<std::size_t>(kind)];
    const std::int32_t stream = row.front().second;
    row.pop_front();
    if (!row.empty()) kinds_.push({row.front().first, kind});
    return {kind, stream};
  }

 private:
  std::vector<std::deque<std::pair<Tick, std::int32_t>>> waiting_;  // by kind
  Earliest<std::pair<Tick, std::int32_t>> kinds_;                   // kinds with waiting streams
};

class Simulation {
 public:
  Simulation(const Streams& streams, const Setting& setting)
      : s_(streams),
        setting_(setting),
        gates_(streams, setting),
        shares_(streams, setting),
        kinds_(setting.latency.count()),
        lanes_(streams.lanes.count()),
        is_sending_(streams.count(), 0),
        sent_(streams.count(), 0),
        ready_(streams.count(), 0),
        used_since_(streams.kind_of_resource.count(), 0) {
    finish_.of_stream.assign(s_.count(), 0);
    finish_.usage = Usage(s_.kind_of_resource.count(), setting.bins);
    delayed_ = Delayed(3 * kinds_);
  }

  Finish run(Progress progress) {
    const std::int64_t all = gates_.left();
    gates_.open(opened_);
    while (true) {
      settle();
      share();
      if (gates_.all_done()) break;
      ++finish_.events;
      progress(all - gates_.left(), all);
      now_ = next_event();
    }
    finish_.ticks = now_;
    return std::move(finish_);
  }

 private:
  // Handles everything that happens at this moment.
  void settle() {
    while (!held_.empty() && held_.top().first <= now_) {
      opened_.push_back(held_.top().second);
      held_.pop();
    }
    while (delayed_.first() == now_) {
      const auto [kind, stream] = delayed_.pop();
      if (kind < kinds_) {
        send(stream);
      } else {
        flow(stream, sent_[stream] - 1, false);
      }
    }
    while (!ends_.empty() && ends_.top().first == now_) {
      const std::int32_t lane = ends_.top().second;
      ends_.pop();
      if (lanes_[lane].next == now_) end_pipeline_chunks(lane);
    }
    for (std::size_t i = 0; i < opened_.size(); ++i) start(opened_[i]);
    opened_.clear();
  }

  void start(std::int32_t gate) {
    if (const Tick earliest = gates_.not_before(gate); earliest > now_) {
      held_.push({earliest, gate});
      return;
    }
    gates_.start(gate, opened_);
    for (const auto stream : s_.streams_of_gate[gate]) {
      const std::int32_t kind = s_.delay[stream];
      const Tick until = after(now_, setting_.latency[kind], setting_.tick);
      if (until == now_) {
        send(stream);
      } else {
        delayed_.push(kind, until, stream);
      }
    }
  }

  // A pipeline chunk has waited for its latency. It follows those of its stream before it.
  void send(std::int32_t stream) {
    if (is_sending_[stream]) {
      ++ready_[stream];
      return;
    }
    is_sending_[stream] = 1;
    const std::int32_t pipeline_chunk = sent_[stream]++;
    const bool is_first = pipeline_chunk == 0;
    const std::int32_t kind = s_.delay[stream];
    const Tick until = after(now_, setting_.cost(kind, is_first), setting_.tick);
    if (until == now_) {
      flow(stream, pipeline_chunk, false);
    } else {  // first pipeline chunks wait longer, so they are kinds of their own
      delayed_.push((is_first ? 1 : 2) * kinds_ + kind, until, stream);
    }
  }

  void has_sent(std::int32_t stream) {
    is_sending_[stream] = 0;
    if (ready_[stream] == 0) return;
    --ready_[stream];
    send(stream);
  }

  const Leg& leg(std::int32_t stream, bool adding) const {
    return adding ? s_.adding[stream] : s_.moving[stream];
  }

  void bring_up(std::int32_t lane, double level) {
    Queue& queue = lanes_[lane];
    const double seconds = static_cast<double>(now_ - queue.since) * setting_.tick;
    if (!queue.empty()) queue.come += level * seconds;
    queue.since = now_;
  }

  void flow(std::int32_t stream, std::int32_t pipeline_chunk, bool adding) {
    const Leg& on = leg(stream, adding);
    bring_up(on.lane, shares_.level(on.lane));
    Queue& queue = lanes_[on.lane];
    queue.push({queue.come + 1.0 / setting_.pipeline_chunks, stream, pipeline_chunk, adding});
    shares_.change(stream, on, 1);
  }

  void end_pipeline_chunks(std::int32_t lane) {
    bring_up(lane, shares_.level(lane));
    Queue& queue = lanes_[lane];
    queue.come = std::max(queue.come, queue.end());  // rounding must not leave it open
    while (!queue.empty() && queue.end() <= queue.come) {
      const auto entry = queue.entries[queue.head++];
      shares_.change(entry.stream, leg(entry.stream, entry.adding), -1);
      if (!entry.adding) has_sent(entry.stream);
      if (!entry.adding && s_.adding[entry.stream].lane >= 0) {
        flow(entry.stream, entry.pipeline_chunk, true);
        continue;
      }
      finish_.of_stream[entry.stream] = now_;
      gates_.arrived(entry.stream, opened_);
    }
    queue.next = kNever;
  }

  // Gives lanes their new rates, and finds the ends of their first pipeline chunks.
  void share() {
    shares_.find_concerned();
    if (setting_.bins > 0) note_usage();
    if (!s_.priority.empty()) {
      for (const auto lane : shares_.lanes()) set_priority(lane);
    }
    shares_.divide();
    finish_.work += std::ssize(shares_.lanes());
    for (const auto lane : shares_.lanes()) {
      Queue& queue = lanes_[lane];
      const bool is_same = shares_.level(lane) == shares_.last_level(lane);
      if (queue.empty() || (is_same && queue.next != kNever)) continue;
      bring_up(lane, shares_.last_level(lane));
      if (shares_.level(lane) == 0) {  // lanes of higher priority use all of a resource
        queue.next = kNever;
        continue;
      }
      const double seconds = std::max(0.0, queue.end() - queue.come) / shares_.level(lane);
      // At least one tick, or rounding could repeat an event at the same time for ever.
      queue.next = std::max(now_ + 1, after(now_, seconds, setting_.tick));
      ends_.push({queue.next, lane});
    }
  }

  // What remains behind a pipeline chunk: the transfers behind its own, less the chunks before it.
  void set_priority(std::int32_t lane) {
    const Queue& queue = lanes_[lane];
    if (queue.empty()) return;
    const auto& first = queue.entries[queue.head];
    shares_.set_priority(lane, rank(s_.priority[first.stream], first.pipeline_chunk));
  }

  void note_usage() {
    for (const auto r : shares_.resources()) {
      const Tick since = std::exchange(used_since_[r], now_);
      const double seconds = static_cast<double>(now_ - since) * setting_.tick;
      finish_.usage.add(r, since, now_, shares_.carried(r) * seconds);
    }
  }

  Tick next_event() {
    while (!ends_.empty() && lanes_[ends_.top().second].next != ends_.top().first) ends_.pop();
    Tick next = ends_.empty() ? kNever : ends_.top().first;
    next = std::min(next, delayed_.first());
    if (!held_.empty()) next = std::min(next, held_.top().first);
    if (next == kNever) {
      throw Infeasible("transfers of this schedule wait for one another in a cycle");
    }
    return next;
  }

  const Streams& s_;
  const Setting& setting_;
  Gates gates_;
  Shares shares_;
  const std::int32_t kinds_;  // of delays
  IndexedVector<Queue> lanes_;
  IndexedVector<std::uint8_t> is_sending_;  // by stream: whether a pipeline chunk leaves its sender
  IndexedVector<std::int32_t> sent_;        // by stream: pipeline chunks that have begun to
  IndexedVector<std::int32_t> ready_;       // by stream: pipeline chunks that wait for that
  IndexedVector<Tick> used_since_;          // by resource
  std::vector<std::int32_t> opened_;        // gates that open at this moment
  Earliest<std::pair<Tick, std::int32_t>> ends_;  // ends of lanes; some are out of date
  Delayed delayed_;
  Earliest<std::pair<Tick, std::int32_t>> held_;  // gates, until the times of a clock
  Tick now_ = 0;
  Finish finish_;
};

}  // namespace

void check(const Setting& setting, const Transfers& transfers) {
  const auto last = [](const auto& numbers) {
    const auto found = std::max_element(numbers.begin(), numbers.end());
    return found == numbers.end() ? -1 : *found;
  };
  const auto positive = [](double rate) { return rate > 0; };
  const auto possible = [](double latency) { return latency >= 0; };
  const auto are_costs = [&](const IndexedVector<double>& costs) {
    return costs.empty() || (costs.size() == setting.latency.size() &&
                             std::all_of(costs.begin(), costs.end(), possible));
  };
  if (setting.pipeline_chunks < 1 || setting.window < 1 || !are_costs(setting.chunk_cost) ||
      !are_costs(setting.message_cost) || !(setting.tick > 0) || setting.bins < 0 ||
      last(transfers.kind_of_resource) >= setting.rate.count() ||
      last(transfers.delay_of_way) >= setting.latency.count() ||
      (!setting.start.empty() && last(transfers.step) >= setting.start.count()) ||
      !std::all_of(setting.rate.begin(), setting.rate.end(), positive) ||
      !std::all_of(setting.latency.begin(), setting.latency.end(), possible)) {
    throw InvalidInput(
        "a simulation asks for pipeline_chunks, a window, a tick, and rates, latencies and costs "
        "of "
        "all kinds");
  }
}

Finish fair_shares(const Streams& streams, const Setting& setting, Progress progress) {
  return Simulation(streams, setting).run(std::move(progress));
}

}  // namespace forestcoll
