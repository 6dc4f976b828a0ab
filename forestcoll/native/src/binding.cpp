// The Python face of the core: array functions, no graph object crosses the border.
#include "binding.hpp"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/assembly.hpp"
#include "forestcoll/decomposition.hpp"
#include "forestcoll/optimality.hpp"
#include "forestcoll/routing.hpp"

namespace nb = nanobind;
using namespace nb::literals;

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

Family family_of(const In<std::int32_t>& set_of, const In<std::int32_t>& set_parent) {
  return {vector_of(set_of), vector_of(set_parent)};
}

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

auto split_off_switches(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                        In<Amount> trees, In<std::uint8_t> target, In<std::int32_t> set_of,
                        In<std::int32_t> set_parent, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  const Family family = family_of(set_of, set_parent);
  const SwitchRemoval removal = run(
      progress, [&](Progress p) { return remove_switches(graph, demand, family, std::move(p)); });
  return std::tuple_cat(removal_arrays(removal.logical, removal.splits),
                        std::tuple(removal.exchanges, removal.exact_switches));
}

auto pack_trees(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                In<Amount> trees, In<std::int32_t> set_of, In<std::int32_t> set_parent,
                Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const std::vector<Amount> demand = vector_of(trees);
  const Family family = family_of(set_of, set_parent);
  const std::vector<Batch> batches =
      run(progress, [&](Progress p) { return pack_forest(graph, demand, family, std::move(p)); });
  return packing_arrays(graph, batches);
}

auto route_loads(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                 In<NodeId> via, In<NodeId> from, In<NodeId> to, In<Amount> amount,
                 In<NodeId> load_tail, In<NodeId> load_head, In<Amount> load) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const std::vector<Arc> loads = arcs_of(load_tail, load_head, load);
  if (via.size() != amount.size() || from.size() != amount.size() || to.size() != amount.size()) {
    throw InvalidInput("via, from, to and amount differ in length");
  }
  std::vector<Split> splits(amount.size());
  for (std::size_t i = 0; i < splits.size(); ++i) splits[i] = {via(i), from(i), to(i), amount(i)};
  const std::vector<Route> routes =
      run(std::nullopt, [&](Progress) { return route(graph, splits, loads); });

  std::vector<std::int64_t> first_path{0}, first_hop{0};
  std::vector<Amount> multiplicity;
  std::vector<NodeId> hop;
  for (const Route& logical : routes) {
    for (const PhysicalPath& path : logical.paths) {
      multiplicity.push_back(path.multiplicity);
      hop.insert(hop.end(), path.nodes.begin(), path.nodes.end());
      first_hop.push_back(static_cast<std::int64_t>(hop.size()));
    }
    first_path.push_back(static_cast<std::int64_t>(multiplicity.size()));
  }
  return std::tuple(array_of(std::move(first_path)), array_of(std::move(multiplicity)),
                    array_of(std::move(first_hop)), array_of(std::move(hop)));
}

void raise(const char* name, const std::exception& error) {
  const nb::object type = nb::module_::import_("forestcoll.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const CapacityOverflow& error) {
    raise("CapacityOverflowError", error);
  } catch (const Disconnected& error) {
    raise("DisconnectedError", error);
  } catch (const Infeasible& error) {
    raise("InfeasibleError", error);
  } catch (const InvalidInput& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const InternalError& error) {
    PyErr_SetString(PyExc_AssertionError, error.what());
  }
}

}  // namespace
}  // namespace forestcoll

NB_MODULE(_core, m) {
  using namespace forestcoll;
  m.doc() = "The exact core: optimality, switch removal, tree packing and routing on arrays.";
  nb::register_exception_translator(translate);
  m.def("bottleneck", &bottleneck, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "weight"_a,
        "target"_a, "threads"_a = 1, "progress"_a = nb::none(),
        "Return p, q, the cut and the Newton steps: 1/x* = p / q in units of 1/capacity.");
  m.def("decompose", &decomposition, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "target"_a, "threads"_a = 1, "progress"_a = nb::none(),
        "Return the smallest tight set around each node, the parent of each set (-1: none), and "
        "the trimmed capacities.");
  m.def("split_off_switches", &split_off_switches, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "trees"_a, "target"_a, "set_of"_a, "set_parent"_a, "progress"_a = nb::none(),
        "Return logical links (tail, head, capacity), splits (via, from, to, amount), and how "
        "many exchanges and pair-by-pair switches that took.");
  m.def(
      "pack_trees", &pack_trees, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
      "set_of"_a, "set_parent"_a, "progress"_a = nb::none(),
      "Return batches of spanning out-trees (root, multiplicity, parents) and each link's load.\n\n"
      "Links must be sorted by (tail, head).");
  m.def("route_loads", &route_loads, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "via"_a,
        "from_node"_a, "to_node"_a, "amount"_a, "load_tail"_a, "load_head"_a, "load"_a,
        "Return paths of each load in compressed rows: first_path, multiplicity, first_hop, hop.");
  bind_paper(m);
}
