#include "forestcoll/simulation/fair_shares.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "dependency_gates.hpp"
#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/priorities.hpp"
#include "max_min_shares.hpp"

namespace forestcoll {
namespace {

constexpr Tick kNever = std::numeric_limits<Tick>::max();

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
    if (setting.timeline) finish_.timeline = Timeline(s_.count(), setting.pipeline_chunks);
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
      finish_.timeline.note(Timeline::kStart, stream, now_);
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
    if (!adding) finish_.timeline.note(Timeline::kFlow, stream, now_);
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
      if (!entry.adding) {
        finish_.timeline.note(Timeline::kArrival, entry.stream, now_);
        has_sent(entry.stream);
      }
      if (!entry.adding && s_.adding[entry.stream].lane >= 0) {
        flow(entry.stream, entry.pipeline_chunk, true);
        continue;
      }
      finish_.timeline.note(Timeline::kEnd, entry.stream, now_);
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
  MaxMinShares shares_;
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
