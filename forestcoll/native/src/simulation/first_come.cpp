#include "forestcoll/simulation/first_come.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "dependency_gates.hpp"
#include "forestcoll/common/errors.hpp"

namespace forestcoll {
namespace {

// Places before the path, with windows only: a pipeline chunk has waited for its latency; has left
// its sender.
constexpr std::int32_t kReady = -2, kSent = -1;

// A transfer comes to a place of its path. Place 0 is its first link; after the last link it has
// arrived.
struct Event {
  Tick at;
  std::int32_t transfer;
  std::int32_t place;

  bool operator>(const Event& other) const {
    if (at != other.at) return at > other.at;
    if (transfer != other.transfer) return transfer > other.transfer;
    return place > other.place;
  }
};

class Queues {
 public:
  Queues(const Transfers& transfers, const Setting& setting)
      : t_(transfers),
        setting_(setting),
        streams_(streams_of(transfers, each_by_itself(transfers))),
        gates_(streams_, setting),
        free_(t_.kind_of_resource.count(), 0),
        is_sending_(t_.count(), 0),
        has_begun_(t_.count(), 0),
        ready_(t_.count(), 0) {
    finish_.of_stream.assign(t_.count(), 0);
    finish_.usage = Usage(free_.count(), setting.bins);
    if (setting.timeline) finish_.timeline = Timeline(t_.count(), setting.pipeline_chunks);
  }

  Finish run(Progress progress) {
    const std::int64_t all = gates_.left();
    std::vector<std::int32_t> opened;
    gates_.open(opened);
    start(opened, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      ++finish_.events;
      ++finish_.work;
      progress(all - gates_.left(), all);
      const auto way = t_.resources_of_way[t_.way[event.transfer]];
      const auto links = static_cast<std::int32_t>(way.size());
      const std::int32_t adder = t_.adder[event.transfer];
      const auto link = [&](std::int32_t place) {
        return place < links ? way[static_cast<std::size_t>(place)] : -1;
      };
      if (event.place == links) {
        finish_.timeline.note(Timeline::kArrival, event.transfer, event.at);
      }
      if (event.place == kReady) {
        send(event.transfer, event.at);
      } else if (event.place == kSent) {
        has_sent(event.transfer, event.at);
      } else if (event.place < links) {
        pass(event, link(event.place), link(event.place + 1));
      } else if (event.place == links && adder >= 0) {
        pass(event, adder, -1);
      } else {
        arrived(event, opened);
      }
    }
    if (!gates_.all_done()) {
      throw Infeasible("transfers of this schedule wait for one another in a cycle");
    }
    return std::move(finish_);
  }

 private:
  // Passes through a resource. The transfer comes to the next link when it can pass that one
  // without gaps from then on. It comes to the adder or the receiver at the end.
  void pass(const Event& event, std::int32_t resource, std::int32_t next) {
    const Tick begin = std::max(event.at, free_[resource]);
    const Tick end = through(begin, event.transfer, resource);
    if (event.place == 0) finish_.timeline.note(Timeline::kFlow, event.transfer, begin);
    free_[resource] = end;
    finish_.usage.add(resource, begin, end, units(event.transfer));
    if (event.place == 0 && setting_.window > 1) events_.push({end, event.transfer, kSent});
    const Tick early = next < 0 ? 0 : through(begin, event.transfer, next) - begin;
    const Tick at = next < 0 ? end : std::max(begin, end - early);
    events_.push({at, event.transfer, event.place + 1});
  }

  double units(std::int32_t transfer) const {
    return static_cast<double>(t_.amount[transfer]) / setting_.pipeline_chunks;
  }

  Tick through(Tick begin, std::int32_t transfer, std::int32_t resource) const {
    const double rate = setting_.rate[t_.kind_of_resource[resource]];
    return after(begin, units(transfer) / rate, setting_.tick);
  }

  void arrived(const Event& event, std::vector<std::int32_t>& opened) {
    finish_.timeline.note(Timeline::kEnd, event.transfer, event.at);
    finish_.of_stream[event.transfer] = event.at;
    finish_.ticks = event.at;
    gates_.arrived(event.transfer, opened);
    start(opened, event.at);
  }

  void start(std::vector<std::int32_t>& opened, Tick now) {
    for (std::size_t next = 0; next < opened.size(); ++next) {  // gates may open once more
      const std::int32_t gate = opened[next];
      const Tick begin = std::max(now, gates_.not_before(gate));
      gates_.start(gate, opened);
      for (const auto i : streams_.streams_of_gate[gate]) {
        finish_.timeline.note(Timeline::kStart, i, begin);
        const Tick at = after(begin, setting_.latency[kind(i)], setting_.tick);
        if (setting_.window > 1) {
          events_.push({at, i, kReady});
        } else {
          send(i, at);
        }
      }
    }
    opened.clear();
  }

  // A pipeline chunk follows those of its transfer before it, and first occupies its sender.
  void send(std::int32_t transfer, Tick now) {
    if (is_sending_[transfer]) {
      ++ready_[transfer];
      return;
    }
    is_sending_[transfer] = setting_.window > 1;
    const bool is_first = std::exchange(has_begun_[transfer], 1) == 0;
    const double cost = setting_.cost(kind(transfer), is_first);
    events_.push({after(now, cost, setting_.tick), transfer, 0});
  }

  void has_sent(std::int32_t transfer, Tick now) {
    is_sending_[transfer] = 0;
    if (ready_[transfer] == 0) return;
    --ready_[transfer];
    send(transfer, now);
  }

  std::int32_t kind(std::int32_t transfer) const { return t_.delay_of_way[t_.way[transfer]]; }

  const Transfers& t_;
  const Setting& setting_;
  Streams streams_;  // for the dependencies
  Gates gates_;
  IndexedVector<Tick> free_;                // when each resource becomes free
  IndexedVector<std::uint8_t> is_sending_;  // by transfer, as in fair_shares.cpp
  IndexedVector<std::uint8_t> has_begun_;
  IndexedVector<std::int32_t> ready_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Finish finish_;
};

}  // namespace

Finish first_come(const Transfers& transfers, const Setting& setting, Progress progress) {
  return Queues(transfers, setting).run(std::move(progress));
}

}  // namespace forestcoll
