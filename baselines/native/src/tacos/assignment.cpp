#include "baselines/tacos/assignment.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <ranges>
#include <utility>

namespace forestcoll::baselines {

int draw(std::span<const Word> chunks, PythonRandom& random) {
  int count = 0;
  for (const Word word : chunks) count += word == 0 ? 0 : std::popcount(word);
  int rank = random.below(count);
  for (std::size_t w = 0;; ++w) {
    Word word = chunks[w];
    const int here = word == 0 ? 0 : std::popcount(word);
    if (rank >= here) {
      rank -= here;
      continue;
    }
    for (; rank > 0; --rank) word &= word - 1;
    return static_cast<int>(w) * kWordBits + std::countr_zero(word);
  }
}

const std::vector<Given>& Assignment::assign(std::span<const Word* const> has,
                                             std::span<const Amount> ticks,
                                             std::span<const Word> lacks, PythonRandom& random) {
  given_.clear();
  offers_.begin(has, lacks.data());
  wanted_.assign(lacks.begin(), lacks.end());
  at_first_.assign(offers_.of_all_open(), offers_.of_all_open() + lacks.size());
  available_.resize(lacks.size());
  while (find_wanted() || (maximum_ && rearrange() && find_wanted())) {
    const int chunk = draw(available_, random);
    const int link = soonest(chunk, ticks, random);
    wanted_[static_cast<std::size_t>(chunk / kWordBits)] ^= bit_in_word(chunk);
    given_.push_back({link, chunk});
    offers_.close(link);
  }
  return given_;
}

bool Assignment::offers_more() const {
  const Word* const open = offers_.of_all_open();
  return std::any_of(open, open + wanted_.size(), [](Word word) { return word != 0; });
}

// Whether anything is available; updates available_.
bool Assignment::find_wanted() {
  const Word* const open = offers_.of_all_open();
  Word any = 0;
  for (std::size_t w = 0; w < wanted_.size(); ++w) {
    available_[w] = open[w] & wanted_[w];
    any |= available_[w];
  }
  return any != 0;
}

int Assignment::soonest(int chunk, std::span<const Amount> ticks, PythonRandom& random) {
  ways_.clear();
  offers_.find(chunk, ways_);
  if (ways_.size() > 1) {
    const auto taken = [ticks](int link) { return ticks[static_cast<std::size_t>(link)]; };
    const Amount least = taken(*std::ranges::min_element(ways_, {}, taken));
    std::erase_if(ways_, [&](int link) { return taken(link) > least; });
  }
  const int count = static_cast<int>(ways_.size());
  return ways_[count == 1 ? 0 : static_cast<std::size_t>(random.below(count))];
}

// Lets links bring chunks that others would bring, until one link is left for a wanted chunk: a
// shortest augmenting path. Without such a path the number of busy links is maximal.
bool Assignment::rearrange() {
  const auto both = [](Word one, Word other) { return (one & other) != 0; };
  if (std::ranges::none_of(std::views::iota(std::size_t{0}, wanted_.size()),
                           [&](std::size_t w) { return both(at_first_[w], wanted_[w]); })) {
    return false;
  }
  before_.assign(offers_.links(), -1);
  reached_.clear();
  for (int link = 0; link < offers_.links(); ++link) {
    if (offers_.is_open(link)) reached_.push_back(link);
  }
  others_.resize(given_.size());  // not reached yet, by index in `given_`
  std::iota(others_.begin(), others_.end(), 0);
  for (std::size_t next = 0; next < reached_.size();
       ++next) {  // grows during the loop: breadth first
    const int link = reached_[next];
    if (offers_wanted(link)) {
      shift(link);
      return true;
    }
    const Word* const offered = offers_.of(link);
    std::erase_if(others_, [&](int place) {
      const Given& other = given_[static_cast<std::size_t>(place)];
      if ((offered[other.chunk / kWordBits] & bit_in_word(other.chunk)) == 0) return false;
      before_[other.link] = link;
      reached_.push_back(other.link);
      return true;
    });
  }
  return false;
}

bool Assignment::offers_wanted(int link) const {
  const Word* const offered = offers_.of(link);
  for (std::size_t w = 0; w < wanted_.size(); ++w) {
    if ((offered[w] & wanted_[w]) != 0) return true;
  }
  return false;
}

// Frees a link that has been reached: each link on the path to it takes the chunk of the next one.
void Assignment::shift(int link) {
  const auto entry = [this](int of) { return std::ranges::find(given_, of, &Given::link); };
  const auto last = entry(link);
  int chunk = last->chunk;
  given_.erase(last);
  offers_.open(link);
  for (link = before_[link]; before_[link] >= 0; link = before_[link]) {
    std::swap(entry(link)->chunk, chunk);
  }
  given_.push_back({link, chunk});
  offers_.close(link);
}

}  // namespace forestcoll::baselines
