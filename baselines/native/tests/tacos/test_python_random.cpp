// The twister's numbers, and Python's smaller numbers from them.
#include <random>
#include <vector>

#include "baselines/tacos/python_random.hpp"
#include "forestcoll/common/errors.hpp"
#include "seeded.hpp"
#include "support/check.hpp"

using namespace forestcoll;
using namespace forestcoll::baselines;
using namespace forestcoll::testing;

namespace python_random_tests {

// As many of the highest bits as the bound has, until the number is below it: 1000 has ten bits.
void numbers_are_the_highest_bits_that_are_below() {
  for (const auto& [below, bits] : {std::pair(1, 1), {2, 2}, {3, 2}, {8, 4}, {1000, 10}}) {
    PythonRandom random(seeded(7));
    std::mt19937 twister(7);
    for (int round = 0; round < 2000; ++round) {
      auto drawn = static_cast<int>(twister() >> (32 - bits));
      while (drawn >= below) drawn = static_cast<int>(twister() >> (32 - bits));
      CHECK(random.below(below) == drawn);
    }
  }
}

void a_generator_has_624_words() {
  CHECK_THROWS(InvalidInput, PythonRandom(std::vector<std::uint32_t>(625, 1)));
}

}  // namespace python_random_tests

TESTS(python_random) {
  numbers_are_the_highest_bits_that_are_below();
  a_generator_has_624_words();
}
