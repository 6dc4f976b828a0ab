// MultiTree's trees (Huang et al., ISCA 2021): one from every GPU, all grown together, step by
// step.
//
// In a step every arc has as many units as its capacity. The trees take turns, an edge each. The
// first port of a GPU that joined before this step, and that reaches a GPU not yet in the tree,
// sends to the first such GPU. The edge takes one unit of each arc of its path. A step ends when no
// tree can grow.
//
// GPUs are numbered here by their place in `gpus`, the order of preference.
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/multitree/ports.hpp"
#include "baselines/multitree/used_paths.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

struct GroveRules {
  PortOrder ports;
  bool onward = false;  // whether the first GPU after the sender is taken, with wrap-around,
                        // instead of the first of all
};

// A row of parents for each tree: -1 at the root, and at GPUs that the tree cannot reach. Parents
// and paths are given by ranks, a GPU's place by position.
struct Grown {
  int steps = 0;
  std::vector<NodeId> parent;
  PathArrays paths;
};

// Cost: N^2 turns, each of a few operations on rows of N / 64 words. In addition, each step looks
// at the units of those ports of each tree before the one it sends over (see `port_queues.hpp`).
//
// Throws InvalidInput unless the parts of the network are consistent.
Grown grow(const GroveNetwork& network, const GroveRules& rules, Progress progress = {});

}  // namespace forestcoll::baselines
