#include "forestcoll/tree_packing/repair.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace forestcoll {

namespace {

// How many batches of similar size an exchange looks at.
constexpr std::ptrdiff_t kWindow = 32;

// How many exchanges are tried at a node between two that help. Where links are many, batches few
// and capacities odd, hardly any exchange fits and there are millions to try.
constexpr int kEffort = 1024;

// Places that each batch may take, as bits, for the batches that were asked about.
class Options {
 public:
  explicit Options(std::size_t places) : words_((places + 63) / 64) {}

  static bool has(std::span<const std::uint64_t> places, std::size_t place) {
    return (places[place / 64] >> (place % 64) & 1) != 0;
  }
  static void add(std::span<std::uint64_t> places, std::size_t place) {
    places[place / 64] |= std::uint64_t{1} << (place % 64);
  }

  std::size_t words() const { return words_; }
  bool knows(int batch) const { return batch < known_.count() && known_[batch]; }
  void forget(int batch) {
    if (knows(batch)) known_[batch] = 0;
  }
  std::span<const std::uint64_t> of(int batch) const {
    return std::span(bits_).subspan(static_cast<std::size_t>(batch) * words_, words_);
  }
  // The batch is known from now on, with no place yet.
  std::span<std::uint64_t> start(int batch, int num_batches) {
    known_.resize(num_batches, 0);
    bits_.resize(known_.size() * words_);
    known_[batch] = 1;
    const auto places = std::span(bits_).subspan(static_cast<std::size_t>(batch) * words_, words_);
    std::ranges::fill(places, 0);
    return places;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  IndexedVector<std::uint8_t> known_;
};

class NodeRepair {
 public:
  NodeRepair(PartialPacking& packing, NodeId node, const Rule& rule)
      : packing_(packing),
        node_(node),
        rule_(rule),
        arcs_(packing.in_arcs(node)),
        on_(arcs_.size()),
        options_(arcs_.size()) {
    for (int batch = 0; batch < packing.num_batches(); ++batch) {
      if (const int arc = packing.via(batch, node); arc >= 0 && packing.multiplicity(batch) > 0) {
        on_[packing.place_of(arc)].push_back(batch);
      }
    }
    for (auto& batches : on_) std::ranges::sort(batches, larger());
    packing_.spend(static_cast<std::size_t>(packing.num_batches()));
  }

  bool run() {
    bool all = true;
    for (std::size_t place = 0; place < arcs_.size(); ++place) {
      while (left(place) < 0 && relieve(place)) {
      }
      all = all && left(place) >= 0;
    }
    return all;
  }

 private:
  struct Step {
    std::size_t place;
    std::size_t before;      // position in steps
    std::vector<int> forth;  // batches that come from there
    std::vector<int> back;   // batches that go there in exchange
  };

  // Large batches first; ties by number keep the result deterministic.
  struct Larger {
    const PartialPacking* packing;
    bool operator()(int a, int b) const {
      return std::pair{-packing->multiplicity(a), a} < std::pair{-packing->multiplicity(b), b};
    }
  };
  Larger larger() const { return {&packing_}; }

  Amount left(std::size_t place) const { return packing_.left(arcs_[place]); }
  Amount most_room() const {
    Amount most = 0;
    for (std::size_t place = 0; place < arcs_.size(); ++place) most = std::max(most, left(place));
    return most;
  }

  // Whether a batch may take an in-arc. Depends on the batch alone, so it is asked of the packing
  // once, and again after the batch has moved.
  bool may_move(int batch, std::size_t to) { return Options::has(options(batch), to); }

  std::span<const std::uint64_t> options(int batch) {
    if (!options_.knows(batch)) {
      const auto places = options_.start(batch, packing_.num_batches());
      packing_.spend(arcs_.size());
      for (std::size_t to = 0; to < arcs_.size(); ++to) {
        if (allows(batch, to)) Options::add(places, to);
      }
    }
    return options_.of(batch);
  }

  bool allows(int batch, std::size_t to) const {
    const NodeId tail = packing_.arc(arcs_[to]).tail;
    const int rise = packing_.depth(batch, tail) + 1 - packing_.depth(batch, node_);
    if (rise <= 0) return true;
    switch (rule_.change) {
      case Rule::Change::kNotDeeper:
        return false;
      case Rule::Change::kLeaves:
        return packing_.depth(batch, tail) < rule_.max_height && packing_.is_leaf(batch, node_);
      case Rule::Change::kAny:
        if (packing_.is_leaf(batch, node_)) return packing_.depth(batch, tail) < rule_.max_height;
        return packing_.height(batch) + rise <= rule_.max_height &&
               !packing_.is_below(batch, tail, node_);
    }
    return false;
  }

  // Takes some load off an in-arc; false if nothing can.
  bool relieve(std::size_t from) {
    if (!find_way(from)) return false;
    const Amount room = most_room();
    Amount last = 0;
    for (const int batch : on_[from]) {
      const Amount size = packing_.multiplicity(batch);
      if (size == last || size > room) continue;
      last = size;
      if (chain(from, size)) return true;
    }
    for (Amount amount = std::min(-left(from), room); amount > 0 && effort_ > 0; amount /= 2) {
      if (exchange(from, amount)) return true;
    }
    return rule_.may_split && !packing_.is_shattered() && find_way(from) && split_steps();
  }

  void move(int batch, std::size_t from, std::size_t to) {
    auto& source = on_[from];
    source.erase(std::ranges::lower_bound(source, batch, larger()));
    auto& target = on_[to];
    target.insert(std::ranges::lower_bound(target, batch, larger()), batch);
    packing_.move(batch, arcs_[to]);
    options_.forget(batch);
  }

  // Passes a batch of this size on from arc to arc until one has room for it.
  bool chain(std::size_t start, Amount size) {
    const auto sized = [&](std::size_t place) { return of_size(place, size); };
    const bool found = search(start, size, sized, [&](const Step& from, Step& step) {
      const auto batches = sized(from.place);
      step.forth.assign(1, *std::ranges::find_if(
                               batches, [&](int batch) { return may_move(batch, step.place); }));
      return true;
    });
    if (found) follow_steps();
    return found;
  }

  // As chain, where each step moves some batches forth and some back, the amount on balance.
  bool exchange(std::size_t start, Amount amount) {
    const bool found = search(
        start, amount, [&](std::size_t place) { return near(place, amount); },
        [&](const Step& from, Step& step) { return effort_-- > 0 && balance(from, step, amount); });
    if (!found) return false;
    effort_ = kEffort;
    follow_steps();
    return true;
  }

  void follow_steps() {
    for (std::size_t at = steps_.size() - 1; at > 0; at = steps_[at].before) {
      const Step& step = steps_[at];
      const std::size_t from = steps_[step.before].place;
      for (const int batch : step.forth) move(batch, from, step.place);
      for (const int batch : step.back) move(batch, step.place, from);
    }
  }

  // Fills a step: the largest batch that is not too large, while there is one; else the next
  // larger, and what is too much comes back the same way.
  bool balance(const Step& from, Step& step, Amount amount) {
    bool forth = true;
    for (int moves = 0; amount > 0 && moves < 12; ++moves) {
      const std::size_t source = forth ? from.place : step.place;
      const std::size_t target = forth ? step.place : from.place;
      auto& chosen = forth ? step.forth : step.back;
      const int batch = nearest(source, target, amount, chosen, forth ? from.back : step.forth);
      if (batch < 0) return false;
      chosen.push_back(batch);
      amount -= packing_.multiplicity(batch);
      if (amount < 0) {
        amount = -amount;
        forth = !forth;
      }
    }
    return amount == 0;
  }

  // Of the batches that may move and are not taken, the largest up to the amount, or else the
  // smallest above it; -1 if there is none nearby.
  int nearest(std::size_t from, std::size_t to, Amount amount, const std::vector<int>& taken,
              const std::vector<int>& gone) {
    const auto usable = [&](int batch) {
      return may_move(batch, to) && std::ranges::find(taken, batch) == taken.end() &&
             std::ranges::find(gone, batch) == gone.end();
    };
    const auto nearby = near(from, amount);
    packing_.spend(nearby.size());
    const auto middle = nearby.begin() + std::min(first_up_to(from, amount), kWindow);
    const auto found = std::find_if(middle, nearby.end(), usable);
    if (found != nearby.end()) return *found;
    for (auto at = middle; at != nearby.begin();) {
      if (usable(*--at)) return *at;
    }
    return -1;
  }

  // Breadth first from an in-arc to one with room; the last step is the one that has it. A step
  // leads where some of the batches that `movers` names for its start may go and `choose` agrees.
  template <typename Movers, typename Choose>
  bool search(std::size_t start, Amount room, Movers movers, Choose choose) {
    steps_.assign(1, {start, 0, {}, {}});
    std::vector<std::size_t> open;
    for (std::size_t place = 0; place < arcs_.size(); ++place) {
      if (place != start) open.push_back(place);
    }
    // Where there is room the search ends, so look there first.
    std::ranges::stable_partition(open, [&](std::size_t place) { return left(place) >= room; });
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      find_targets(movers(steps_[i].place));
      packing_.spend(open.size());
      std::size_t kept = 0;
      for (const std::size_t to : open) {
        if (!Options::has(targets_, to)) {
          open[kept++] = to;
          continue;
        }
        Step step{to, i, {}, {}};
        if (!choose(steps_[i], step)) {
          open[kept++] = to;
          continue;
        }
        steps_.push_back(std::move(step));
        if (left(to) >= room) return true;
      }
      open.resize(kept);
    }
    return false;
  }

  // Where any of these batches may go.
  void find_targets(std::span<const int> batches) {
    targets_.assign(options_.words(), 0);
    packing_.spend(batches.size() * targets_.size());
    for (const int batch : batches) {
      const auto places = options(batch);
      for (std::size_t word = 0; word < targets_.size(); ++word) targets_[word] |= places[word];
    }
  }

  // The position of the first batch on an in-arc that is not larger than this.
  std::ptrdiff_t first_up_to(std::size_t place, Amount size) const {
    const auto by_size = [this](int batch) { return -packing_.multiplicity(batch); };
    return std::ranges::lower_bound(on_[place], -size, {}, by_size) - on_[place].begin();
  }

  std::span<const int> of_size(std::size_t place, Amount size) const {
    return between(place, first_up_to(place, size), first_up_to(place, size - 1));
  }

  // The batches of about this size.
  std::span<const int> near(std::size_t place, Amount size) const {
    const std::ptrdiff_t middle = first_up_to(place, size);
    const auto end = static_cast<std::ptrdiff_t>(on_[place].size());
    return between(place, std::max<std::ptrdiff_t>(0, middle - kWindow),
                   std::min(end, middle + kWindow));
  }

  std::span<const int> between(std::size_t place, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return std::span(on_[place])
        .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }

  // Finds a chain of batches of any size.
  bool find_way(std::size_t start) {
    const auto all = [&](std::size_t place) { return std::span<const int>(on_[place]); };
    return search(start, 1, all, [&](const Step& from, Step& step) {
      const auto batches = all(from.place);
      const auto smallest = std::find_if(batches.rbegin(), batches.rend(),
                                         [&](int batch) { return may_move(batch, step.place); });
      step.forth.assign(1, *smallest);
      return true;
    });
  }

  // Splits the batches of the steps that are larger than the smallest of them or than the room.
  bool split_steps() {
    Amount amount = std::min(-left(steps_.front().place), left(steps_.back().place));
    for (std::size_t at = steps_.size() - 1; at > 0; at = steps_[at].before) {
      amount = std::min(amount, packing_.multiplicity(steps_[at].forth.front()));
    }
    bool refined = false;
    for (std::size_t at = steps_.size() - 1; at > 0; at = steps_[at].before) {
      if (packing_.multiplicity(steps_[at].forth.front()) == amount) continue;
      refine(steps_[at].forth.front(), steps_[steps_[at].before].place);
      refined = true;
    }
    return refined;
  }

  // Splits a batch into 1, 2, 4, .. trees and the rest: from such parts any amount can be made.
  void refine(int batch, std::size_t place) {
    auto& batches = on_[place];
    batches.erase(std::ranges::lower_bound(batches, batch, larger()));
    std::vector<int> parts{batch};
    for (Amount part = 1; part < packing_.multiplicity(batch); part *= 2) {
      parts.push_back(packing_.split(batch, part));
    }
    for (const int part : parts) {
      batches.insert(std::ranges::lower_bound(batches, part, larger()), part);
    }
  }

  PartialPacking& packing_;
  NodeId node_;
  Rule rule_;
  std::span<const int> arcs_;
  IndexedVector<std::vector<int>> on_;  // the batches on each in-arc, large ones first
  std::vector<Step> steps_;
  int effort_ = kEffort;  // exchanges that may still be tried
  Options options_;
  std::vector<std::uint64_t> targets_;  // places that a search may go on to
};

}  // namespace

bool repair(PartialPacking& packing, NodeId node, const Rule& rule) {
  if (!packing.is_overloaded(node)) return true;
  return NodeRepair(packing, node, rule).run();
}

bool repair(PartialPacking& packing, int max_height, Progress& progress) {
  using enum Rule::Change;
  const NodeId nodes = packing.num_nodes();
  std::vector<NodeId> unsettled;
  for (NodeId v = 0; v < nodes; ++v) {
    if (packing.is_overloaded(v)) unsettled.push_back(v);
  }
  for (const bool may_split : {false, true}) {
    for (const auto change : {kNotDeeper, kLeaves, kAny}) {
      std::erase_if(unsettled, [&](NodeId v) {
        progress(nodes - static_cast<NodeId>(unsettled.size()), nodes);
        return !packing.is_overspent() && repair(packing, v, {change, max_height, may_split});
      });
    }
  }
  return unsettled.empty();
}

}  // namespace forestcoll
