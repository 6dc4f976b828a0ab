// The closed form of a simulation that goes round by round.
//
// If all that flows at once has one level (fair_shares.hpp), all of it ends at once, and what needs
// it starts at once: pipeline chunk p of a stream at depth d is under way in round p + d, no matter which.
// Then a round takes the latency and max load / rate of what is in it, and no events are needed. It
// is so in rings, in trees over equal links, wherever steps load all of their links alike; and by
// force in lockstep, where d is the step.
#pragma once

#include <optional>

#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/streams.hpp"

namespace forestcoll {

// The seconds that fair_shares takes, without its ticks; none if the streams do not go in rounds.
std::optional<double> in_rounds(const Streams& streams, const Setting& setting);

}  // namespace forestcoll
