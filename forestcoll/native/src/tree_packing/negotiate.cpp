// Repairs settle one node at a time; what they leave overloaded needs changes at several. So the
// trees on overloaded arcs are taken out and grown anew around the congestion, and the nodes are
// repaired again. An arc that stays overloaded gets dearer from round to round, so that the trees
// that can do without it give way to those that cannot.
//
// Repairs can move a few trees on every link, not a good part of them: where regrown trees are far
// off, they are too low, and no time is lost on their repair. Nor is it where none was regrown in
// another way than before. Where each round helps a little, a budget of steps ends it.
#include "forestcoll/tree_packing/negotiate.hpp"

#include <algorithm>

#include "forestcoll/tree_packing/prim.hpp"
#include "forestcoll/tree_packing/repair.hpp"

namespace forestcoll {

namespace {

bool uses_overloaded_arc(const Draft& draft, int batch) {
  for (NodeId v = 0; v < draft.num_nodes(); ++v) {
    if (const int arc = draft.via(batch, v); arc >= 0 && draft.left(arc) < 0) return true;
  }
  return false;
}

// The part of the tree edges that repairs can find a place for.
Amount repairable(const Draft& draft, Amount edges) {
  // Trees that have not been split yet may overload many links all the same.
  if (draft.num_batches() <= draft.num_nodes()) return edges / 2;
  // Those that have been split as far as they may must fit as they are.
  return edges / (draft.is_shattered() ? 64 : 16);
}

std::vector<int> arcs_of(const Draft& draft, int batch) {
  std::vector<int> arcs;
  for (NodeId v = 0; v < draft.num_nodes(); ++v) arcs.push_back(draft.via(batch, v));
  return arcs;
}

// Grows the trees on overloaded arcs anew; false if they come out as they were.
bool regrow(Draft& draft, Prim& prim, int max_height, Progress& progress) {
  for (int arc = 0; arc < static_cast<int>(draft.graph().arcs.size()); ++arc) {
    if (draft.left(arc) < 0) prim.add_surcharge(arc);
  }
  bool differs = false;
  for (int batch = 0; batch < draft.num_batches(); ++batch) {
    progress(batch, draft.num_batches());
    if (draft.multiplicity(batch) == 0 || !uses_overloaded_arc(draft, batch)) continue;
    const std::vector<int> before = arcs_of(draft, batch);
    prim.grow(batch, max_height);
    differs = differs || arcs_of(draft, batch) != before;
  }
  return differs;
}

}  // namespace

bool is_far_off(const Draft& draft) {
  if (draft.is_small()) return false;
  Amount edges = 0;
  for (int arc = 0; arc < static_cast<int>(draft.graph().arcs.size()); ++arc) {
    edges += draft.arc(arc).capacity - draft.left(arc);
  }
  return draft.overload() > repairable(draft, edges);
}

bool negotiate(Draft& draft, int max_height, int rounds, Progress& progress) {
  if (!is_far_off(draft) && repair(draft, max_height, progress)) return true;
  if (draft.is_shattered() && is_far_off(draft)) return false;
  Prim prim(draft);
  for (int round = 0; round < rounds && !draft.is_overspent(); ++round) {
    if (!regrow(draft, prim, max_height, progress)) continue;
    if (is_far_off(draft)) return false;
    if (repair(draft, max_height, progress)) return true;
  }
  return false;
}

}  // namespace forestcoll
