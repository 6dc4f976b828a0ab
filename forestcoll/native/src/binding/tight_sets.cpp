// Python binding of the decomposition at tight sets.
#include <cstdint>
#include <tuple>
#include <utility>

#include "binding.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto decomposition(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                   In<Amount> trees, In<std::uint8_t> target, int threads, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  Decomposition found = run(progress, [&](Progress p) {
    return forestcoll::decompose(graph, demand, std::move(p), threads);
  });
  return std::tuple(array_of(std::move(found.family.set_of)),
                    array_of(std::move(found.family.parent)), array_of(std::move(found.capacity)));
}

}  // namespace

void bind_tight_sets(nb::module_& m) {
  m.def("decompose", &decomposition, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "target"_a, "threads"_a = 1, "progress"_a = nb::none(),
        "Return the smallest tight set around each node, the parent of each set (-1: none), and "
        "the trimmed capacities.");
}

}  // namespace forestcoll
