// What is left of known cuts while a tree grows, counted by hand.
#include "forestcoll/tree_packing/known_cuts.hpp"
#include "support/check.hpp"

using namespace forestcoll;

namespace known_cuts_tests {

constexpr Amount kMost = 1000;

// Nodes 0 to 3. A = {1, 2} receives 3 more than it needs, B = {2, 3} receives 5 more.
KnownCuts two_sets() {
  KnownCuts cuts(4);
  cuts.add(NodeSet{0, 1, 1, 0}, 3);
  cuts.add(NodeSet{0, 0, 1, 1}, 5);
  return cuts;
}

void a_first_entry_is_free_and_each_further_one_takes_from_the_surplus() {
  KnownCuts cuts = two_sets();
  cuts.begin(0);
  CHECK(cuts.safe(0, 1, kMost) == kMost);  // no set was entered yet
  cuts.enter(0, 1, 2);
  CHECK(cuts.safe(0, 2, kMost) == 3);      // A again, B for the first time
  CHECK(cuts.safe(1, 2, kMost) == kMost);  // inside A
  CHECK(cuts.safe(0, 2, 1) == 1);
  cuts.enter(0, 2, 2);
  CHECK(cuts.safe(0, 2, kMost) == 1);  // 3 - 2 of A
  CHECK(cuts.safe(1, 3, kMost) == 5);  // B again
  cuts.enter(1, 3, 2);
  CHECK(cuts.safe(1, 3, kMost) == 3);  // 5 - 2 of B
}

void what_is_given_back_returns_once_for_each_further_entry() {
  KnownCuts cuts = two_sets();
  cuts.begin(0);
  for (const NodeId head : {1, 2, 3}) cuts.enter(0, head, 2);  // A and B twice each: 1 and 3 left
  cuts.enter(0, 3, 2);                                         // B a third time: 1 left
  cuts.give_back(1);
  CHECK(cuts.safe(0, 1, kMost) == 2);
  CHECK(cuts.safe(0, 3, kMost) == 3);
}

void the_next_tree_enters_anew() {
  KnownCuts cuts = two_sets();
  cuts.begin(0);
  for (const NodeId head : {1, 2, 3}) cuts.enter(0, head, 1);
  cuts.begin(0);
  CHECK(cuts.safe(0, 2, kMost) == kMost);
  cuts.give_back(5);  // nothing was entered again since
  cuts.begin(1);      // a root is in A from the first
  CHECK(cuts.safe(0, 2, kMost) == 2);
  CHECK(cuts.safe(0, 3, kMost) == kMost);
}

void more_sets_than_a_word_has_bits() {
  KnownCuts cuts(3);
  for (Amount set = 0; set < 70; ++set) cuts.add(NodeSet{0, 1, 1}, 200 - set);
  cuts.begin(0);
  cuts.enter(0, 1, 1);
  CHECK(cuts.safe(0, 2, kMost) == 131);
  cuts.enter(0, 2, 10);
  CHECK(cuts.safe(0, 2, kMost) == 121);
}

}  // namespace known_cuts_tests

TESTS(known_cuts) {
  a_first_entry_is_free_and_each_further_one_takes_from_the_surplus();
  what_is_given_back_returns_once_for_each_further_entry();
  the_next_tree_enters_anew();
  more_sets_than_a_word_has_bits();
}
