#include "forestcoll/simulation/streams.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {
namespace {

// The number of transfers of a stream that use a resource of a class.
struct Use {
  std::int32_t stream, resource;
  std::int64_t transfers;
};

using Key = std::pair<std::int32_t, std::int32_t>;

// For every stream, the resources that `of` names for its transfers, sorted. Counted at the first
// resource of each class.
template <typename Of>
std::vector<Use> uses_of(const Transfers& t, const Classes& classes, Of of) {
  IndexedVector<std::uint8_t> is_first(t.kind_of_resource.count(), 0);
  for (const auto resource : classes.resource) is_first[resource] = 1;
  std::vector<Key> found;
  for (int i = 0; i < t.count(); ++i) {
    of(i, [&](std::int32_t resource) {
      if (!is_first[resource]) return;
      found.emplace_back(classes.of_transfer[i], classes.of_resource[resource]);
    });
  }
  std::sort(found.begin(), found.end());
  std::vector<Use> uses;
  for (std::size_t i = 0, j = 0; i < found.size(); i = j) {
    while (j < found.size() && found[j] == found[i]) ++j;
    uses.push_back({found[i].first, found[i].second, static_cast<std::int64_t>(j - i)});
  }
  return uses;
}

// Lanes by their resources; or, for streams with priorities, by stream.
class Lanes {
 public:
  Lanes(IndexedVector<Lane>& lanes, bool are_shared) : lanes_(lanes), are_shared_(are_shared) {}

  void give(const std::vector<Use>& uses, IndexedVector<Leg>& legs) {
    for (std::size_t i = 0, j = 0; i < uses.size(); i = j) {
      std::vector<std::int32_t> resources;
      Leg& leg = legs[uses[i].stream];
      const std::int32_t owner = are_shared_ ? -1 : uses[i].stream;
      for (; j < uses.size() && uses[j].stream == uses[i].stream; ++j) {
        resources.push_back(uses[j].resource);
        leg.uses.push_back(uses[j].transfers);
      }
      const auto [entry, added] = number_.try_emplace({owner, resources}, lanes_.count());
      if (added) lanes_.push_back({resources});
      leg.lane = entry->second;
    }
  }

 private:
  IndexedVector<Lane>& lanes_;
  const bool are_shared_;
  std::map<std::pair<std::int32_t, std::vector<std::int32_t>>, std::int32_t> number_;
};

void give_needs(Streams& streams, const Transfers& t, const Classes& classes) {
  std::vector<Key> users;
  for (int stream = 0; stream < streams.count(); ++stream) {
    auto& value = streams.needs.value;
    const auto begin = std::ssize(value);
    for (const auto need : t.needs[classes.transfer[stream]]) {
      value.push_back(classes.of_transfer[need]);
    }
    std::sort(value.begin() + begin, value.end());
    value.erase(std::unique(value.begin() + begin, value.end()), value.end());
    streams.needs.first.push_back(std::ssize(value));
    for (auto i = begin; i < std::ssize(value); ++i) {
      users.emplace_back(value[static_cast<std::size_t>(i)], streams.gate[stream]);
    }
  }
  std::sort(users.begin(), users.end());
  for (int stream = 0, i = 0; stream < streams.count(); ++stream) {
    for (; i < std::ssize(users) && users[static_cast<std::size_t>(i)].first == stream; ++i) {
      streams.users.value.push_back(users[static_cast<std::size_t>(i)].second);
    }
    streams.users.first.push_back(std::ssize(streams.users.value));
  }
}

}  // namespace

Streams streams_of(const Transfers& t, const Classes& classes) {
  const int count = classes.transfer.count();
  Streams streams;
  for (const auto resource : classes.resource) {
    streams.kind_of_resource.push_back(t.kind_of_resource[resource]);
  }
  streams.members.assign(count, 0);
  for (const auto stream : classes.of_transfer) ++streams.members[stream];
  std::map<std::int32_t, std::int32_t> gate;
  for (const auto i : classes.transfer) {
    streams.amount.push_back(t.amount[i]);
    streams.delay.push_back(t.delay_of_way[t.way[i]]);
    streams.step.push_back(t.step[i]);
    if (!t.priority.empty()) streams.priority.push_back(t.priority[i]);
    const auto next = static_cast<std::int32_t>(gate.size());
    streams.gate.push_back(gate.try_emplace(t.gate[i], next).first->second);
  }
  std::vector<Key> by_gate;
  for (int i = 0; i < count; ++i) by_gate.emplace_back(streams.gate[i], i);
  std::sort(by_gate.begin(), by_gate.end());
  for (std::size_t i = 0; i < by_gate.size(); ++i) {
    if (i > 0 && by_gate[i].first != by_gate[i - 1].first) {
      streams.streams_of_gate.first.push_back(static_cast<std::int64_t>(i));
    }
    streams.streams_of_gate.value.push_back(by_gate[i].second);
  }
  if (count > 0) streams.streams_of_gate.first.push_back(count);
  streams.moving.resize(count);
  streams.adding.resize(count);
  Lanes lanes(streams.lanes, streams.priority.empty());
  lanes.give(uses_of(t, classes,
                     [&](int i, auto use) {
                       for (const auto r : t.resources_of_way[t.way[i]]) use(r);
                     }),
             streams.moving);
  lanes.give(uses_of(t, classes,
                     [&](int i, auto use) {
                       if (t.adder[i] >= 0) use(t.adder[i]);
                     }),
             streams.adding);
  give_needs(streams, t, classes);
  return streams;
}

}  // namespace forestcoll
