// Balances equal jobs over links (Zhao et al., NSDI 2025, LP (1) and (14), Theorem 19). Each job
// may be split over the links that it can use, and all links shall finish early.
//
// Jobs that can use the same links are one kind. The least time is that of the tightest set of
// kinds. Flows find it by Dinkelbach's method: each violated set gives the next guess. So it is an
// exact fraction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

struct JobKind {
  Amount count;
  std::vector<int> links;  // that its jobs can use, at least one
};

// Works off `rate` units a time once `delay` is over. The delay counts only if the link is used.
struct JobLink {
  Amount rate;
  Amount delay;
};

// A fraction in lowest terms, not negative.
struct Time {
  Amount numerator = 0;
  Amount denominator = 1;

  bool operator==(const Time&) const = default;
};

bool operator<(const Time& a, const Time& b);

// The least time in which the links work off all jobs of so many units each, divided at will.
//
// Throws CapacityOverflow if exact arithmetic cannot hold the numbers.
Time least_time(std::span<const JobKind> kinds, std::span<const JobLink> links, Amount size);

// The share of each link in each kind when every job is cut into `pieces` equal pieces.
struct JobShares {
  Time time;                               // the least in which whole pieces can be worked off
  std::vector<std::vector<Amount>> share;  // pieces, by kind and place among the kind's links
};
JobShares share_in_pieces(std::span<const JobKind> kinds, std::span<const JobLink> links,
                          Amount size, Amount pieces);

}  // namespace forestcoll::baselines
