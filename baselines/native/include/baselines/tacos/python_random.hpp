// The random numbers of Python's `random.Random`, so that a seed gives the same numbers here and
// there.
//
// Both use the Mersenne Twister MT19937; Python turns the seed into its words.
//
// Kept: another stream would change the stored rows of TACOS, and leave the Python twin of
// tests/reference/matching.py without the same transfers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/common/errors.hpp"

namespace forestcoll::baselines {

class PythonRandom {
 public:
  // Takes the words of a generator that has been seeded and from which no number has been drawn.
  //
  // Throws InvalidInput unless there are 624 words.
  explicit PythonRandom(const std::vector<std::uint32_t>& words) {
    if (words.size() != std::mt19937::state_size) {
      throw InvalidInput("a random generator has 624 words");
    }
    Words sequence{words};
    twister_.seed(sequence);
  }

  // `randrange(below)`, for at least 1: draws as many bits as `below` has, until the number is
  // less.
  int below(int below) {
    const int spare = std::countl_zero(static_cast<std::uint32_t>(below));
    for (;;) {
      const auto drawn = static_cast<std::uint32_t>(twister_()) >> spare;
      if (drawn < static_cast<std::uint32_t>(below)) return static_cast<int>(drawn);
    }
  }

 private:
  // A seed sequence, the only standard way to set a generator's words.
  struct Words {
    using result_type = std::uint32_t;
    const std::vector<std::uint32_t>& words;

    template <typename Iterator>
    void generate(Iterator begin, Iterator) {
      std::ranges::copy(words, begin);
    }
    template <typename Iterator>
    void param(Iterator out) const {
      std::ranges::copy(words, out);
    }
    std::size_t size() const { return words.size(); }
  };

  std::mt19937 twister_;
};

}  // namespace forestcoll::baselines
