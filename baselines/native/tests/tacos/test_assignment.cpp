// Assignments by hand, and compared with the largest possible.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "baselines/tacos/assignment.hpp"
#include "seeded.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace assignment_tests {

struct Free {
  std::vector<Word> has;  // one word a link
  std::vector<Amount> ticks;
  Word lacks;
};

std::vector<Given> assign(Assignment& assignment, const Free& free, PythonRandom& random) {
  std::vector<const Word*> rows;
  for (const Word& has : free.has) rows.push_back(&has);
  return assignment.assign(rows, free.ticks, {&free.lacks, 1}, random);
}

// The bits of two words, drawn 3000 times: each about equally often.
void chunks_are_drawn_alike() {
  PythonRandom random(seeded(3));
  const std::array<Word, 2> chunks{Word{1} << 63 | 1, 1 << 5};
  std::array<int, 128> times{};
  for (int round = 0; round < 3000; ++round) {
    ++times[static_cast<std::size_t>(draw(chunks, random))];
  }
  for (const std::size_t chunk : {0, 63, 69}) CHECK(900 < times[chunk] && times[chunk] < 1100);
  CHECK(times[0] + times[63] + times[69] == 3000);
}

// Link 0 has chunk 0, link 1 has both. If link 1 gets chunk 0, a maximum assignment still gives it
// chunk 1.
void a_maximum_leaves_no_link_idle() {
  PythonRandom random(seeded(4));
  std::set<std::size_t> greedy;
  for (int round = 0; round < 50; ++round) {
    Assignment taken(1, false), most(1, true);
    greedy.insert(assign(taken, {{0b01, 0b11}, {1, 1}, 0b11}, random).size());
    CHECK(assign(most, {{0b01, 0b11}, {1, 1}, 0b11}, random).size() == 2);
    CHECK(!most.is_left(0) && !most.is_left(1) && !most.offers_more());
  }
  CHECK((greedy == std::set<std::size_t>{1, 2}));
}

// Always the quicker of two links. The other could only bring the same chunk.
void a_chunk_takes_the_quickest_link() {
  PythonRandom random(seeded(5));
  Assignment assignment(1, true);
  for (int round = 0; round < 20; ++round) {
    const auto given = assign(assignment, {{0b1, 0b1}, {3, 2}, 0b1}, random);
    CHECK(given.size() == 1 && given[0].link == 1 && given[0].chunk == 0);
    CHECK(assignment.is_left(0) && assignment.offers_more());
  }
}

void what_is_not_lacking_is_not_brought() {
  PythonRandom random(seeded(6));
  Assignment assignment(1, true);
  CHECK(assign(assignment, {{0b110}, {1}, 0b001}, random).empty());
  CHECK(!assignment.offers_more());
  CHECK(assign(assignment, {{}, {}, 0b001}, random).empty());
}

// The greatest number of busy links: links one after the other, each with any chunk that it may
// get.
std::size_t most_busy(const Free& free, std::size_t link, Word wanted) {
  if (link == free.has.size()) return 0;
  std::size_t most = most_busy(free, link + 1, wanted);
  for (Word left = free.has[link] & wanted; left != 0; left &= left - 1) {
    most = std::max(most, 1 + most_busy(free, link + 1, wanted & ~(left & -left)));
  }
  return most;
}

void assignments_are_as_large_as_any() {
  Random chance(7);
  PythonRandom random(seeded(7));
  Assignment greedy(1, false), maximum(1, true);
  for (int round = 0; round < 1500; ++round) {
    Free free{{}, {}, static_cast<Word>(between(chance, 1, 255))};
    for (std::int64_t link = between(chance, 1, 5); link > 0; --link) {
      free.has.push_back(static_cast<Word>(between(chance, 0, 255) & between(chance, 0, 255)));
      free.ticks.push_back(between(chance, 1, 3));
    }
    const std::size_t most = most_busy(free, 0, free.lacks);
    CHECK(assign(maximum, free, random).size() == most);
    const auto given = assign(greedy, free, random);
    CHECK(given.size() <= most && 2 * given.size() >= most);
    Word brought = 0;
    for (const Given& each : given) {
      const Word chunk = bit_in_word(each.chunk);
      CHECK((free.has[static_cast<std::size_t>(each.link)] & free.lacks & ~brought & chunk) != 0);
      CHECK(!greedy.is_left(each.link));
      brought |= chunk;
    }
  }
}

}  // namespace assignment_tests

TESTS(assignment) {
  chunks_are_drawn_alike();
  a_maximum_leaves_no_link_idle();
  a_chunk_takes_the_quickest_link();
  what_is_not_lacking_is_not_brought();
  assignments_are_as_large_as_any();
}
