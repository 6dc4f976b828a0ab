// Transfers in pipeline chunks over links that carry one at a time, in the order in which they come.
//
// As in fair_shares.hpp, but a link serves one pipeline chunk after the other, first come, first served (in
// the order of their numbers where they come at once). A pipeline chunk comes to the next link of its way
// when it can go through it without gaps from then on: as soon as it comes in, or, if that link is
// faster, so late that it ends there as it has come in. Switches hold what has to wait.
#pragma once

#include "forestcoll/common/progress.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/transfers.hpp"

namespace forestcoll {

// `of_stream` is by transfer here. Throws Infeasible as fair_shares does.
Finish first_come(const Transfers& transfers, const Setting& setting, Progress progress = {});

}  // namespace forestcoll
