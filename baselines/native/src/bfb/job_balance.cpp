#include "baselines/bfb/job_balance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "forestcoll/common/errors.hpp"

namespace forestcoll::baselines {

namespace {

__extension__ using Wide = __int128;

Amount narrow(Wide value) {
  if (value > std::numeric_limits<Amount>::max() / 4) {
    throw CapacityOverflow("bandwidths, latencies and pieces make numbers beyond 2^61");
  }
  return static_cast<Amount>(value);
}

Time reduced(Wide numerator, Wide denominator) {
  Wide a = numerator, b = denominator;
  while (b != 0) a = std::exchange(b, a % b);
  return {narrow(numerator / a), narrow(denominator / a)};
}

// Amounts of all kinds on all links, within the links' room.
class Routing {
 public:
  Routing(std::span<const JobKind> kinds, std::size_t num_links) : kinds_(kinds), at_(num_links) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      share_.emplace_back(kinds[kind].links.size(), 0);
      for (std::size_t slot = 0; slot < kinds[kind].links.size(); ++slot) {
        at_[kinds[kind].links[slot]].push_back({kind, slot});
      }
    }
  }

  // Distributes all amounts if the links have room for them. Otherwise returns kinds that together
  // exceed the room of all links that they can use (Hall's condition).
  std::optional<std::vector<std::size_t>> route(const std::vector<Amount>& amounts,
                                                IndexedVector<Amount> room) {
    room_ = std::move(room);
    for (auto& row : share_) std::ranges::fill(row, 0);
    std::vector<Amount> left = amounts;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) left[kind] -= fill(kind, left[kind]);
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      while (left[kind] > 0) {
        const Amount moved = augment(kind, left[kind]);
        if (moved == 0) return reached_;
        left[kind] -= moved;
      }
    }
    return std::nullopt;
  }

  const std::vector<std::vector<Amount>>& share() const { return share_; }

 private:
  struct Slot {
    std::size_t kind, slot;
  };

  // The emptiest links first, so that later kinds find room on each.
  Amount fill(std::size_t kind, Amount amount) {
    const std::vector<int>& links = kinds_[kind].links;
    Amount placed = 0;
    for (std::size_t round = 0; round < links.size() && placed < amount; ++round) {
      const auto most = std::ranges::max_element(links, {}, [&](int link) { return room_[link]; });
      const Amount part = std::min(amount - placed, room_[*most]);
      if (part == 0) break;
      share_[kind][static_cast<std::size_t>(most - links.begin())] += part;
      room_[*most] -= part;
      placed += part;
    }
    return placed;
  }

  // Moves amounts of other kinds from full links to links with room, breadth first.
  Amount augment(std::size_t start, Amount most) {
    constexpr std::size_t kNone = ~std::size_t{0};
    reached_.assign(1, start);
    came_by_.assign(kinds_.size(), {kNone, kNone});  // the kind before, and its slot of the link
    seen_.assign(at_.size(), 0);
    came_by_[start] = {start, kNone};
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      const std::size_t kind = reached_[i];
      for (std::size_t slot = 0; slot < kinds_[kind].links.size(); ++slot) {
        const int link = kinds_[kind].links[slot];
        if (seen_[link]) continue;
        seen_[link] = 1;
        if (room_[link] > 0) return push(start, kind, slot, std::min(most, room_[link]));
        for (const Slot& other : at_[link]) {
          if (came_by_[other.kind].kind != kNone || share_[other.kind][other.slot] == 0) continue;
          came_by_[other.kind] = {kind, slot};
          reached_.push_back(other.kind);
        }
      }
    }
    return 0;
  }

  // Moves an amount back along the path, from the link with room to the kind that needs it.
  Amount push(std::size_t start, std::size_t last, std::size_t slot, Amount amount) {
    for (std::size_t kind = last; kind != start; kind = came_by_[kind].kind) {
      amount = std::min(amount, share_[kind][given_up(kind)]);
    }
    room_[kinds_[last].links[slot]] -= amount;
    share_[last][slot] += amount;
    for (std::size_t kind = last; kind != start; kind = came_by_[kind].kind) {
      share_[kind][given_up(kind)] -= amount;
      share_[came_by_[kind].kind][came_by_[kind].slot] += amount;
    }
    return amount;
  }

  // The kind's slot for the link by which the search reached it.
  std::size_t given_up(std::size_t kind) const {
    const auto [before, slot] = came_by_[kind];
    const auto& links = kinds_[kind].links;
    const auto place = std::ranges::find(links, kinds_[before].links[slot]);
    return static_cast<std::size_t>(place - links.begin());
  }

  std::span<const JobKind> kinds_;
  IndexedVector<std::vector<Slot>> at_;  // by link, the kinds that can use it
  std::vector<std::vector<Amount>> share_;
  IndexedVector<Amount> room_;
  std::vector<std::size_t> reached_;
  std::vector<Slot> came_by_;
  IndexedVector<std::uint8_t> seen_;
};

// The time at which links that all work from their delays on have worked off an amount.
Time when_done(std::span<const JobLink> links, std::vector<int> used, Wide amount) {
  std::ranges::sort(used, {},
                    [&](int link) { return links[static_cast<std::size_t>(link)].delay; });
  Wide rate = 0, before = 0;  // rate, and the work lost to delays
  Time time;
  for (const int link : used) {
    const JobLink& next = links[static_cast<std::size_t>(link)];
    if (rate > 0 && amount + before <= rate * next.delay) break;  // done before its delay is over
    rate += next.rate;
    before += Wide{next.rate} * next.delay;
    time = reduced(amount + before, rate);
  }
  return time;
}

std::vector<int> links_of(std::span<const JobKind> kinds, const std::vector<std::size_t>& chosen) {
  std::vector<int> used;
  for (const std::size_t kind : chosen) {
    used.insert(used.end(), kinds[kind].links.begin(), kinds[kind].links.end());
  }
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  return used;
}

std::vector<int> links_of_all(std::span<const JobKind> kinds) {
  std::vector<std::size_t> all(kinds.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return links_of(kinds, all);
}

Wide jobs_of(std::span<const JobKind> kinds, const std::vector<std::size_t>& chosen) {
  Wide jobs = 0;
  for (const std::size_t kind : chosen) jobs += kinds[kind].count;
  return jobs;
}

// Whole pieces that a link works off in this time.
Amount pieces_in(const JobLink& link, const Time& time, Amount size, Amount pieces) {
  const Wide busy = Wide{time.numerator} - Wide{link.delay} * time.denominator;
  if (busy <= 0) return 0;
  return narrow(busy * link.rate * pieces / (Wide{time.denominator} * size));
}

// The next time at which some link works off one more piece.
Time next_time(std::span<const JobLink> links, const Time& time, Amount size, Amount pieces) {
  std::optional<Time> next;
  for (const JobLink& link : links) {
    const Wide rate = Wide{link.rate} * pieces;
    const Wide done = pieces_in(link, time, size, pieces);
    const Time then = reduced(rate * link.delay + (done + 1) * size, rate);
    if (!next || then < *next) next = then;
  }
  return *next;
}

}  // namespace

bool operator<(const Time& a, const Time& b) {
  return Wide{a.numerator} * b.denominator < Wide{b.numerator} * a.denominator;
}

Time least_time(std::span<const JobKind> kinds, std::span<const JobLink> links, Amount size) {
  // Dinkelbach's method: a violated set is tighter than the one before, so the time only grows, and
  // there are finitely many sets.
  std::vector<std::size_t> tightest(kinds.size());
  std::iota(tightest.begin(), tightest.end(), std::size_t{0});
  Routing routing(kinds, links.size());
  for (;;) {
    const Time time = when_done(links, links_of(kinds, tightest), jobs_of(kinds, tightest) * size);
    std::vector<Amount> amounts;
    for (const JobKind& kind : kinds) {
      amounts.push_back(narrow(Wide{kind.count} * size * time.denominator));
    }
    IndexedVector<Amount> room;
    for (const JobLink& link : links) {
      const Wide busy = Wide{time.numerator} - Wide{link.delay} * time.denominator;
      room.push_back(busy <= 0 ? 0 : narrow(busy * link.rate));
    }
    const auto violated = routing.route(amounts, std::move(room));
    if (!violated) return time;
    tightest = *violated;
  }
}

JobShares share_in_pieces(std::span<const JobKind> kinds, std::span<const JobLink> links,
                          Amount size, Amount pieces) {
  std::vector<Amount> amounts;
  for (const JobKind& kind : kinds) amounts.push_back(narrow(Wide{kind.count} * pieces));
  Routing routing(kinds, links.size());
  std::vector<JobLink> used;  // links without jobs might have finer times than all that matter
  for (const int link : links_of_all(kinds)) used.push_back(links[static_cast<std::size_t>(link)]);
  // Whole pieces can only be finished at these times, so the first that fits is the least.
  for (Time time = least_time(kinds, links, size);; time = next_time(used, time, size, pieces)) {
    IndexedVector<Amount> room;
    for (const JobLink& link : links) room.push_back(pieces_in(link, time, size, pieces));
    if (!routing.route(amounts, std::move(room))) return {time, routing.share()};
  }
}

}  // namespace forestcoll::baselines
