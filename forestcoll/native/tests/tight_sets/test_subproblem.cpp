// Problems with any difference are distinct.
#include <set>

#include "forestcoll/tight_sets/subproblem.hpp"
#include "support/check.hpp"

using namespace forestcoll;

namespace subproblem_tests {

void problems_that_differ_anywhere_have_other_contents() {
  const Subproblem plain{{3, {{0, 1, 5}, {1, 2, 4}}}, {{1, 2, 0}, {1, 1, 0}}, -1};
  std::vector<Subproblem> all(9, plain);
  all[1].graph.arcs[1].tail = 0;
  all[2].graph.arcs[1].head = 0;
  all[3].graph.arcs[1].capacity = 3;
  all[4].demand.trees[0] = 2;
  all[5].demand.is_target[2] = 1;
  all[6].outside = 2;
  all[7].graph.num_nodes = 4;
  all[8].graph.arcs.pop_back();
  std::set<std::vector<Amount>> contents;
  for (const Subproblem& problem : all) contents.insert(content(problem));
  CHECK(contents.size() == all.size());
  CHECK(content(all[0]) == content(plain));
}

}  // namespace subproblem_tests

TESTS(subproblem) { problems_that_differ_anywhere_have_other_contents(); }
