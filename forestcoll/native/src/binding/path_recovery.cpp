// Python binding of path recovery.
#include "forestcoll/path_recovery/path_recovery.hpp"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto route_loads(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                 In<NodeId> via, In<NodeId> from, In<NodeId> to, In<Amount> amount,
                 In<NodeId> load_tail, In<NodeId> load_head, In<Amount> load) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const ArcView loads = view_of(load_tail, load_head, load);
  if (via.size() != amount.size() || from.size() != amount.size() || to.size() != amount.size()) {
    throw InvalidInput("via, from, to and amount differ in length");
  }
  const SplitView splits{{via.data(), via.size()},
                         {from.data(), from.size()},
                         {to.data(), to.size()},
                         {amount.data(), amount.size()}};
  Routes routes = run(std::nullopt, [&](Progress) { return recover_paths(graph, splits, loads); });
  return std::tuple(array_of(std::move(routes.first_path)),
                    array_of(std::move(routes.multiplicity)), array_of(std::move(routes.first_hop)),
                    array_of(std::move(routes.hop)));
}

}  // namespace

void bind_path_recovery(nb::module_& m) {
  m.def("route_loads", &route_loads, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "via"_a,
        "from_node"_a, "to_node"_a, "amount"_a, "load_tail"_a, "load_head"_a, "load"_a,
        "Return paths of each load in compressed rows: first_path, multiplicity, first_hop, hop.");
}

}  // namespace forestcoll
