// Python binding of the optimum.
#include "forestcoll/optimality/optimality.hpp"

#include <cstdint>
#include <tuple>
#include <utility>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto bottleneck(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                In<Amount> weight, In<std::uint8_t> target, int threads, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand weights{vector_of(weight), vector_of(target)};
  Bottleneck found = run(
      progress, [&](Progress p) { return find_bottleneck(graph, weights, std::move(p), threads); });
  return std::tuple(found.numerator, found.denominator, array_of(std::move(found.cut)),
                    found.newton_steps);
}

}  // namespace

void bind_optimality(nb::module_& m) {
  m.def("bottleneck", &bottleneck, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "weight"_a,
        "target"_a, "threads"_a = 1, "progress"_a = nb::none(),
        "Return p, q, the cut and the Newton steps: 1/x* = p / q in units of 1/capacity.");
}

}  // namespace forestcoll
