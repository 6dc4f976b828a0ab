#include "forestcoll/tree_packing/repair.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "forestcoll/tree_packing/options.hpp"

namespace forestcoll {

namespace {

// Batches of similar size that an exchange looks at.
constexpr std::size_t kWindow = 32;

// Fruitless exchanges at a node before it is given up. With many links, few batches and odd
// capacities, hardly any exchange fits and there are millions to try.
constexpr int kEffort = 1024;

// Batches that an exchange moves from one in-arc to another and back.
constexpr std::size_t kMostMoves = 12;

// A batch on an in-arc, and its number of trees, which searches compare.
struct Sized {
  Amount size;
  int batch;
};

// The batches of a step, in one direction.
class Moves {
 public:
  void push_back(int batch) { batches_[count_++] = batch; }
  // A loop, as std::find takes longer for the usual none or one.
  bool contains(int batch) const {
    for (const int one : *this) {
      if (one == batch) return true;
    }
    return false;
  }
  int front() const { return batches_[0]; }
  const int* begin() const { return batches_.data(); }
  const int* end() const { return begin() + count_; }

 private:
  std::array<int, kMostMoves> batches_;
  std::size_t count_ = 0;
};

class NodeRepair {
 public:
  explicit NodeRepair(PartialPacking& packing) : packing_(packing) {}

  bool run(NodeId node, const Rule& rule) {
    begin(node, rule);
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
    std::size_t before;  // position in steps
    Moves forth;         // batches that come from there
    Moves back;          // batches that go there in exchange
  };

  void begin(NodeId node, const Rule& rule) {
    node_ = node;
    rule_ = rule;
    arcs_ = packing_.in_arcs(node);
    effort_ = kEffort;
    options_.begin(arcs_.size(), packing_.num_batches());
    tails_.clear();
    left_.clear();
    for (const int arc : arcs_) {
      tails_.push_back(packing_.arc(arc).tail);
      left_.push_back(packing_.left(arc));
    }
    if (on_.size() < arcs_.size()) on_.resize(arcs_.size());
    for (auto& batches : on_) batches.clear();
    for (int batch = 0; batch < packing_.num_batches(); ++batch) {
      if (const int arc = packing_.via(batch, node); arc >= 0 && packing_.multiplicity(batch) > 0) {
        on_[packing_.place_of(arc)].push_back(sized(batch));
      }
    }
    for (auto& batches : on_) std::ranges::sort(batches, comes_first);
    packing_.spend(static_cast<std::size_t>(packing_.num_batches()));
  }

  // Large batches first; ties by number, so that the result is deterministic.
  static bool comes_first(const Sized& one, const Sized& other) {
    return one.size != other.size ? one.size > other.size : one.batch < other.batch;
  }
  Sized sized(int batch) const { return {packing_.multiplicity(batch), batch}; }
  void insert(std::vector<Sized>& batches, int batch) const {
    batches.insert(std::ranges::lower_bound(batches, sized(batch), comes_first), sized(batch));
  }
  void erase(std::vector<Sized>& batches, int batch) const {
    batches.erase(std::ranges::lower_bound(batches, sized(batch), comes_first));
  }

  Amount left(std::size_t place) const { return left_[place]; }
  Amount most_room() const { return std::max<Amount>(0, *std::ranges::max_element(left_)); }

  // Whether a batch may take an in-arc.
  bool may_move(int batch, std::size_t to) {
    if (!options_.knows(batch)) find_options(batch);
    return options_.has(batch, to);
  }

  Places options(int batch) {
    if (!options_.knows(batch)) find_options(batch);
    return options_.of(batch);
  }

  void find_options(int batch) {
    const auto depths = packing_.depths_in(batch);
    const int own = depths[static_cast<std::size_t>(node_)];
    const int least = least_forbidden_depth(batch, own);
    const auto places = options_.start(batch);
    packing_.spend(arcs_.size());
    for (std::size_t word = 0; word < places.size(); ++word) {
      places[word] = shallower(depths, word * kWordBits, least);
    }
    if (least > own && !packing_.is_leaf(batch, node_)) forbid_below(batch, places);
  }

  // A bit for each tail from `first` on that is less deep than `least`. Eight at a time, as shifts
  // by constants take half the time of shifts by a variable.
  Word shallower(std::span<const int> depths, std::size_t first, int least) const {
    constexpr std::size_t kEight = 8;
    const auto bit = [&](std::size_t place) {
      return Word{depths[static_cast<std::size_t>(tails_[place])] < least};
    };
    const std::size_t end = std::min(first + kWordBits, tails_.size());
    Word bits = 0;
    std::size_t place = first;
    for (; place + kEight <= end; place += kEight) {
      Word eight = 0;
      for (std::size_t i = 0; i < kEight; ++i) eight |= bit(place + i) << i;
      bits |= eight << (place - first);
    }
    for (; place < end; ++place) bits |= bit(place) << (place - first);
    return bits;
  }

  void forbid_below(int batch, std::span<Word> places) const {
    for (std::size_t place = 0; place < tails_.size(); ++place) {
      if (options_.has(batch, place) && packing_.is_below(batch, tails_[place], node_)) {
        places[place / kWordBits] &= ~bit_in_word(static_cast<int>(place));
      }
    }
  }

  // A parent must be less deep than this, and not below the node.
  int least_forbidden_depth(int batch, int own) const {
    const bool is_leaf = packing_.is_leaf(batch, node_);
    switch (rule_.change) {
      case Rule::Change::kNotDeeper:
        return own;
      case Rule::Change::kLeaves:
        return is_leaf ? std::max(own, rule_.max_depth) : own;
      case Rule::Change::kAny:
        // Everything below the node gets as much deeper as the node.
        return std::max(
            own, is_leaf ? rule_.max_depth : own + rule_.max_depth - packing_.tree_depth(batch));
    }
    return own;
  }

  // Takes some load off an in-arc; false if no method can.
  bool relieve(std::size_t from) {
    if (!find_way(from)) return false;
    const Amount room = most_room();
    Amount last = 0;
    for (const Sized& one : on_[from]) {
      const Amount size = one.size;
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
    erase(on_[from], batch);
    insert(on_[to], batch);
    packing_.move(batch, arcs_[to]);
    left_[from] += packing_.multiplicity(batch);
    left_[to] -= packing_.multiplicity(batch);
    options_.forget(batch);
  }

  // Passes a batch of this size on from arc to arc until one has room for it.
  bool chain(std::size_t start, Amount size) {
    const auto movers = [&](std::size_t place) { return of_size(place, size); };
    const bool found = search(start, size, movers, [&](const Step& from, Step& step) {
      const auto batches = movers(from.place);
      step.forth.push_back(std::ranges::find_if(batches, [&](const Sized& one) {
                             return may_move(one.batch, step.place);
                           })->batch);
      return true;
    });
    if (found) follow_steps();
    return found;
  }

  // Like chain, but each step moves some batches forth and some back; the balance is the amount.
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

  // Fills a step: the largest batch that is not too large, repeatedly; then the next larger one,
  // with the excess returned in exchange.
  bool balance(const Step& from, Step& step, Amount amount) {
    bool forth = true;
    for (std::size_t moves = 0; amount > 0 && moves < kMostMoves; ++moves) {
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

  // Of the movable, untaken batches, the largest up to the amount, or else the smallest above it;
  // -1 if there is none nearby.
  int nearest(std::size_t from, std::size_t to, Amount amount, const Moves& taken,
              const Moves& gone) {
    const auto usable = [&](int batch) {
      return may_move(batch, to) && !taken.contains(batch) && !gone.contains(batch);
    };
    const std::span<const Sized> batches = on_[from];
    const Window window = window_around(batches, amount);
    packing_.spend(window.end - window.begin);
    for (std::size_t i = window.middle; i < window.end; ++i) {
      if (usable(batches[i].batch)) return batches[i].batch;
    }
    for (std::size_t i = window.middle; i-- > window.begin;) {
      if (usable(batches[i].batch)) return batches[i].batch;
    }
    return -1;
  }

  // Breadth first from an in-arc to one with room, which ends the last step. A step exists if some
  // of the batches that `movers` names for its start may go there and `choose` agrees. Arcs with
  // room are tried first, since the search ends there.
  template <typename Movers, typename Choose>
  bool search(std::size_t start, Amount room, Movers movers, Choose choose) {
    steps_.assign(1, {start, 0, {}, {}});
    open_.assign(options_.words(), ~Word{0});
    open_[start / kWordBits] &= ~bit_in_word(static_cast<int>(start));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      find_targets(movers(steps_[i].place));
      packing_.spend(arcs_.size() - steps_.size());
      const auto has_room = [&](std::size_t place) { return left(place) >= room; };
      const auto step_to = [&](std::size_t to) {
        Step step{to, i, {}, {}};
        if (!choose(steps_[i], step)) return false;
        steps_.push_back(step);
        return true;
      };
      if (visit_targets([&](std::size_t to) { return has_room(to) && step_to(to); })) return true;
      visit_targets([&](std::size_t to) {
        if (!has_room(to) && step_to(to))
          open_[to / kWordBits] &= ~bit_in_word(static_cast<int>(to));
        return false;
      });
    }
    return false;
  }

  // The unvisited targets, in order, until `visit` returns true.
  template <typename Visit>
  bool visit_targets(Visit visit) const {
    for (std::size_t word = 0; word < open_.size(); ++word) {
      for (Word bits = open_[word] & targets_[word]; bits != 0; bits &= bits - 1) {
        if (visit(word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits)))) return true;
      }
    }
    return false;
  }

  // The in-arcs that some of these batches may take.
  void find_targets(std::span<const Sized> batches) {
    targets_.assign(options_.words(), 0);
    packing_.spend(batches.size() * targets_.size());
    for (const Sized& one : batches) {
      const auto places = options(one.batch);
      for (std::size_t word = 0; word < targets_.size(); ++word) targets_[word] |= places[word];
    }
  }

  // The position of the first batch that is not larger than this.
  static std::size_t first_up_to(std::span<const Sized> batches, Amount size) {
    const auto first = std::ranges::lower_bound(batches, size, std::greater{}, &Sized::size);
    return static_cast<std::size_t>(first - batches.begin());
  }

  std::span<const Sized> of_size(std::size_t place, Amount size) const {
    const std::span<const Sized> batches = on_[place];
    const std::size_t first = first_up_to(batches, size);
    return batches.subspan(first, first_up_to(batches, size - 1) - first);
  }

  // Batches of about a size: larger ones from begin to middle, then the others to the end.
  struct Window {
    std::size_t begin, middle, end;
  };
  static Window window_around(std::span<const Sized> batches, Amount size) {
    const std::size_t middle = first_up_to(batches, size);
    return {middle - std::min(middle, kWindow), middle, std::min(batches.size(), middle + kWindow)};
  }

  std::span<const Sized> near(std::size_t place, Amount size) const {
    const std::span<const Sized> batches = on_[place];
    const Window window = window_around(batches, size);
    return batches.subspan(window.begin, window.end - window.begin);
  }

  // Finds a chain of batches of any size.
  bool find_way(std::size_t start) {
    const auto all = [&](std::size_t place) { return std::span<const Sized>(on_[place]); };
    return search(start, 1, all, [&](const Step& from, Step& step) {
      const auto batches = all(from.place);
      const auto smallest = std::find_if(batches.rbegin(), batches.rend(), [&](const Sized& one) {
        return may_move(one.batch, step.place);
      });
      step.forth.push_back(smallest->batch);
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

  // Splits a batch into 1, 2, 4, .. trees and the rest: such parts add up to any amount.
  void refine(int batch, std::size_t place) {
    auto& batches = on_[place];
    erase(batches, batch);
    std::vector<int> parts{batch};
    for (Amount part = 1; part < packing_.multiplicity(batch); part *= 2) {
      parts.push_back(packing_.split(batch, part));
    }
    options_.grow(packing_.num_batches());
    for (const int part : parts) insert(batches, part);
  }

  PartialPacking& packing_;
  NodeId node_ = -1;
  Rule rule_{};
  std::span<const int> arcs_;
  std::vector<NodeId> tails_;             // of the in-arcs
  std::vector<Amount> left_;              // of their capacities
  IndexedVector<std::vector<Sized>> on_;  // the batches on each in-arc, large ones first
  std::vector<Step> steps_;
  int effort_ = kEffort;  // exchanges that may still be tried
  Options options_;
  std::vector<Word> targets_;  // places where the batches of a step may go
  std::vector<Word> open_;     // places not yet visited by a search
};

}  // namespace

bool repair(PartialPacking& packing, NodeId node, const Rule& rule) {
  if (!packing.is_overloaded(node)) return true;
  return NodeRepair(packing).run(node, rule);
}

bool repair(PartialPacking& packing, int max_depth, Progress& progress) {
  using enum Rule::Change;
  const NodeId nodes = packing.num_nodes();
  std::vector<NodeId> unsettled;
  for (NodeId v = 0; v < nodes; ++v) {
    if (packing.is_overloaded(v)) unsettled.push_back(v);
  }
  NodeRepair node(packing);
  for (const bool may_split : {false, true}) {
    for (const auto change : {kNotDeeper, kLeaves, kAny}) {
      std::erase_if(unsettled, [&](NodeId v) {
        progress(nodes - static_cast<NodeId>(unsettled.size()), nodes);
        return !packing.is_overspent() && node.run(v, {change, max_depth, may_split});
      });
    }
  }
  return unsettled.empty();
}

}  // namespace forestcoll
