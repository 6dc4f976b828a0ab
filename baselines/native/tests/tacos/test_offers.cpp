// Unions of open offers, and the links that offer a chunk, compared with a loop over all links.
#include <vector>

#include "baselines/tacos/offers.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace offers_tests {

constexpr int kWords = 2;

// The union of the open offers, computed anew chunk by chunk.
void check_against_all(const Offers& offers, const std::vector<std::vector<Word>>& has,
                       const std::vector<Word>& lacks, const std::vector<char>& open) {
  for (int chunk = 0; chunk < kWords * kWordBits; ++chunk) {
    const auto word = static_cast<std::size_t>(chunk / kWordBits);
    std::vector<int> expected, found;
    for (std::size_t link = 0; link < has.size(); ++link) {
      const bool offered = (has[link][word] & lacks[word] & bit_in_word(chunk)) != 0;
      CHECK(((offers.of(static_cast<int>(link))[word] & bit_in_word(chunk)) != 0) == offered);
      if (open[link] && offered) expected.push_back(static_cast<int>(link));
    }
    offers.find(chunk, found);
    CHECK(found == expected);
    CHECK(((offers.of_all_open()[word] & bit_in_word(chunk)) != 0) == !expected.empty());
  }
}

void unions_are_of_the_open_links() {
  Random random(1);
  Offers offers(kWords);
  for (int round = 0; round < 60; ++round) {
    const auto links = static_cast<std::size_t>(between(random, 1, 9));
    // Few bits, so that many chunks are offered by one link alone.
    const auto word = [&] { return Word{1} << between(random, 0, 63) | Word{1} << 63; };
    std::vector<std::vector<Word>> has(links);
    for (auto& row : has) row = {word(), word()};
    const std::vector<Word> lacks{~word(), ~Word{0}};
    std::vector<const Word*> rows;
    for (const auto& row : has) rows.push_back(row.data());
    offers.begin(rows, lacks.data());
    std::vector<char> open(links, 1);
    for (int change = 0; change < 6; ++change) {
      check_against_all(offers, has, lacks, open);
      const auto link = static_cast<std::size_t>(between(random, 0, offers.links() - 1));
      open[link] = open[link] ? 0 : 1;
      open[link] ? offers.open(static_cast<int>(link)) : offers.close(static_cast<int>(link));
      CHECK(offers.is_open(static_cast<int>(link)) == (open[link] != 0));
    }
  }
}

}  // namespace offers_tests

TESTS(offers) { unions_are_of_the_open_links(); }
