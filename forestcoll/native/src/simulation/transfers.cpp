#include "forestcoll/simulation/transfers.hpp"

#include <algorithm>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {
namespace {

bool within(std::span<const std::int32_t> values, std::int32_t low, std::int32_t high) {
  return std::all_of(values.begin(), values.end(),
                     [&](std::int32_t value) { return low <= value && value < high; });
}

bool is_rows(const Rows& rows) {
  return !rows.first.empty() && rows.first.front() == 0 &&
         std::is_sorted(rows.first.begin(), rows.first.end()) &&
         rows.first.back() == std::ssize(rows.value);
}

}  // namespace

void check(const Transfers& t) {
  const auto resources = t.kind_of_resource.count();
  const auto count = t.way.size();
  if (!is_rows(t.resources_of_way) || !is_rows(t.needs) ||
      t.resources_of_way.count() != t.delay_of_way.count() || t.needs.count() != t.count() ||
      t.amount.size() != count || t.adder.size() != count || t.step.size() != count ||
      t.gate.size() != count || (!t.priority.empty() && t.priority.size() != count)) {
    throw InvalidInput("the columns of transfers differ in length");
  }
  if (!within(t.resources_of_way.value, 0, resources) ||
      !within(t.way, 0, t.resources_of_way.count()) || !within(t.adder, -1, resources) ||
      !within(t.gate, 0, t.count()) || (t.count() > 0 && !within(t.step, 0, t.count()))) {
    throw InvalidInput("a transfer names a way, a resource, a step or a gate that is not there");
  }
  for (int way = 0; way < t.resources_of_way.count(); ++way) {
    if (t.resources_of_way[way].empty()) throw InvalidInput("a way uses no link");
  }
  for (int i = 0; i < t.count(); ++i) {
    if (t.amount[i] <= 0) throw InvalidInput("a transfer moves nothing");
    if (!within(t.needs[i], 0, i)) {
      throw InvalidInput("a transfer needs one that does not come before it");
    }
  }
}

}  // namespace forestcoll
