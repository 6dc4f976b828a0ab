#include "forestcoll/bounded_depth/prices.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace forestcoll {

namespace {

constexpr Amount kOverfull = 16;  // price of a tree above the limit, and its rise in each round
constexpr Amount kWide = 64;      // price of a link of median capacity; a narrow one's is more
constexpr Amount kNarrow = 4096;

}  // namespace

Prices::Prices(const LowNetwork& network, const TreeState& state)
    : network_(network),
      state_(state),
      worth_(network.graph->arcs.count(), 1),
      room_(network.graph->arcs.count(), 0),
      dear_(network.graph->arcs.count(), kOverfull) {
  value_links();
}

void Prices::value_links() {
  const auto& arcs = network_.graph->arcs;
  std::vector<Amount> capacity;
  for (const Arc& arc : arcs) capacity.push_back(arc.capacity);
  // Relative to the median capacity, prices do not depend on the unit of capacities.
  const auto middle = capacity.begin() + static_cast<std::ptrdiff_t>(capacity.size() / 2);
  if (capacity.empty()) return;
  std::nth_element(capacity.begin(), middle, capacity.end());
  for (int a = 0; a < arcs.count(); ++a) {
    const auto worth = static_cast<Wide>(kWide) * *middle / std::max<Amount>(arcs[a].capacity, 1);
    worth_[a] = static_cast<Amount>(std::clamp<Wide>(worth, 1, kNarrow));
  }
}

void Prices::aim_at(const Congestion& congestion) {
  const auto& arcs = network_.graph->arcs;
  for (int a = 0; a < arcs.count(); ++a) room_[a] = congestion.carried_by(arcs[a].capacity);
  dear_.assign(arcs.count(), kOverfull);
}

void Prices::raise() {
  for (int arc = 0; arc < dear_.count(); ++arc) {
    if (overfull(arc, 0) > 0) dear_[arc] += kOverfull;
  }
}

Amount Prices::all_overfull() const {
  Amount sum = 0;
  for (int arc = 0; arc < room_.count(); ++arc) sum += overfull(arc, 0);
  return sum;
}

}  // namespace forestcoll
