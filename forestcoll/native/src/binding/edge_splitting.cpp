// Python binding of edge splitting.
#include "forestcoll/edge_splitting/edge_splitting.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

// Numbers the ends of logical links among the targets alone.
void number_targets(const Demand& demand, ArcColumns& links) {
  NodeMap<NodeId> rank(demand.is_target.size(), -1);
  NodeId ranks = 0;
  for (const NodeId target : demand.targets()) rank[target] = ranks++;
  for (NodeId& tail : links.tail) tail = rank[tail];
  for (NodeId& head : links.head) head = rank[head];
}

auto split_off_switches(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                        In<Amount> trees, In<std::uint8_t> target, In<std::int32_t> set_of,
                        In<std::int32_t> set_parent, bool sparse_exchange, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  const Family family = family_of(set_of, set_parent);
  SwitchRemoval removal = run(progress, [&](Progress p) {
    return remove_switches(graph, demand, family, std::move(p),
                           {.sparse_exchange = sparse_exchange});
  });
  auto& [logical, splits, exact] = removal;
  number_targets(demand, logical);
  return std::tuple_cat(
      arrays_of(std::move(logical)),
      std::tuple(array_of(std::move(splits.via)), array_of(std::move(splits.from)),
                 array_of(std::move(splits.to)), array_of(std::move(splits.amount))));
}

}  // namespace

void bind_edge_splitting(nb::module_& m) {
  m.def("split_off_switches", &split_off_switches, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "trees"_a, "target"_a, "set_of"_a, "set_parent"_a, "sparse_exchange"_a = false,
        "progress"_a = nb::none(),
        "Return logical links (tail, head, capacity) and splits (via, from, to, amount).\n\nLinks "
        "join targets, numbered among themselves; splits join nodes.");
}

}  // namespace forestcoll
