// Shortcuts: faster methods, most of them for networks with symmetry. Each gives as good a result
// as the general method. Tests and the fuzz block the shortcuts one by one to check that.
//
// They are no options, since the result does not depend on them. Each is asked for once a stage, or
// once a flow, so the switches cost nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace forestcoll {

enum class Shortcut : std::uint8_t {
  kBothEnds,      // a path of a flow is sought from both of its ends
  kAlike,         // the first node of a graph that looks alike from everywhere stands for all
  kTurning,       // trees of the first root are moved to the others
  kOneOfOrbit,    // one sink of each orbit tests the splits of equal groups
  kPlainCopies,   // trees of a set of nodes are copied as they are
  kExchanges,     // sets around one of several equal boxes or GPUs are mapped to the others
  kRotatedBoxes,  // trees of the first of equal boxes are moved to the others
  kBroadcasters,  // where one switch joins all, one node of a tree sends to all others
};

// By number.
inline constexpr std::array<std::string_view, 8> kShortcutNames = {
    "both ends",    "alike",     "turning",       "one of orbit",
    "plain copies", "exchanges", "rotated boxes", "broadcasters"};

namespace shortcuts {

// A bit for each. For the whole process; zero unless a test has blocked some.
inline std::atomic<unsigned> blocked = 0;

}  // namespace shortcuts

inline bool is_open(Shortcut shortcut) {
  return (shortcuts::blocked.load(std::memory_order_relaxed) >> static_cast<unsigned>(shortcut)) %
             2 ==
         0;
}

// Blocks those whose bits are set, and opens all others.
inline void block_shortcuts(unsigned bits) { shortcuts::blocked = bits; }

}  // namespace forestcoll
