#include "forestcoll/simulation/classes.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

namespace forestcoll {
namespace {

// A bijection of 64 bits that spreads every bit (the finalizer of splitmix64).
std::uint64_t spread(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A sum of spread colours stands for a multiset of them.
struct Colour {
  std::uint64_t low = 0, high = 0;

  Colour() = default;
  explicit Colour(std::int64_t value)
      : low(spread(static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15ULL)),
        high(spread(static_cast<std::uint64_t>(value) ^ 0xd1b54a32d192ed03ULL)) {}

  bool operator==(const Colour&) const = default;
  bool operator<(const Colour& other) const {
    return low != other.low ? low < other.low : high < other.high;
  }
  Colour& operator+=(const Colour& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  // The colour of an ordered pair.
  Colour then(const Colour& next) const {
    Colour result;
    result.low = spread(low + 0x632be59bd9b4e019ULL * next.low + 0x2545f4914f6cdd1dULL);
    result.high = spread(high + 0x8cb92ba72f3d8dd7ULL * next.high + 0x9e6c63d0876a9a47ULL);
    return result;
  }
};

struct Hash {
  std::size_t operator()(const Colour& colour) const { return colour.low; }
};

constexpr int kAdding = 1;  // distinguishes what a resource adds from what it carries

class Refinement {
 public:
  explicit Refinement(const Transfers& transfers)
      : t_(transfers),
        of_resource_(t_.kind_of_resource.count()),
        of_way_(t_.resources_of_way.count()),
        of_transfer_(t_.count()) {
    for (int r = 0; r < of_resource_.count(); ++r) of_resource_[r] = Colour(t_.kind_of_resource[r]);
  }

  void run(Progress progress) {
    for (std::size_t known = 0;;) {
      colour_transfers(progress);
      colour_resources();
      const std::set<Colour> distinct(of_resource_.begin(), of_resource_.end());
      if (distinct.size() == known) return;
      known = distinct.size();
    }
  }

  const IndexedVector<Colour>& of_transfer() const { return of_transfer_; }
  const IndexedVector<Colour>& of_resource() const { return of_resource_; }

 private:
  void colour_transfers(Progress& progress) {
    for (int way = 0; way < of_way_.count(); ++way) {
      Colour used;
      for (const auto r : t_.resources_of_way[way]) used += of_resource_[r].then(Colour(0));
      of_way_[way] = Colour(t_.delay_of_way[way]).then(used);
    }
    for (int i = 0; i < t_.count(); ++i) {
      if (i % 4096 == 0) progress(i, t_.count());
      Colour needed;
      for (const auto need : t_.needs[i]) needed += of_transfer_[need];
      const Colour sum = t_.adder[i] < 0 ? Colour(-1) : of_resource_[t_.adder[i]];
      of_transfer_[i] = Colour(t_.amount[i])
                            .then(Colour(t_.step[i]))
                            .then(Colour(t_.priority.empty() ? 0 : t_.priority[i]))
                            .then(of_way_[t_.way[i]])
                            .then(sum)
                            .then(needed);
    }
  }

  void colour_resources() {
    IndexedVector<Colour> over_way(of_way_.count()), used(of_resource_.count());
    for (int i = 0; i < t_.count(); ++i) {
      over_way[t_.way[i]] += of_transfer_[i];
      if (t_.adder[i] >= 0) used[t_.adder[i]] += of_transfer_[i].then(Colour(kAdding));
    }
    for (int way = 0; way < of_way_.count(); ++way) {
      for (const auto r : t_.resources_of_way[way]) used[r] += over_way[way];
    }
    for (int r = 0; r < used.count(); ++r) of_resource_[r] = of_resource_[r].then(used[r]);
  }

  const Transfers& t_;
  IndexedVector<Colour> of_resource_, of_way_, of_transfer_;
};

// Numbers colours in the order of appearance, with the first index of each.
IndexedVector<std::int32_t> numbered(const IndexedVector<Colour>& colours,
                                     IndexedVector<std::int32_t>& first) {
  std::unordered_map<Colour, std::int32_t, Hash> number;
  IndexedVector<std::int32_t> result(colours.count());
  for (int i = 0; i < colours.count(); ++i) {
    const auto [entry, added] = number.try_emplace(colours[i], first.count());
    if (added) first.push_back(i);
    result[i] = entry->second;
  }
  return result;
}

}  // namespace

Classes classes_of(const Transfers& transfers, Progress progress) {
  Refinement refinement(transfers);
  refinement.run(std::move(progress));
  Classes classes;
  classes.of_transfer = numbered(refinement.of_transfer(), classes.transfer);
  classes.of_resource = numbered(refinement.of_resource(), classes.resource);
  return classes;
}

Classes each_by_itself(const Transfers& transfers) {
  Classes classes;
  classes.of_transfer.resize(transfers.count());
  std::iota(classes.of_transfer.begin(), classes.of_transfer.end(), 0);
  classes.of_resource.resize(transfers.kind_of_resource.count());
  std::iota(classes.of_resource.begin(), classes.of_resource.end(), 0);
  classes.transfer = classes.of_transfer;
  classes.resource = classes.of_resource;
  return classes;
}

}  // namespace forestcoll
