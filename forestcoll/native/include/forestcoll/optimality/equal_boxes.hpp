// Equal boxes: consecutive nodes that may change places with as many others.
//
// Without the nodes of most arcs, the switches between boxes, many clusters fall into runs of
// consecutive nodes, their boxes. Two boxes whose nodes, in order, have equal arcs and demands can
// be swapped: no arc joins them, as arcs lead into the own box or to the switches only. That is a
// symmetry by construction, found in one pass over the arcs. What holds for a target then holds
// for its counterpart in every equal box.
#pragma once

#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// The targets, without those of boxes that equal an earlier one. All of them where the nodes are
// no such boxes, or the arcs not sorted by (tail, head).
std::vector<NodeId> targets_of_unlike_boxes(const Graph& graph, const Demand& demand);

}  // namespace forestcoll
