// Event simulation of transfers in pipeline chunks over links that carry one at a time, first come,
// first served.
//
// As in fair_shares.hpp, but a link serves one pipeline chunk after the other, in the order of
// arrival. Chunks that arrive at once are served in the order of their numbers. A pipeline chunk
// comes to the next link of its path when it can pass it without gaps from then on. That is when
// its first byte arrives; if the next link is faster, it is so late that both links end together.
// Switches store chunks that have to wait.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

// `of_stream` is by transfer here. Throws Infeasible as fair_shares does.
Finish first_come(const Transfers& transfers, const Setting& setting, Progress progress = {});

}  // namespace forestcoll
