// Trials by hand, and properties of all of them.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "baselines/tacos/tacos.hpp"
#include "forestcoll/common/errors.hpp"
#include "seeded.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace tacos_tests {

// 0 -> 1 -> 2 and back, two ticks each: the chunks of both ends are at the other end by 4.
void a_line_by_hand() {
  const MatchingNetwork line{3, 1, {{{0, 1, 2}, {1, 2, 2}, {2, 1, 2}, {1, 0, 2}}}};
  const Transfers done = match_chunks(line, true, seeded(1));
  CHECK((done.link == std::vector<std::int32_t>{0, 1, 2, 3, 1, 3}));
  CHECK((done.chunk == std::vector<std::int32_t>{0, 1, 2, 1, 0, 2}));
  CHECK((done.start == std::vector<Amount>{0, 0, 0, 0, 2, 2}));
}

void what_cannot_be_reached_is_left() {
  const MatchingNetwork network{2, 2, {{{0, 1, 1}}}};
  CHECK(match_chunks(network, true, seeded(1)).chunk.size() == 2);
}

// Random links with different times, and a ring so that every GPU reaches every other.
MatchingNetwork random_network(Random& random) {
  MatchingNetwork network{
      static_cast<int>(between(random, 2, 9)), static_cast<int>(between(random, 1, 9)), {}};
  for (int gpu = 0; gpu < network.gpus; ++gpu) {
    network.links.push_back({gpu, (gpu + 1) % network.gpus, between(random, 1, 7)});
  }
  for (std::int64_t more = between(random, 0, 20); more > 0; --more) {
    const auto gpu = [&] { return static_cast<int>(between(random, 0, network.gpus - 1)); };
    network.links.push_back({gpu(), gpu(), between(random, 1, 30)});
  }
  return network;
}

// Each chunk reaches each GPU once, from one that has it, over links that carry one at a time.
void chunks_arrive_once_and_from_where_they_are() {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const MatchingNetwork network = random_network(random);
    const Transfers done = match_chunks(network, round % 2 == 0, seeded(9));
    std::map<std::pair<int, int>, Amount> arrival;  // of a chunk, at a GPU
    std::map<int, Amount> free_from;                // of a link
    for (int chunk = 0; chunk < network.gpus * network.chunks; ++chunk) {
      arrival[{chunk, chunk / network.chunks}] = 0;
    }
    for (std::size_t i = 0; i < done.chunk.size(); ++i) {
      const TimedLink& link = network.links[done.link[i]];
      const auto sender = arrival.find({done.chunk[i], link.tail});
      CHECK(sender != arrival.end() && sender->second <= done.start[i]);
      CHECK(free_from[done.link[i]] <= done.start[i]);
      free_from[done.link[i]] = done.start[i] + link.ticks;
      CHECK(
          arrival.emplace(std::pair(done.chunk[i], link.head), done.start[i] + link.ticks).second);
    }
    CHECK(arrival.size() == static_cast<std::size_t>(network.gpus * network.gpus * network.chunks));
  }
}

void a_report_may_stop_it() {
  struct Stop {};
  const MatchingNetwork ring{2, 1, {{{0, 1, 1}, {1, 0, 1}}}};
  Progress progress([](std::int64_t, std::int64_t) { throw Stop(); });
  CHECK_THROWS(Stop, match_chunks(ring, true, seeded(1), progress));
}

void what_makes_no_sense_is_refused() {
  const auto tried = [](MatchingNetwork network) { return match_chunks(network, true, seeded(1)); };
  CHECK_THROWS(InvalidInput, tried({0, 1, {}}));
  CHECK_THROWS(InvalidInput, tried({2, 0, {}}));
  CHECK_THROWS(InvalidInput, tried({2, 1, {{{0, 2, 1}}}}));
  CHECK_THROWS(InvalidInput, tried({2, 1, {{{-1, 0, 1}}}}));
  CHECK_THROWS(InvalidInput, tried({2, 1, {{{0, 1, 0}}}}));
  CHECK_THROWS(CapacityOverflow, tried({1 << 20, 1 << 20, {}}));
  CHECK_THROWS(CapacityOverflow, tried({2, 1, {{{0, 1, std::numeric_limits<Amount>::max()}}}}));
}

}  // namespace tacos_tests

TESTS(tacos) {
  a_line_by_hand();
  what_cannot_be_reached_is_left();
  chunks_arrive_once_and_from_where_they_are();
  a_report_may_stop_it();
  what_makes_no_sense_is_refused();
}
