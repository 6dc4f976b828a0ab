// Breadth-first broadcast (BFB; Zhao et al., NSDI 2025, section 6): every node's data spreads along
// all shortest paths at once.
//
// In step t a node gets the data of all nodes at distance t, from its neighbours at distance t - 1
// of them. The shares of its links are balanced for each node and step separately (LP (1), with
// latencies LP (14)).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/bfb/job_balance.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

// Links with bandwidths, each with a delay in the unit of `size / capacity`. By the time T a link
// has worked off capacity * (T - delay) of size * (number of shards).
struct BroadcastNetwork {
  Graph graph;
  std::vector<Amount> delay;  // by arc
  Amount size = 1;            // of a shard
};

// The nodes to balance, and the symmetries that carry their solutions to others. The row of `image`
// for node u maps node x of representative[u]'s solution to image[u * N + x] of u's. The row of a
// node that is its own representative is not read. Without an image every node represents itself.
struct Symmetry {
  NodeMap<NodeId> representative;
  std::span<const NodeId> image;  // the caller's
};

// For each node that is its own representative, in order, the least time of every step. A node
// whose farthest source is near has 0 in the remaining steps.
//
// Throws Disconnected if a node cannot be reached.
struct BroadcastTimes {
  int steps = 0;
  std::vector<NodeId> node;
  std::vector<Time> time;  // a row of `steps` for each
};
BroadcastTimes broadcast_times(const BroadcastNetwork& network, const Symmetry& symmetry,
                               Progress progress = {}, int threads = 1);

// Transfers, sorted by (step, source, tail, head): `amount` pieces of the source's shard from
// `first` on. These two are empty if shards are not cut.
struct Broadcast {
  std::vector<std::int32_t> step;
  std::vector<NodeId> source, tail, head;
  std::vector<Amount> first, amount;
};

// The broadcast with every shard cut into so many equal, undivided pieces.
Broadcast broadcast(const BroadcastNetwork& network, const Symmetry& symmetry, Amount pieces,
                    Progress progress = {}, int threads = 1);

}  // namespace forestcoll::baselines
