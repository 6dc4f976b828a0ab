// Lifting: the splits of a contracted set, made on the real links behind its contracted links.
#pragma once

#include <span>

#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/edge_splitting/links.hpp"
#include "forestcoll/tight_sets/contraction.hpp"

namespace forestcoll {

// Makes the splits of the switch `via`, given from item to item of a set, on real links. Adds the
// real splits to the links. `targets_of` counts the targets in each item, and outside. The links of
// a split carry whole batches of so many trees where possible.
void lift(std::span<const Split> splits, NodeId via, const Contraction& items,
          const IndexedVector<int>& targets_of, Amount batch, Links& links);

}  // namespace forestcoll
