// Python binding of edge splitting.
#include "forestcoll/edge_splitting/edge_splitting.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto split_off_switches(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                        In<Amount> trees, In<std::uint8_t> target, In<std::int32_t> set_of,
                        In<std::int32_t> set_parent, bool sparse_exchange, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  const Family family = family_of(set_of, set_parent);
  const SwitchRemoval removal = run(progress, [&](Progress p) {
    return remove_switches(graph, demand, family, std::move(p),
                           {.sparse_exchange = sparse_exchange});
  });
  return removal_arrays(removal.logical, removal.splits);
}

}  // namespace

void bind_edge_splitting(nb::module_& m) {
  m.def("split_off_switches", &split_off_switches, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "trees"_a, "target"_a, "set_of"_a, "set_parent"_a, "sparse_exchange"_a = false,
        "progress"_a = nb::none(),
        "Return logical links (tail, head, capacity) and splits (via, from, to, amount).");
}

}  // namespace forestcoll
