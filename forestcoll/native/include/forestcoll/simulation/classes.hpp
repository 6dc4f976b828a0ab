// Transfers that no simulation by fair shares can tell apart, as one.
//
// The classes are those of the coarsest partition of transfers and resources that is *equitable*:
// transfers of one class move equal amounts, in the same step, over ways of the same latency and
// over resources of the same classes, and need transfers of the same classes; the resources of one
// class have the same rate, and equally many transfers of each class use them. By induction over
// the moments at which rates change, all transfers of a class start, flow and end alike: the rates
// of max-min fairness are unique, so they respect every such partition.
//
// Found by colour refinement: transfers in their order are coloured by what they need and use, then
// resources by what uses them, until no resource is told from another any more. Colours are hashes
// of 128 bits.
#pragma once

#include <cstdint>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

struct Classes {
  IndexedVector<std::int32_t> of_transfer, of_resource;
  IndexedVector<std::int32_t> transfer, resource;  // the first of each class
};

Classes classes_of(const Transfers& transfers, Progress progress = {});

// Every transfer and every resource by itself.
Classes each_by_itself(const Transfers& transfers);

}  // namespace forestcoll
