// The random numbers of Python's `random.Random`, so that a seed means what it means there.
//
// Both have the Mersenne Twister MT19937; what a seed makes of its words is left to Python.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

class PythonRandom {
 public:
  // The words of a generator that has been seeded and from which nothing has been drawn.
  //
  // Throws InvalidInput unless there are as many as it has.
  explicit PythonRandom(const std::vector<std::uint32_t>& words) {
    if (words.size() != std::mt19937::state_size) {
      throw InvalidInput("a random generator has 624 words");
    }
    Words sequence{words};
    twister_.seed(sequence);
  }

  // `randrange(below)`, for at least 1: as many bits as that has, again until they are below it.
  int below(int below) {
    const int spare = std::countl_zero(static_cast<std::uint32_t>(below));
    for (;;) {
      const auto drawn = static_cast<std::uint32_t>(twister_()) >> spare;
      if (drawn < static_cast<std::uint32_t>(below)) return static_cast<int>(drawn);
    }
  }

 private:
  // A seed sequence, which is what the standard lets a generator's words come from.
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

}  // namespace forestcoll
