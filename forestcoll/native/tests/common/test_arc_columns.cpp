// Arcs by columns are the same arcs, and are checked as those row by row.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/errors.hpp"
#include "support/check.hpp"
#include "support/columns.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace arc_columns_tests {

const std::vector<Arc> kArcs{{0, 2, 5}, {1, 0, 7}, {1, 2, 1}};

void columns_hold_the_arcs() {
  ArcColumns arcs(kArcs);
  CHECK(rows(arcs) == kArcs);
  CHECK((arcs[1] == Arc{1, 0, 7}));
  CHECK(arcs_of(arcs.view().first(2)) == (std::vector<Arc>{{0, 2, 5}, {1, 0, 7}}));
  arcs.resize(1);
  CHECK(rows(arcs) == (std::vector<Arc>{{0, 2, 5}}));
  arcs.resize(2);
  arcs.set(1, {3, 4, 6});
  CHECK(rows(arcs) == (std::vector<Arc>{{0, 2, 5}, {3, 4, 6}}));
}

void arcs_are_merged_if_sorted_each_once_and_none_empty() {
  const auto is = [](const std::vector<Arc>& arcs) { return are_merged(ArcColumns(arcs).view()); };
  CHECK(is({}) && is(kArcs));
  CHECK(!is({{1, 0, 7}, {0, 2, 5}}));
  CHECK(!is({{1, 2, 7}, {1, 0, 5}}));
  CHECK(!is({{1, 2, 7}, {1, 2, 5}}));
  CHECK(!is({{1, 0, 7}, {1, 2, 0}}));
  CHECK(!is({{1, 0, 0}}));
}

// What is refused, and in which words.
std::string refusal(const std::function<void()>& check) {
  try {
    check();
  } catch (const InvalidInput& error) {
    return error.what();
  } catch (const CapacityOverflow& error) {
    return error.what();
  }
  return "";
}

void columns_are_refused_as_rows_are() {
  const Amount most = std::numeric_limits<Amount>::max() / 2;
  const Demand demand = equal_demand(3, 0, 1);
  const std::vector<Arc> wrong{{-1, 0, 1}, {0, -1, 1}, {3, 0, 1},   {0, 3, 1},
                               {1, 1, 1},  {0, 1, -1}, {2, 1, most}};
  CHECK(refusal([&] { forestcoll::check(3, ArcColumns(kArcs).view(), demand); }).empty());
  for (const Arc& arc : wrong) {
    std::vector<Arc> arcs = kArcs;
    arcs.push_back(arc);
    const std::string by_rows = refusal([&] { forestcoll::check(3, arcs, demand); });
    CHECK(!by_rows.empty());
    CHECK(by_rows == refusal([&] { forestcoll::check(3, ArcColumns(arcs).view(), demand); }));
  }
  // Near the limit, but not beyond it.
  const std::vector<Arc> large{{0, 1, most - 1}, {1, 0, 1}};
  CHECK(refusal([&] { forestcoll::check(3, ArcColumns(large).view(), demand); }).empty());
  CHECK(!refusal([&] { forestcoll::check(4, ArcColumns(kArcs).view(), demand); }).empty());
}

}  // namespace arc_columns_tests

TESTS(arc_columns) {
  columns_hold_the_arcs();
  arcs_are_merged_if_sorted_each_once_and_none_empty();
  columns_are_refused_as_rows_are();
}
