// MultiTree's trees (Huang et al., ISCA 2021): one from every GPU, all grown together, step by
// step. In a step every arc has as many units as its capacity. The trees take turns, an edge each:
// the first port of a GPU that joined before this step, over which a GPU not yet in the tree can be
// reached, sends to the first of those; the edge takes one unit of each arc of its path. A step
// ends when no tree can grow.
//
// GPUs go by their place in `gpus` here, which is the order in which they are preferred.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/multitree/ports.hpp"
#include "forestcoll/multitree/used_paths.hpp"

namespace forestcoll {

struct GroveRules {
  PortOrder ports;
  bool onward = false;  // the first GPU after the sender, round and round, or the first of all
};

// A row of parents for each tree, -1 at the root and, where a tree cannot grow any more, at the
// GPUs that it has not reached; by ranks, a GPU's place by position, as are the paths.
struct Grown {
  int steps = 0;
  std::vector<NodeId> parent;
  PathArrays paths;
};

// Cost: N^2 turns, each of a few operations on rows of N / 64 words; besides, in each step, a look
// at the units of those ports of each tree before the one it sends over (see `port_queues.hpp`).
//
// Throws InvalidInput unless the parts of the network make sense together.
Grown grow(const GroveNetwork& network, const GroveRules& rules, Progress progress = {});

}  // namespace forestcoll
