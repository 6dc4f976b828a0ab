// The Python face of the core: array functions, no graph object crosses the border.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/assembly.hpp"
#include "forestcoll/decomposition.hpp"
#include "forestcoll/errors.hpp"
#include "forestcoll/optimality.hpp"
#include "forestcoll/packing.hpp"
#include "forestcoll/progress.hpp"
#include "forestcoll/routing.hpp"
#include "forestcoll/switch_removal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace forestcoll {
namespace {

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <typename T>
using OutRows = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;
using Callback = std::optional<nb::typed<nb::callable, void(std::int64_t, std::int64_t)>>;

template <typename T>
std::vector<T> vector_of(const In<T>& array) {
  return {array.data(), array.data() + array.size()};
}

template <typename T>
nb::capsule keep(std::vector<T>* data) {
  return nb::capsule(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}

template <typename T>
Out<T> array_of(std::vector<T> values) {
  auto* data = new std::vector<T>(std::move(values));
  return Out<T>(data->data(), {data->size()}, keep(data));
}

template <typename T>
OutRows<T> rows_of(std::vector<T> values, std::size_t columns) {
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  auto* data = new std::vector<T>(std::move(values));
  return OutRows<T>(data->data(), {rows, columns}, keep(data));
}

template <typename Rows, typename Get>
auto column(const Rows& rows, Get get) {
  std::vector<std::decay_t<decltype(get(*rows.begin()))>> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(get(row));
  return array_of(std::move(values));
}

std::vector<Arc> arcs_of(const In<NodeId>& tail, const In<NodeId>& head,
                         const In<Amount>& capacity) {
  if (tail.size() != head.size() || tail.size() != capacity.size()) {
    throw InvalidInput("tail, head and capacity differ in length");
  }
  std::vector<Arc> arcs(tail.size());
  for (std::size_t i = 0; i < arcs.size(); ++i) arcs[i] = {tail(i), head(i), capacity(i)};
  return arcs;
}

// Runs without the GIL; takes it now and then to report and to see whether Ctrl-C was pressed.
template <typename Work>
auto run(const Callback& callback, Work work) {
  Progress progress([&callback](std::int64_t done, std::int64_t total) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback) (*callback)(done, total);
  });
  nb::gil_scoped_release release;
  return work(std::move(progress));
}

auto bottleneck(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                In<Amount> weight, In<std::uint8_t> target, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand weights{vector_of(weight), vector_of(target)};
  Bottleneck found =
      run(progress, [&](Progress p) { return find_bottleneck(graph, weights, std::move(p)); });
  return std::tuple(found.numerator, found.denominator, array_of(std::move(found.cut)),
                    found.newton_steps);
}

Family family_of(const In<std::int32_t>& set_of, const In<std::int32_t>& set_parent) {
  return {vector_of(set_of), vector_of(set_parent)};
}

auto decomposition(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                   In<Amount> trees, In<std::uint8_t> target, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  Decomposition found =
      run(progress, [&](Progress p) { return forestcoll::decompose(graph, demand, std::move(p)); });
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
  return std::tuple(column(removal.logical, [](const Arc& a) { return a.tail; }),
                    column(removal.logical, [](const Arc& a) { return a.head; }),
                    column(removal.logical, [](const Arc& a) { return a.capacity; }),
                    column(removal.splits, [](const Split& s) { return s.via; }),
                    column(removal.splits, [](const Split& s) { return s.from; }),
                    column(removal.splits, [](const Split& s) { return s.to; }),
                    column(removal.splits, [](const Split& s) { return s.amount; }),
                    removal.exchanges, removal.exact_switches);
}

auto pack_trees(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                In<Amount> trees, In<std::int32_t> set_of, In<std::int32_t> set_parent,
                Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const std::vector<Amount> demand = vector_of(trees);
  const Family family = family_of(set_of, set_parent);
  const std::vector<Batch> batches =
      run(progress, [&](Progress p) { return pack_forest(graph, demand, family, std::move(p)); });
  std::vector<NodeId> parents;
  parents.reserve(batches.size() * demand.size());
  for (const Batch& batch : batches) {
    parents.insert(parents.end(), batch.parent.begin(), batch.parent.end());
  }
  return std::tuple(column(batches, [](const Batch& b) { return b.root; }),
                    column(batches, [](const Batch& b) { return b.multiplicity; }),
                    rows_of(std::move(parents), demand.size()),
                    array_of(loads(graph.arcs, batches)));
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
        "target"_a, "progress"_a = nb::none(),
        "Return p, q, the cut and the Newton steps: 1/x* = p / q in units of 1/capacity.");
  m.def("decompose", &decomposition, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "target"_a, "progress"_a = nb::none(),
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
}
