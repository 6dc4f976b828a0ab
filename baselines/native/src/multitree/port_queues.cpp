#include "baselines/multitree/port_queues.hpp"

namespace forestcoll::baselines {

void PortQueues::admit(const Ports& ports, int gpu) {
  const auto [first, last] = ports.of(gpu);
  for (int port = first; port < last; ++port) {
    queues_[ports[port].kind].ports.push_back({admitted_++, port, ports[port].arc});
  }
}

std::optional<int> PortQueues::front(const Ports& ports, const UnitsLeft& left) {
  const auto& turns = ports.turns();
  for (; turn_ + 1 < turns.size(); ++turn_) {
    const Entry* first = nullptr;
    for (int kind = turns[turn_]; kind < turns[turn_ + 1]; ++kind) {
      if (!left.of_kind(kind)) continue;
      Queue& queue = queues_[kind];
      queue.skip_spent(left);
      if (queue.next == queue.ports.size()) continue;
      const Entry& entry = queue.ports[queue.next];
      if (first != nullptr && first->place < entry.place) continue;
      first = &entry;
      asked_ = kind;
    }
    if (first != nullptr) return first->port;
  }
  return std::nullopt;
}

void PortQueues::Queue::skip_spent(const UnitsLeft& left) {
  for (; next < ports.size() && !left.of(ports[next].arc); ++next) ports[kept++] = ports[next];
}

void PortQueues::pass(bool serves) {
  Queue& queue = queues_[asked_];
  if (serves) queue.ports[queue.kept++] = queue.ports[queue.next];
  ++queue.next;
}

void PortQueues::rewind() {
  for (Queue& queue : queues_) {
    const auto begin = queue.ports.begin();
    queue.ports.erase(begin + static_cast<std::ptrdiff_t>(queue.kept),
                      begin + static_cast<std::ptrdiff_t>(queue.next));
    queue.next = queue.kept = 0;
  }
  turn_ = 0;
}

}  // namespace forestcoll::baselines
