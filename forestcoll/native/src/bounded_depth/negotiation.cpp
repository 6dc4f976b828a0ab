#include "forestcoll/bounded_depth/negotiation.hpp"

#include <utility>

namespace forestcoll {

namespace {

constexpr int kRounds = 200;   // rounds of one attempt
constexpr int kPatience = 12;  // rounds in which the overload does not fall by a 32nd
constexpr int kRegrow = 3;     // interval of rounds in which whole trees are grown anew

}  // namespace

bool Negotiation::attempt(const Congestion& congestion) {
  prices_.aim_at(congestion);
  Amount least = kFar;
  for (int round = 0, since = 0; round < kRounds && since < kPatience; ++round, ++since) {
    const Amount sum = prices_.all_overfull();
    if (sum == 0) return true;
    if (sum < least - least / 32) {
      since = 0;
      least = sum;
    }
    this->round(round % kRegrow == 0);
    if (is_spent()) break;
    prices_.raise();
  }
  return prices_.all_overfull() == 0;
}

// Ends early once the limit on examined links is reached.
void Negotiation::round(bool whole) {
  for (int batch = 0; batch < state_.batches(); ++batch) {
    progress_(parents_.looks(), limit_.looks);
    if (!relieve(batch, whole)) return;
  }
}

// Moves the nodes whose edges run over overfull links; false once the limit on examined links is
// reached.
bool Negotiation::relieve(int batch, bool whole) {
  bool measured = false;
  for (int v = 0; v < state_.size(); ++v) {
    if (v == state_.root(batch) || !prices_.is_overfull(state_.path(batch, v))) continue;
    if (!std::exchange(measured, true)) {
      if (whole) growth_.regrow(batch);
      state_.measure(batch);
      parents_.uplinks().forget();
      if (!prices_.is_overfull(state_.path(batch, v))) continue;
    }
    if (!reattach(batch, v)) continue;
    state_.measure(batch);
    if (is_spent()) return false;
  }
  return true;
}

// Moves a node to a cheaper parent; false if there is none.
bool Negotiation::reattach(int batch, int v) {
  const Amount trees = state_.trees(batch);
  const int parent = state_.parent(batch, v), path = state_.path(batch, v);
  const int deepest = limit_.tree_depth - 1 - state_.below(v);
  state_.detach(batch, v);
  const Amount paid = prices_.price_of(path, trees);
  Offer offer = parents_.cheapest_within(v, trees, deepest);
  // The cached search ignores subtrees: its parent may be below v, which would close a cycle. Only
  // then is the slower, exact search needed.
  if (offer.price < paid && state_.below(v) > 0 && state_.is_below(batch, offer.parent, v)) {
    offer = parents_.cheapest(v, trees, [&](int u) {
      return state_.depth(u) <= deepest && !state_.is_below(batch, u, v);
    });
  }
  if (offer.price >= paid) {
    state_.attach(batch, v, parent, path);
    return false;
  }
  parents_.attach(batch, v, offer);
  parents_.uplinks().forget();  // depths have changed, of v and below it
  return true;
}

}  // namespace forestcoll
