// Classes of transfers: transfers that no simulation by fair shares can distinguish are simulated
// as one.
//
// The classes are the coarsest *equitable* partition of transfers and resources. Transfers of one
// class move equal amounts in the same step, with the same priority. Their paths have the same
// latency and resources of the same classes. They depend on transfers of the same classes.
// Resources of one class have the same rate, and equally many transfers of each class use them.
// Max-min fair rates are unique, so they respect every such partition. By induction over the
// moments at which rates change, all transfers of a class start, flow and end alike.
//
// Found by colour refinement. Transfers in their order are coloured by what they depend on and use,
// then resources by the transfers that use them, until no colour splits any more. Colours are
// hashes of 128 bits.
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

// Every transfer and every resource in a class of its own.
Classes each_by_itself(const Transfers& transfers);

}  // namespace forestcoll
