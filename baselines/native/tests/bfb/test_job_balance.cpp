// The least time is that of the tightest set of links; whole pieces take the next time that fits.
#include <algorithm>
#include <vector>

#include "baselines/bfb/job_balance.hpp"
#include "forestcoll/common/errors.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace job_balance_tests {

struct Instance {
  std::vector<JobKind> kinds;
  std::vector<JobLink> links;
  Amount size;
};

Instance random_instance(Random& random, bool delayed) {
  Instance instance;
  instance.size = delayed ? between(random, 1, 5) : 1;
  const Amount links = between(random, 1, 5);
  for (Amount i = 0; i < links; ++i) {
    instance.links.push_back({between(random, 1, 3), delayed ? between(random, 0, 6) : 0});
  }
  for (Amount i = between(random, 1, 6); i > 0; --i) {
    JobKind kind{between(random, 1, 4), {}};
    for (int link = 0; link < links; ++link) {
      if (between(random, 0, 1) == 1) kind.links.push_back(link);
    }
    if (kind.links.empty()) kind.links.push_back(0);
    instance.kinds.push_back(kind);
  }
  return instance;
}

// Whether every set of links has room for the jobs that can use no others (Hall).
template <typename Room>
bool fits(const Instance& instance, Amount job, const Room& room) {
  const auto links = static_cast<unsigned>(instance.links.size());
  for (unsigned set = 1; set < 1U << links; ++set) {
    Amount amount = 0, have = 0;
    for (const JobKind& kind : instance.kinds) {
      const bool inside = std::ranges::all_of(kind.links, [&](int l) { return set >> l & 1U; });
      if (inside) amount += kind.count * job;
    }
    for (unsigned link = 0; link < links; ++link) {
      if (set >> link & 1U) have += room(instance.links[link]);
    }
    if (amount > have) return false;
  }
  return true;
}

// Changes a time by units of 1 / (time.denominator * 2 * 60), to ask for slightly less.
bool fits_in(const Instance& instance, Amount numerator, Amount denominator) {
  return fits(instance, instance.size * denominator, [&](const JobLink& link) {
    return std::max<Amount>(0, numerator - link.delay * denominator) * link.rate;
  });
}

void the_least_time_fits_and_nothing_less_does() {
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    const Instance instance = random_instance(random, round % 2 == 1);
    const Time time = least_time(instance.kinds, instance.links, instance.size);
    CHECK(fits_in(instance, time.numerator, time.denominator));
    CHECK(!fits_in(instance, time.numerator * 1000 - 1, time.denominator * 1000));
  }
}

bool pieces_fit_in(const Instance& instance, const Time& time, Amount pieces) {
  return fits(instance, pieces, [&](const JobLink& link) {
    const Amount busy = time.numerator - link.delay * time.denominator;
    return busy <= 0 ? 0 : busy * link.rate * pieces / (time.denominator * instance.size);
  });
}

// Every time at which a link finishes a piece, up to the given one.
std::vector<Time> finishing_times(const Instance& instance, Amount pieces, const Time& last) {
  std::vector<Time> times;
  for (const JobLink& link : instance.links) {
    for (Amount done = 1;; ++done) {
      const Time time{link.rate * pieces * link.delay + done * instance.size, link.rate * pieces};
      if (!(time < last)) break;
      times.push_back(time);
    }
  }
  return times;
}

void whole_pieces_take_the_least_time_in_which_they_fit() {
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    const Instance instance = random_instance(random, round % 2 == 1);
    const Amount pieces = between(random, 1, 4);
    const JobShares found = share_in_pieces(instance.kinds, instance.links, instance.size, pieces);
    CHECK(pieces_fit_in(instance, found.time, pieces));
    for (const Time& sooner : finishing_times(instance, pieces, found.time)) {
      CHECK(!pieces_fit_in(instance, sooner, pieces));
    }
    std::vector<Amount> load(instance.links.size(), 0);
    for (std::size_t kind = 0; kind < instance.kinds.size(); ++kind) {
      Amount shared = 0;
      for (std::size_t slot = 0; slot < found.share[kind].size(); ++slot) {
        CHECK(found.share[kind][slot] >= 0);
        shared += found.share[kind][slot];
        load[static_cast<std::size_t>(instance.kinds[kind].links[slot])] += found.share[kind][slot];
      }
      CHECK(shared == instance.kinds[kind].count * pieces);
    }
    for (std::size_t link = 0; link < load.size(); ++link) {
      const auto& [rate, delay] = instance.links[link];
      const Amount busy = found.time.numerator - delay * found.time.denominator;
      CHECK(load[link] == 0 ||
            load[link] * found.time.denominator * instance.size <= busy * rate * pieces);
    }
  }
}

void two_examples_of_the_paper() {
  // Figure 5: two sources over two links, one of which serves both; then over three links.
  const std::vector<JobLink> two{{1, 0}, {1, 0}}, three{{1, 0}, {1, 0}, {1, 0}};
  const std::vector<JobKind> first{{1, {0, 1}}, {1, {1}}}, second{{1, {0, 1}}, {1, {1, 2}}};
  CHECK((least_time(first, two, 1) == Time{1, 1}));
  CHECK((least_time(second, three, 1) == Time{2, 3}));
}

void a_link_whose_latency_is_longer_than_all_the_work_stays_idle() {
  const std::vector<JobKind> kinds{{2, {0, 1}}};
  CHECK((least_time(kinds, std::vector<JobLink>{{1, 0}, {1, 7}}, 1) == Time{2, 1}));
  CHECK((least_time(kinds, std::vector<JobLink>{{1, 0}, {1, 1}}, 1) == Time{3, 2}));
}

void refuses_what_it_cannot_hold() {
  const Amount huge = Amount{1} << 61;
  const std::vector<JobKind> kinds{{3, {0}}};
  const std::vector<JobLink> links{{3, huge}};
  CHECK_THROWS(CapacityOverflow, least_time(kinds, links, huge));
}

}  // namespace job_balance_tests

TESTS(job_balance) {
  the_least_time_fits_and_nothing_less_does();
  whole_pieces_take_the_least_time_in_which_they_fit();
  two_examples_of_the_paper();
  a_link_whose_latency_is_longer_than_all_the_work_stays_idle();
  refuses_what_it_cannot_hold();
}
