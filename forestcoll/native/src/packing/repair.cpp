#include "repair.hpp"

#include <algorithm>
#include <utility>

namespace forestcoll {

namespace {

// How many batches of similar size an exchange looks at.
constexpr std::ptrdiff_t kWindow = 32;

class NodeRepair {
 public:
  NodeRepair(Draft& draft, NodeId node, const Rule& rule)
      : draft_(draft), node_(node), rule_(rule), arcs_(draft.in_arcs(node)), on_(arcs_.size()) {
    for (int batch = 0; batch < draft.num_batches(); ++batch) {
      if (const int arc = draft.via(batch, node); arc >= 0 && draft.multiplicity(batch) > 0) {
        on_[static_cast<std::size_t>(draft.place_of(arc))].push_back(batch);
      }
    }
    for (auto& batches : on_) std::ranges::sort(batches, larger());
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
    const Draft* draft;
    bool operator()(int a, int b) const {
      return std::pair{-draft->multiplicity(a), a} < std::pair{-draft->multiplicity(b), b};
    }
  };
  Larger larger() const { return {&draft_}; }

  Amount left(std::size_t place) const { return draft_.left(arcs_[place]); }
  Amount most_room() const {
    Amount most = 0;
    for (std::size_t place = 0; place < arcs_.size(); ++place) most = std::max(most, left(place));
    return most;
  }

  bool may_move(int batch, std::size_t to) const {
    const NodeId tail = draft_.arc(arcs_[to]).tail;
    const int rise = draft_.depth(batch, tail) + 1 - draft_.depth(batch, node_);
    if (rise <= 0) return true;
    switch (rule_.change) {
      case Rule::Change::kNotDeeper:
        return false;
      case Rule::Change::kLeaves:
        return draft_.depth(batch, tail) < rule_.max_height && draft_.is_leaf(batch, node_);
      case Rule::Change::kAny:
        if (draft_.is_leaf(batch, node_)) return draft_.depth(batch, tail) < rule_.max_height;
        return draft_.height(batch) + rise <= rule_.max_height &&
               !draft_.is_below(batch, tail, node_);
    }
    return false;
  }

  // Takes some load off an in-arc; false if nothing can.
  bool relieve(std::size_t from) {
    if (!find_way(from)) return false;
    const Amount room = most_room();
    Amount last = 0;
    for (const int batch : on_[from]) {
      const Amount size = draft_.multiplicity(batch);
      if (size == last || size > room) continue;
      last = size;
      if (chain(from, size)) return true;
    }
    for (Amount amount = std::min(-left(from), room); amount > 0; amount /= 2) {
      if (exchange(from, amount)) return true;
    }
    return rule_.may_split && find_way(from) && split_steps();
  }

  void move(int batch, std::size_t from, std::size_t to) {
    auto& source = on_[from];
    source.erase(std::ranges::lower_bound(source, batch, larger()));
    auto& target = on_[to];
    target.insert(std::ranges::lower_bound(target, batch, larger()), batch);
    draft_.move(batch, arcs_[to]);
  }

  // Passes a batch of this size on from arc to arc until one has room for it.
  bool chain(std::size_t start, Amount size) {
    const bool found = search(start, size, [&](const Step& from, Step& step) {
      const int batch = movable(from.place, step.place, size);
      if (batch >= 0) step.forth.assign(1, batch);
      return batch >= 0;
    });
    if (found) follow_steps();
    return found;
  }

  // As chain, where each step moves some batches forth and some back, the amount on balance.
  bool exchange(std::size_t start, Amount amount) {
    const bool found = search(
        start, amount, [&](const Step& from, Step& step) { return balance(from, step, amount); });
    if (found) follow_steps();
    return found;
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
  bool balance(const Step& from, Step& step, Amount amount) const {
    bool forth = true;
    for (int moves = 0; amount > 0 && moves < 12; ++moves) {
      const std::size_t source = forth ? from.place : step.place;
      const std::size_t target = forth ? step.place : from.place;
      auto& chosen = forth ? step.forth : step.back;
      const int batch = nearest(source, target, amount, chosen, forth ? from.back : step.forth);
      if (batch < 0) return false;
      chosen.push_back(batch);
      amount -= draft_.multiplicity(batch);
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
              const std::vector<int>& gone) const {
    const auto& batches = on_[from];
    const auto usable = [&](int batch) {
      return std::ranges::find(taken, batch) == taken.end() &&
             std::ranges::find(gone, batch) == gone.end() && may_move(batch, to);
    };
    const auto by_size = [this](int batch) { return -draft_.multiplicity(batch); };
    const auto middle = std::ranges::lower_bound(batches, -amount, {}, by_size);
    const auto smaller_end = batches.end() - middle > kWindow ? middle + kWindow : batches.end();
    const auto found = std::find_if(middle, smaller_end, usable);
    if (found != smaller_end) return *found;
    const auto larger_end = middle - batches.begin() > kWindow ? middle - kWindow : batches.begin();
    for (auto at = middle; at != larger_end;) {
      if (usable(*--at)) return *at;
    }
    return -1;
  }

  // Breadth first from an in-arc to one with room; the last step is the one that has it.
  template <typename Choose>
  bool search(std::size_t start, Amount room, Choose choose) {
    steps_.assign(1, {start, 0, {}, {}});
    std::vector<std::size_t> open;
    for (std::size_t place = 0; place < arcs_.size(); ++place) {
      if (place != start) open.push_back(place);
    }
    // Where there is room the search ends, so look there first.
    std::ranges::stable_partition(open, [&](std::size_t place) { return left(place) >= room; });
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::size_t kept = 0;
      for (const std::size_t to : open) {
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

  // The first batch of this size that may change its in-arc, or -1.
  int movable(std::size_t from, std::size_t to, Amount size) const {
    const auto& batches = on_[from];
    const auto by_size = [this](int batch) { return -draft_.multiplicity(batch); };
    for (auto at = std::ranges::lower_bound(batches, -size, {}, by_size);
         at != batches.end() && draft_.multiplicity(*at) == size; ++at) {
      if (may_move(*at, to)) return *at;
    }
    return -1;
  }

  // Finds a chain of batches of any size.
  bool find_way(std::size_t start) {
    return search(start, 1, [&](const Step& from, Step& step) {
      const int batch = any_movable(from.place, step.place);
      if (batch >= 0) step.forth.assign(1, batch);
      return batch >= 0;
    });
  }

  // Splits the batches of the steps that are larger than the smallest of them or than the room.
  bool split_steps() {
    Amount amount = std::min(-left(steps_.front().place), left(steps_.back().place));
    for (std::size_t at = steps_.size() - 1; at > 0; at = steps_[at].before) {
      amount = std::min(amount, draft_.multiplicity(steps_[at].forth.front()));
    }
    bool refined = false;
    for (std::size_t at = steps_.size() - 1; at > 0; at = steps_[at].before) {
      if (draft_.multiplicity(steps_[at].forth.front()) == amount) continue;
      refine(steps_[at].forth.front(), steps_[steps_[at].before].place);
      refined = true;
    }
    return refined;
  }

  int any_movable(std::size_t from, std::size_t to) const {
    const auto& batches = on_[from];
    for (std::size_t i = batches.size(); i-- > 0;) {
      if (may_move(batches[i], to)) return batches[i];
    }
    return -1;
  }

  // Splits a batch into 1, 2, 4, .. trees and the rest: from such parts any amount can be made.
  void refine(int batch, std::size_t place) {
    auto& batches = on_[place];
    batches.erase(std::ranges::lower_bound(batches, batch, larger()));
    std::vector<int> parts{batch};
    for (Amount part = 1; part < draft_.multiplicity(batch); part *= 2) {
      parts.push_back(draft_.split(batch, part));
    }
    for (const int part : parts) {
      batches.insert(std::ranges::lower_bound(batches, part, larger()), part);
    }
  }

  Draft& draft_;
  NodeId node_;
  Rule rule_;
  std::span<const int> arcs_;
  std::vector<std::vector<int>> on_;  // the batches on each in-arc, large ones first
  std::vector<Step> steps_;
};

}  // namespace

bool repair(Draft& draft, NodeId node, const Rule& rule) {
  if (!draft.is_overloaded(node)) return true;
  return NodeRepair(draft, node, rule).run();
}

bool repair(Draft& draft, int max_height, Progress& progress) {
  using enum Rule::Change;
  const NodeId nodes = draft.num_nodes();
  std::vector<NodeId> unsettled;
  for (NodeId v = 0; v < nodes; ++v) {
    if (draft.is_overloaded(v)) unsettled.push_back(v);
  }
  for (const bool may_split : {false, true}) {
    for (const auto change : {kNotDeeper, kLeaves, kAny}) {
      std::erase_if(unsettled, [&](NodeId v) {
        progress(nodes - static_cast<NodeId>(unsettled.size()), nodes);
        return repair(draft, v, {change, max_height, may_split});
      });
    }
  }
  return unsettled.empty();
}

}  // namespace forestcoll
