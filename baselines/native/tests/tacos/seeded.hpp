// The words of a Mersenne Twister after its own seeding.
#pragma once

#include <cstdint>
#include <vector>

namespace forestcoll::testing {

inline std::vector<std::uint32_t> seeded(std::uint32_t seed) {
  std::vector<std::uint32_t> words{seed};
  for (std::uint32_t i = 1; i < 624; ++i) {
    words.push_back(1812433253u * (words.back() ^ (words.back() >> 30)) + i);
  }
  return words;
}

}  // namespace forestcoll::testing
