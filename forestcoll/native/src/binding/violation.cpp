// Python binding of the test of condition (C).
#include "forestcoll/violation/violation.hpp"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto violated_cut(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                  In<Amount> trees, In<std::uint8_t> target, std::uint64_t passed, int threads,
                  Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  std::optional<Violation> found = run(progress, [&](Progress p) {
    return find_violation(graph, demand, passed, std::move(p), threads);
  });
  if (!found) return std::tuple(demand.targets().size(), array_of(std::vector<std::uint8_t>{}));
  return std::tuple(found->targets_before, array_of(std::move(found->cut)));
}

}  // namespace

void bind_violation(nb::module_& m) {
  m.def("violated_cut", &violated_cut, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "target"_a, "passed"_a = 0, "threads"_a = 1, "progress"_a = nb::none(),
        "Return the number of targets, in order, that all trees can reach, and the cut before the "
        "next one: 1 for the nodes whose trees lack capacity to leave; empty if all are reached.");
}

}  // namespace forestcoll
