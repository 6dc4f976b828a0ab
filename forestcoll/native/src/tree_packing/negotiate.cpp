// Repairs settle one node at a time; the remaining overload needs changes at several. So the trees
// on overloaded arcs are taken out and grown anew around the congestion, and the nodes are repaired
// again. An arc that stays overloaded gets dearer from round to round. So trees that can avoid it
// give way to those that cannot.
//
// Repairs can move a few trees on every link, but not a large part of them. If regrown trees are
// far off, they are too shallow, and their repair would waste time. The same holds if no tree
// changed in regrowth. If each round helps only a little, a budget of steps ends it.
#include "forestcoll/tree_packing/negotiate.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "forestcoll/tree_packing/prim.hpp"
#include "forestcoll/tree_packing/repair.hpp"

namespace forestcoll {

namespace {

bool uses_overloaded_arc(const PartialPacking& packing, int batch) {
  for (NodeId v = 0; v < packing.num_nodes(); ++v) {
    if (const int arc = packing.via(batch, v); arc >= 0 && packing.left(arc) < 0) return true;
  }
  return false;
}

// The part of the tree edges that repairs can place elsewhere.
Amount repairable(const PartialPacking& packing, Amount edges) {
  // Trees that have not been split yet may overload many links all the same.
  if (packing.num_batches() <= packing.num_nodes()) return edges / 2;
  // Those that have been split as far as possible must fit as they are.
  return edges / (packing.is_shattered() ? 64 : 16);
}

std::vector<int> arcs_of(const PartialPacking& packing, int batch) {
  std::vector<int> arcs;
  for (NodeId v = 0; v < packing.num_nodes(); ++v) arcs.push_back(packing.via(batch, v));
  return arcs;
}

// The order of the batches: from number 0 on, or from some other one on, every second round
// backwards.
std::vector<int> order_of(int batches, int turn, int round) {
  constexpr std::uint32_t kScatter = 0x9E3779B9;
  std::vector<int> order(static_cast<std::size_t>(batches));
  std::iota(order.begin(), order.end(), 0);
  if (turn == 0 || batches == 0) return order;
  const auto at = static_cast<std::uint32_t>(turn + 1) * static_cast<std::uint32_t>(round + 1);
  std::ranges::rotate(order, order.begin() + at * kScatter % static_cast<std::uint32_t>(batches));
  if (round % 2 != 0) std::ranges::reverse(order);
  return order;
}

// Grows the trees on overloaded arcs anew; false if none of them changed.
bool regrow(PartialPacking& packing, Prim& prim, int max_depth, const std::vector<int>& order,
            Progress& progress) {
  for (int arc = 0; arc < packing.graph().arcs.count(); ++arc) {
    if (packing.left(arc) < 0) prim.add_surcharge(arc);
  }
  bool differs = false;
  std::int64_t done = 0;
  for (const int batch : order) {
    progress(done++, packing.num_batches());
    if (packing.multiplicity(batch) == 0 || !uses_overloaded_arc(packing, batch)) continue;
    const std::vector<int> before = arcs_of(packing, batch);
    prim.grow(batch, max_depth);
    differs = differs || arcs_of(packing, batch) != before;
  }
  return differs;
}

}  // namespace

bool is_far_off(const PartialPacking& packing) {
  if (packing.is_small()) return false;
  Amount edges = 0;
  for (int arc = 0; arc < packing.graph().arcs.count(); ++arc) {
    edges += packing.arc(arc).capacity - packing.left(arc);
  }
  return packing.overload() > repairable(packing, edges);
}

bool negotiate(PartialPacking& packing, int max_depth, int rounds, Progress& progress, int turn) {
  if (!is_far_off(packing) && repair(packing, max_depth, progress)) return true;
  if (packing.is_shattered() && is_far_off(packing)) return false;
  Prim prim(packing);
  for (int round = 0; round < rounds && !packing.is_overspent(); ++round) {
    const std::vector<int> order = order_of(packing.num_batches(), turn, round);
    if (!regrow(packing, prim, max_depth, order, progress)) continue;
    if (is_far_off(packing)) return false;
    if (repair(packing, max_depth, progress)) return true;
  }
  return false;
}

}  // namespace forestcoll
