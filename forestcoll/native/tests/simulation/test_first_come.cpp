// Links serve one transfer after the other; transfers pass switches without gaps.
#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/first_come.hpp"
#include "support/check.hpp"
#include "support/transfers.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace first_come_tests {

void test_who_comes_first_is_served_first() {
  ByHand made(1);
  const int one = made.add(0, 3, 0);
  const int other = made.add(0, 1, 0);
  const Finish found = first_come(made.t, setting(1, 0.5));
  CHECK(found.of_stream[one] == 3584 && found.of_stream[other] == 4608);
}

void test_a_slow_link_does_not_hold_up_a_fast_one() {
  ByHand made(2);
  made.t.kind_of_resource[1] = 1;
  const int both = made.way({0, 1});
  const int slow = made.add(both, 4, 0), fast = made.add(1, 4, 0);
  Setting with = setting(1);
  with.rate = {1.0, 4.0};
  const Finish found = first_come(made.t, with);
  // The first comes to link 1 for its last second there; until then the link is free.
  CHECK(found.of_stream[slow] == 4 * 1024 && found.of_stream[fast] == 1024);
}

void test_a_chain_in_pipeline_chunks() {
  for (int pipeline_chunks = 1; pipeline_chunks <= 4; pipeline_chunks *= 2) {
    CHECK(first_come(chain(3, 4), setting(pipeline_chunks)).ticks ==
          (2 + pipeline_chunks) * 4 * 1024 / pipeline_chunks);
  }
}

void test_windows_and_costs_are_as_with_fair_shares() {
  Setting with = setting(2, 1);
  with.chunk_cost = {0.5};
  with.message_cost = {2.0};
  CHECK(first_come(chain(1, 4), with).ticks == 9 * 1024);  // one chunk on the way: 1 more
  with.window = 2;
  CHECK(first_come(chain(1, 4), with).ticks == 8 * 1024);
}

void test_too_many_ticks_are_refused() {
  Setting with = setting(1);
  with.tick = 1e-18;
  CHECK_THROWS(CapacityOverflow, first_come(chain(3, 2), with));
  with.tick = 1e-18 * 0.75;
  CHECK_THROWS(CapacityOverflow,
               first_come(chain(12, 1), with));  // each fits alone, not all together
}

void test_a_circle_is_found() {
  ByHand made(2);
  const int first = made.add(0, 1, 0);
  const int then = made.add(1, 1, 0, {first});
  made.t.gate[then] = made.t.gate[first];
  CHECK_THROWS(Infeasible, first_come(made.t, setting(1)));
}

}  // namespace first_come_tests

TESTS(first_come) {
  test_who_comes_first_is_served_first();
  test_a_slow_link_does_not_hold_up_a_fast_one();
  test_a_chain_in_pipeline_chunks();
  test_windows_and_costs_are_as_with_fair_shares();
  test_too_many_ticks_are_refused();
  test_a_circle_is_found();
}
