// Repairs settle one node at a time; what they leave overloaded needs changes at several. So the
// trees on overloaded arcs are taken out and grown anew around the congestion, and the nodes are
// repaired again. An arc that stays overloaded gets dearer from round to round, so that the trees
// that can do without it give way to those that cannot.
//
// Repairs can move a few trees on every link, not a good part of them: where regrown trees are far
// off, they are too low, and no time is lost on their repair.
#include "negotiate.hpp"

#include <algorithm>

#include "prim.hpp"
#include "repair.hpp"

namespace forestcoll {

namespace {

bool uses_overloaded_arc(const Draft& draft, int batch) {
  for (NodeId v = 0; v < draft.num_nodes(); ++v) {
    if (const int arc = draft.via(batch, v); arc >= 0 && draft.left(arc) < 0) return true;
  }
  return false;
}

}  // namespace

bool is_far_off(const Draft& draft) {
  if (draft.is_small()) return false;
  // Trees that have not been split yet may overload many links all the same.
  const Amount part = draft.num_batches() <= draft.num_nodes() ? 2 : 16;
  Amount edges = 0;
  for (int arc = 0; arc < static_cast<int>(draft.graph().arcs.size()); ++arc) {
    edges += draft.arc(arc).capacity - draft.left(arc);
  }
  return draft.overload() > edges / part;
}

bool negotiate(Draft& draft, int max_height, int rounds, Progress& progress) {
  if (!is_far_off(draft) && repair(draft, max_height, progress)) return true;
  Prim prim(draft);
  const auto arcs = static_cast<int>(draft.graph().arcs.size());
  for (int round = 0; round < rounds; ++round) {
    for (int arc = 0; arc < arcs; ++arc) {
      if (draft.left(arc) < 0) prim.add_surcharge(arc);
    }
    for (int batch = 0; batch < draft.num_batches(); ++batch) {
      progress(batch, draft.num_batches());
      if (draft.multiplicity(batch) == 0 || !uses_overloaded_arc(draft, batch)) continue;
      prim.grow(batch, max_height);
    }
    if (is_far_off(draft)) return false;
    if (repair(draft, max_height, progress)) return true;
  }
  return false;
}

}  // namespace forestcoll
