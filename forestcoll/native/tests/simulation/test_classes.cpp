// Transfers are in one class exactly if nothing distinguishes them.
#include "forestcoll/common/errors.hpp"
#include "forestcoll/simulation/classes.hpp"
#include "forestcoll/simulation/streams.hpp"
#include "support/check.hpp"
#include "support/transfers.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace classes_tests {

void test_a_one_way_ring_has_a_class_a_step() {
  constexpr int nodes = 6;
  ByHand ring(nodes);
  for (int step = 0; step < nodes - 1; ++step) {
    for (int link = 0; link < nodes; ++link) {
      const int before = (step - 1) * nodes + (link + nodes - 1) % nodes;
      ring.add(link, 1, step, step == 0 ? std::vector<std::int32_t>{} : std::vector{before});
    }
  }
  forestcoll::check(ring.t);
  const Classes classes = classes_of(ring.t);
  CHECK(classes.transfer.count() == nodes - 1);
  CHECK(classes.resource.count() == 1);
  const Streams streams = streams_of(ring.t, classes);
  CHECK(streams.members[0] == nodes);
  CHECK(streams.needs[1].size() == 1 && streams.needs[1][0] == 0);
  CHECK(streams.moving[0].uses == std::vector<std::int64_t>{1});
}

void test_which_transfers_differ() {
  ByHand other_amounts(2);
  other_amounts.add(0, 1, 0);
  other_amounts.add(1, 2, 0);
  CHECK(classes_of(other_amounts.t).transfer.count() == 2);

  ByHand other_steps(2);
  other_steps.add(0, 1, 0);
  other_steps.add(1, 1, 1);
  CHECK(classes_of(other_steps.t).transfer.count() == 2);

  ByHand shared(3);  // two on link 0, one on link 1, nothing on link 2
  shared.add(0, 1, 0);
  shared.add(0, 1, 0);
  shared.add(1, 1, 0);
  const Classes classes = classes_of(shared.t);
  CHECK(classes.transfer.count() == 2 && classes.resource.count() == 3);
  CHECK(classes.of_transfer[0] == classes.of_transfer[1]);
  const Streams streams = streams_of(shared.t, classes);
  CHECK(streams.moving[0].uses == std::vector<std::int64_t>{2});

  ByHand other_rates(2);
  other_rates.t.kind_of_resource[1] = 1;
  other_rates.add(0, 1, 0);
  other_rates.add(1, 1, 0);
  CHECK(classes_of(other_rates.t).transfer.count() == 2);

  ByHand ranked(1);
  ranked.add(0, 1, 0);
  ranked.add(0, 1, 0);
  CHECK(streams_of(ranked.t, classes_of(ranked.t)).lanes.count() == 1);
  ranked.t.priority = {1, 2};
  CHECK(classes_of(ranked.t).transfer.count() == 2);
  CHECK(streams_of(ranked.t, classes_of(ranked.t)).lanes.count() == 2);
}

void test_numbers_that_name_nothing_are_refused() {
  const auto refused = [](auto spoil) {
    Transfers t = chain(3, 1);
    spoil(t);
    CHECK_THROWS(InvalidInput, forestcoll::check(t));
  };
  refused([](Transfers& t) { t.way[0] = 3; });
  refused([](Transfers& t) { t.amount[0] = 0; });
  refused([](Transfers& t) { t.adder[0] = 3; });
  refused([](Transfers& t) { t.step[0] = -1; });
  refused([](Transfers& t) { t.gate[0] = 3; });
  refused([](Transfers& t) { t.needs.value[0] = 1; });
  refused([](Transfers& t) { t.needs.first.pop_back(); });
  refused([](Transfers& t) { t.resources_of_way.value[0] = 3; });
  refused([](Transfers& t) { t.delay_of_way.pop_back(); });
}

}  // namespace classes_tests

TESTS(classes) {
  test_a_one_way_ring_has_a_class_a_step();
  test_which_transfers_differ();
  test_numbers_that_name_nothing_are_refused();
}
