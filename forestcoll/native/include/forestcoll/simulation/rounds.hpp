// The closed form of a simulation that goes round by round.
//
// If all chunks that flow at once have one level (fair_shares.hpp), they end at once, and the
// chunks that depend on them start at once. Pipeline chunk p of a stream at depth d is then in
// flight in round p + d, for every p, if one chunk of a stream is in flight at a time and all have
// one priority. A round takes the latency and max load / rate of its chunks,
// and no events are needed. This holds in rings, in trees over equal links, and wherever steps load
// all of their links alike. In lockstep it holds by definition, with d the step.
#pragma once

#include <optional>

#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/streams.hpp"

namespace forestcoll {

// The seconds that fair_shares takes, without its ticks; none if the streams do not go in rounds.
std::optional<double> in_rounds(const Streams& streams, const Setting& setting);

}  // namespace forestcoll
