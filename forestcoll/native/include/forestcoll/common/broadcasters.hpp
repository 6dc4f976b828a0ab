// Trees through broadcasters: the root sends to a node, the broadcaster, which sends to all others.
// A root can be its own broadcaster.
//
// Where one switch joins n nodes, such trees suffice, however unequal its ports are. A node that
// sends a and roots q trees can be the broadcaster of (a - q) / (n - 2) trees, and any assignment
// of roots to broadcasters in these numbers loads a port equally. The few trees that the division
// leaves over have several broadcasters, each of which serves some of the nodes. Source: Mutualcast
// (Li, Chou, Zhang, 2005), which has a single root.
#pragma once

#include <span>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Equal trees. A broadcaster sends to so many nodes; the root sends to one more. The sum is n - 2.
struct BroadcastTrees {
  struct Share {
    NodeId broadcaster;
    Amount sends;

    bool operator==(const Share&) const = default;
  };

  NodeId root;
  Amount multiplicity;
  std::vector<Share> shares;

  bool operator==(const BroadcastTrees&) const = default;
};

// Assigns all trees to broadcasters, each root to itself as far as possible. Nothing if the nodes
// do not send enough. Those with several broadcasters come last.
std::vector<BroadcastTrees> assign_broadcasters(std::span<const Amount> sent,
                                                std::span<const Amount> trees);

// The parent of each node; -1 at the root.
NodeMap<NodeId> parents_of(const BroadcastTrees& trees, NodeId nodes);

}  // namespace forestcoll
