// One random trial of TACOS (Won et al., MICRO 2024): every GPU is to get the chunks of all others.
// Links take a fixed time for a chunk.
//
// Time jumps from one arrival to the next. At each, every GPU that may have something new to get
// assigns chunks to the free links into it (see `assignment.hpp`). A chunk in flight counts as
// lacking, so another link may start to carry it too. The second copy is swapped for a random chunk
// that is still lacking and that the tail had at the start. If there is none, the copy is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

struct TimedLink {
  int tail, head;  // GPUs
  Amount ticks;
};

struct MatchingNetwork {
  int gpus = 0;
  int chunks = 0;  // of each GPU; those of GPU v are v * chunks and following
  IndexedVector<TimedLink> links;
};

// The transfers that brought chunks to GPUs that lacked them, in the order of arrival; links by
// index.
struct Transfers {
  std::vector<std::int32_t> chunk, link;
  std::vector<Amount> start;
};

// All N (N - 1) C transfers, or fewer if links do not lead from every GPU to every other.
//
// `words` are those of a generator that was just seeded (see `python_random.hpp`). Cost: for each
// transfer and each look at a GPU, some operations on sets of N C bits for each free link into it.
//
// Throws InvalidInput unless the parts are consistent, CapacityOverflow if times do not fit.
Transfers match_chunks(const MatchingNetwork& network, bool maximum,
                       const std::vector<std::uint32_t>& words, Progress progress = {});

}  // namespace forestcoll::baselines
