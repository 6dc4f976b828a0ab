// Python binding of MultiTree's growth.
#include "baselines/multitree/multitree.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"
#include "forestcoll/binding/arrays.hpp"

using namespace nanobind::literals;

namespace forestcoll::baselines {
namespace {

auto grow_of(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> units,
             In<std::int32_t> narrowness, In<NodeId> gpu, Amount per_hop, Amount per_width,
             bool onward, Callback progress) {
  const GroveNetwork network{
      {nodes, arcs_of(tail, head, units)}, vector_of(narrowness), vector_of(gpu)};
  const GroveRules rules{{per_hop, per_width}, onward};
  Grown grown = run(progress, [&](Progress p) { return grow(network, rules, std::move(p)); });
  PathArrays& paths = grown.paths;
  return std::tuple(grown.steps, rows_of(std::move(grown.parent), network.gpus.size()),
                    array_of(std::move(paths.tail)), array_of(std::move(paths.head)),
                    array_of(std::move(paths.first_path)), array_of(std::move(paths.trees)),
                    array_of(std::move(paths.first_hop)), array_of(std::move(paths.hop)));
}

}  // namespace

void bind_multitree(nb::module_& m) {
  m.def("grow", &grow_of, "num_nodes"_a, "tail"_a, "head"_a, "units"_a, "narrowness"_a, "gpu"_a,
        "per_hop"_a, "per_width"_a, "onward"_a, "progress"_a = nb::none(),
        "Grow MultiTree's trees over arcs of so many units a step, with GPUs in the order of "
        "preference. Return the number of steps, the parents (ranks; -1 also for GPUs that a tree "
        "cannot reach), and the paths: tail, head, first path, trees, first hop, hops.");
}

}  // namespace forestcoll::baselines
