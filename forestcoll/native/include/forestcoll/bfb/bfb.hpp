// Breadth-first broadcast (BFB; Zhao et al., NSDI 2025, section 6): every node's data spreads along
// all shortest ways at once. In step t a node gets the data of all that are t hops away, from those
// of its neighbours that are t - 1 hops away; who sends how much is balanced over its links, for
// each node and step by itself (LP (1), with latencies LP (14)).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/bfb/job_balance.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Links with bandwidths, each with a delay in the unit of `size / capacity`: a link works off
// capacity * (T - delay) of size * (number of shards) by the time T.
struct BroadcastNetwork {
  Graph graph;
  std::vector<Amount> delay;  // by arc
  Amount size = 1;            // of a shard
};

// The nodes to balance, and how what is found for them carries over: the symmetry `image`, a row of
// one node each, takes node x of representative[u]'s solution to image[u * N + x] of u's. Where a
// node is its own representative its row is not read; without an image all are.
struct Symmetry {
  NodeMap<NodeId> representative;
  std::span<const NodeId> image;  // the caller's
};

// For each node that is its own representative, in order, the least time of every step: those of a
// node whose farthest source is near are filled up with 0.
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

// Every shard cut into so many equal pieces, none of which is divided.
Broadcast broadcast(const BroadcastNetwork& network, const Symmetry& symmetry, Amount pieces,
                    Progress progress = {}, int threads = 1);

}  // namespace forestcoll
