// Flowing chunks share links in proportion to their sizes; closed forms equal events.
#include <cmath>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/fair_shares.hpp"
#include "forestcoll/simulation/first_come.hpp"
#include "forestcoll/simulation/priorities.hpp"
#include "forestcoll/simulation/rounds.hpp"
#include "forestcoll/simulation/streams.hpp"
#include "support/check.hpp"
#include "support/transfers.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace fair_shares_tests {

Finish simulate(const Transfers& t, const Setting& with) {
  forestcoll::check(t);
  forestcoll::check(with, t);
  const Finish found = fair_shares(streams_of(t, classes_of(t)), with);
  const Finish alone = fair_shares(streams_of(t, each_by_itself(t)), with);
  CHECK(std::abs(found.ticks - alone.ticks) <= 1);
  return found;
}

void test_a_chain_in_pipeline_chunks() {
  for (int pipeline_chunks = 1; pipeline_chunks <= 4; ++pipeline_chunks) {
    const Transfers t = chain(3, 4);
    const double due = (2 + pipeline_chunks) * (0.5 + 4.0 / pipeline_chunks);
    const Setting with = setting(pipeline_chunks, 0.5);
    CHECK(std::abs(static_cast<double>(simulate(t, with).ticks) - due * 1024) <= 6);
    const auto closed = in_rounds(streams_of(t, classes_of(t)), with);
    CHECK(closed && std::abs(*closed - due) < 1e-9);
  }
}

void test_shares_are_by_size_and_the_rest_is_taken_up() {
  ByHand made(2);  // sizes 1 and 3 on link 0, one of size 3 on both links, at the end 2 on link 1
  const int both = made.way({0, 1});
  made.add(0, 1, 0);
  made.add(both, 3, 0);
  made.add(1, 9, 0);
  // Link 1: 3 and 9 share it as 1:3 until both end at 12; link 0 has room for its 1 by then.
  CHECK(simulate(made.t, setting(1)).ticks == 12 * 1024);
}

void test_a_window_lets_chunks_share_their_latency() {
  // Four chunks of one second behind a latency of three: one by one 4 x 4; two at a time 4, 5,
  // 8, 9.
  Setting with = setting(4, 3);
  CHECK(simulate(chain(1, 4), with).ticks == 16 * 1024);
  with.window = 2;
  CHECK(simulate(chain(1, 4), with).ticks == 9 * 1024);
  CHECK(!in_rounds(streams_of(chain(1, 4), classes_of(chain(1, 4))), with));
  with.window = 4;
  CHECK(simulate(chain(1, 4), with).ticks == 7 * 1024);
  // Over three links the last chunk comes 3 + 1 later at each.
  CHECK(simulate(chain(3, 4), with).ticks == 15 * 1024);
}

void test_chunks_and_messages_occupy_their_sender() {
  Setting with = setting(2, 1);
  with.chunk_cost = {0.5};
  with.message_cost = {2.0};
  with.window = 2;
  // 1 + (2 + 0.5 + 2) + (0.5 + 2)
  CHECK(simulate(chain(1, 4), with).ticks == 8 * 1024);
  with.pipeline_chunks = 1;
  CHECK(simulate(chain(1, 4), with).ticks == 7680);
  const auto closed = in_rounds(streams_of(chain(1, 4), classes_of(chain(1, 4))), with);
  CHECK(closed && std::abs(*closed - 7.5) < 1e-9);
  with.window = 1;
  with.message_cost = {};
  with.pipeline_chunks = 2;
  const auto rounds = in_rounds(streams_of(chain(1, 4), classes_of(chain(1, 4))), with);
  CHECK(rounds && std::abs(*rounds - 7) < 1e-9);
  with.message_cost = {2.0};
  CHECK(!in_rounds(streams_of(chain(1, 4), classes_of(chain(1, 4))), with));
}

void test_the_higher_priority_goes_first() {
  ByHand made(2);
  const int last = made.add(0, 1, 0), first = made.add(0, 1, 0);
  made.add(1, 1, 1, {first});
  CHECK(simulate(made.t, setting(1)).ticks == 3 * 1024);  // 2 s for both, then 1 s
  made.t.priority = remaining_transfers(made.t);
  CHECK((made.t.priority == IndexedVector<std::int32_t>{1, 2, 1}));
  const Finish found = simulate(made.t, setting(1));
  CHECK(found.ticks == 2 * 1024);
  const Finish alone = fair_shares(streams_of(made.t, each_by_itself(made.t)), setting(1));
  CHECK(alone.of_stream[first] == 1024 && alone.of_stream[last] == 2 * 1024);
  CHECK(!in_rounds(streams_of(made.t, classes_of(made.t)), setting(1)));
}

void test_lockstep_waits_for_the_slowest() {
  ByHand made(3);
  const int first = made.add(0, 1, 0);
  made.add(1, 5, 0);
  made.add(2, 1, 1, {first});
  CHECK(simulate(made.t, setting(1)).ticks == 5 * 1024);
  CHECK(simulate(made.t, setting(1, 0, true)).ticks == 6 * 1024);
}

void test_gates_open_for_all_at_once() {
  ByHand made(3);
  const int first = made.add(0, 4, 0);
  const int one = made.add(1, 1, 1);
  const int other = made.add(2, 1, 1, {first});
  made.t.gate[other] = made.t.gate[one];
  forestcoll::check(made.t);
  const Finish found = fair_shares(streams_of(made.t, each_by_itself(made.t)), setting(1));
  CHECK(found.ticks == 5 * 1024);
  CHECK(found.of_stream[one] == 5 * 1024);
}

void test_starts_and_sums() {
  ByHand made(2);
  const int first = made.add(0, 1, 0);
  made.add(1, 1, 1, {first});
  made.t.kind_of_resource.push_back(1);
  made.t.adder[first] = 2;
  Setting with = setting(1);
  with.rate.push_back(0.5);  // adding takes twice as long as sending
  CHECK(simulate(made.t, with).ticks == 4 * 1024);
  with.start = {0, 7 * 1024};
  CHECK(simulate(made.t, with).ticks == 8 * 1024);
  CHECK(!in_rounds(streams_of(made.t, classes_of(made.t)), with));
}

void test_usage_adds_up() {
  const Transfers t = chain(2, 3);
  Setting with = setting(3);
  with.bins = 8;
  const Finish found = simulate(t, with);
  double sum = 0;
  for (const double carried : found.usage.carried()) sum += carried;
  CHECK(std::abs(sum - 6) < 0.01);  // ticks are coarse here
  CHECK(found.usage.width() * 8 >= found.ticks && found.usage.width() * 4 <= found.ticks);
}

void test_a_timeline_has_every_pipeline_chunk() {
  // Two chunks of two seconds over two links, one second of latency each, one on the way; the end
  // adds for a second.
  ByHand made(3);
  const int first = made.add(0, 4, 0), then = made.add(1, 4, 1, {first});
  made.t.kind_of_resource[2] = 1;
  made.t.adder[then] = 2;
  Setting with = setting(2, 1);
  with.rate = {1.0, 2.0};
  CHECK(simulate(made.t, with).timeline.ticks().empty());
  with.timeline = true;
  // start, flow, arrival, end of each chunk of the first transfer, then of the second
  const std::vector<std::int64_t> due{0, 1, 3, 3, 3, 4, 6, 6, 3, 4, 6, 7, 7, 8, 10, 11};
  const Finish found = simulate(made.t, with);
  CHECK(found.timeline.ticks().size() == due.size() && found.ticks == 11 * 1024);
  const auto queued = first_come(made.t, with).timeline.ticks();
  for (std::size_t i = 0; i < due.size(); ++i) {
    CHECK(found.timeline.ticks()[i] == due[i] * 1024);
    CHECK(queued[i] == due[i] * 1024);
  }
}

void test_invalid_arguments_are_refused() {
  const Transfers t = chain(2, 1);
  Setting with = setting(0);
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1);
  with.rate = {};
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with.rate = {0.0};
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1, -1);
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1);
  with.start = {0};
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1);
  with.window = 0;
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1);
  with.chunk_cost = {-1.0};
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  with = setting(1);
  with.message_cost = {1.0, 1.0};
  CHECK_THROWS(InvalidInput, forestcoll::check(with, t));
  Transfers ranked = chain(2, 1);
  ranked.priority = {1};
  CHECK_THROWS(InvalidInput, forestcoll::check(ranked));
  with = setting(1, 1e20);
  CHECK_THROWS(CapacityOverflow, simulate(t, with));
}

}  // namespace fair_shares_tests

TESTS(fair_shares) {
  test_a_chain_in_pipeline_chunks();
  test_shares_are_by_size_and_the_rest_is_taken_up();
  test_a_window_lets_chunks_share_their_latency();
  test_chunks_and_messages_occupy_their_sender();
  test_the_higher_priority_goes_first();
  test_lockstep_waits_for_the_slowest();
  test_gates_open_for_all_at_once();
  test_starts_and_sums();
  test_usage_adds_up();
  test_a_timeline_has_every_pipeline_chunk();
  test_invalid_arguments_are_refused();
}
