// The Python face of the core: array functions, no graph object crosses the border.
#include "binding.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/assembly/assembly.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/path_recovery/path_recovery.hpp"
#include "forestcoll/tight_sets/decomposition.hpp"
#include "forestcoll/tree_packing/factored.hpp"
#include "forestcoll/violation/violation.hpp"

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

auto pack_each_set(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                   In<Amount> trees, In<std::int32_t> set_of, In<std::int32_t> set_parent,
                   Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const NodeMap<Amount> demand = vector_of(trees);
  const Family family = family_of(set_of, set_parent);
  FactoredForest forest =
      run(progress, [&](Progress p) { return pack_sets(graph, demand, family, p); });
  std::vector<NodeId> root, parent;
  std::vector<Amount> multiplicity;
  for (Shape& shape : forest.shapes) {
    root.insert(root.end(), shape.root.begin(), shape.root.end());
    multiplicity.insert(multiplicity.end(), shape.multiplicity.begin(), shape.multiplicity.end());
    parent.insert(parent.end(), shape.parent.begin(), shape.parent.end());
    shape.parent = {};
  }
  return std::tuple(
      column(forest.links, [](const Arc& a) { return a.tail; }),
      column(forest.links, [](const Arc& a) { return a.head; }),
      column(forest.links, [](const Arc& a) { return a.capacity; }),
      array_of(std::move(forest.shape_of)),
      column(forest.shapes, [](const Shape& s) { return static_cast<std::int32_t>(s.num_items); }),
      column(forest.shapes,
             [](const Shape& s) { return static_cast<std::int64_t>(s.root.size()); }),
      array_of(std::move(root)), array_of(std::move(multiplicity)), array_of(std::move(parent)));
}

FactoredForest factored_of(const In<Amount>& trees, const In<NodeId>& tail, const In<NodeId>& head,
                           const In<Amount>& load, const In<std::int32_t>& set_of,
                           const In<std::int32_t>& set_parent, const In<std::int32_t>& shape_of,
                           const In<std::int32_t>& items, const In<std::int64_t>& batches,
                           const In<NodeId>& root, const In<Amount>& multiplicity,
                           const In<NodeId>& parent) {
  FactoredForest forest{vector_of(trees),
                        arcs_of(tail, head, load),
                        family_of(set_of, set_parent),
                        vector_of(shape_of),
                        {}};
  if (items.size() != batches.size() || root.size() != multiplicity.size()) {
    throw InvalidInput("the arrays of the shapes differ in length");
  }
  std::size_t batch = 0, entry = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto rows = static_cast<std::size_t>(batches(i)),
               columns = static_cast<std::size_t>(items(i));
    if (items(i) < 1 || batches(i) < 0 || rows > root.size() - batch ||
        rows > (parent.size() - entry) / columns) {
      throw InvalidInput("shape " + std::to_string(i) + " has more batches than are given");
    }
    forest.shapes.push_back({items(i),
                             {root.data() + batch, root.data() + batch + rows},
                             {multiplicity.data() + batch, multiplicity.data() + batch + rows},
                             {parent.data() + entry, parent.data() + entry + rows * columns}});
    batch += rows;
    entry += rows * columns;
  }
  if (batch != root.size() || entry != parent.size()) {
    throw InvalidInput("more batches are given than the shapes have");
  }
  return forest;
}

// Rows of parents, as many as there turn out to be. Large blocks grow in place (mremap), so there
// is never a second copy of what may be gigabytes.
class ParentRows {
 public:
  explicit ParentRows(std::size_t columns) : columns_(columns) {}
  ~ParentRows() { std::free(data_); }
  ParentRows(const ParentRows&) = delete;
  ParentRows& operator=(const ParentRows&) = delete;

  void append(std::span<const NodeId> row) {
    if (rows_ == room_) grow();
    std::ranges::copy(row, data_ + rows_++ * columns_);
  }
  OutRows<NodeId> release() {
    NodeId* data = std::exchange(data_, nullptr);
    const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return OutRows<NodeId>(data, {rows_, columns_}, owner);
  }

 private:
  void grow() {
    room_ += room_ / 8 + columns_;  // a tree a node is the least there can be
    void* larger = std::realloc(data_, room_ * columns_ * sizeof(NodeId));
    if (larger == nullptr) throw std::bad_alloc();
    data_ = static_cast<NodeId*>(larger);
  }

  std::size_t columns_, rows_ = 0, room_ = 0;
  NodeId* data_ = nullptr;
};

// The one object that crosses the border: an assembly under way cannot be an array.
class Expansion {
 public:
  Expansion(In<Amount> trees, In<NodeId> tail, In<NodeId> head, In<Amount> load,
            In<std::int32_t> set_of, In<std::int32_t> set_parent, In<std::int32_t> shape_of,
            In<std::int32_t> items, In<std::int64_t> batches, In<NodeId> root,
            In<Amount> multiplicity, In<NodeId> parent)
      : all_trees_(0),
        nodes_(trees.size()),
        assembler_(factored_of(trees, tail, head, load, set_of, set_parent, shape_of, items,
                               batches, root, multiplicity, parent)) {
    for (std::size_t v = 0; v < nodes_; ++v) all_trees_ += trees(v);
  }

  auto take(std::int64_t most, Callback progress) {
    std::vector<NodeId> root;
    std::vector<Amount> multiplicity;
    ParentRows parents(nodes_);
    step(most, progress, [&] {
      root.push_back(assembler_.root());
      multiplicity.push_back(assembler_.multiplicity());
      parents.append(assembler_.parents());
    });
    return std::tuple(array_of(std::move(root)), array_of(std::move(multiplicity)),
                      parents.release());
  }

  auto take_heights(std::int64_t most, Callback progress) {
    std::vector<Amount> multiplicity;
    std::vector<std::int32_t> height;
    step(most, progress, [&] {
      multiplicity.push_back(assembler_.multiplicity());
      height.push_back(assembler_.height());
    });
    return std::tuple(array_of(std::move(multiplicity)), array_of(std::move(height)));
  }

 private:
  template <typename Visit>
  void step(std::int64_t most, const Callback& progress, Visit visit) {
    run(progress, [&](Progress report) {
      for (std::int64_t taken = 0; taken < most && assembler_.next(); ++taken) {
        visit();
        report(assembler_.trees_built(), all_trees_);
      }
    });
  }

  Amount all_trees_;
  std::size_t nodes_;
  Assembler assembler_;
};

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
  Routes routes = run(std::nullopt, [&](Progress) { return recover_paths(graph, splits, loads); });
  return std::tuple(array_of(std::move(routes.first_path)),
                    array_of(std::move(routes.multiplicity)), array_of(std::move(routes.first_hop)),
                    array_of(std::move(routes.hop)));
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
  m.def(
      "violated_cut", &violated_cut, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
      "target"_a, "passed"_a = 0, "threads"_a = 1, "progress"_a = nb::none(),
      "Return how many targets, in order, all trees can reach, and the cut before the next one: 1 "
      "for the nodes whose trees lack capacity to leave; empty if all targets are reached.");
  m.def("decompose", &decomposition, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "target"_a, "threads"_a = 1, "progress"_a = nb::none(),
        "Return the smallest tight set around each node, the parent of each set (-1: none), and "
        "the trimmed capacities.");
  m.def("split_off_switches", &split_off_switches, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "trees"_a, "target"_a, "set_of"_a, "set_parent"_a, "progress"_a = nb::none(),
        "Return logical links (tail, head, capacity), splits (via, from, to, amount), and how "
        "many exchanges and pair-by-pair switches that took.");
  m.def("pack_sets", &pack_each_set, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "trees"_a,
        "set_of"_a, "set_parent"_a, "progress"_a = nb::none(),
        "Return the factored forest: links (tail, head, load), the shape of each set, items and "
        "batches of each shape, and root, multiplicity and parents of the batches.");
  nb::class_<Expansion>(m, "Expansion", "Trees of a factored forest, one batch after the other.")
      .def(nb::init<In<Amount>, In<NodeId>, In<NodeId>, In<Amount>, In<std::int32_t>,
                    In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<std::int64_t>,
                    In<NodeId>, In<Amount>, In<NodeId>>(),
           "trees"_a, "tail"_a, "head"_a, "load"_a, "set_of"_a, "set_parent"_a, "shape_of"_a,
           "items"_a, "batches"_a, "root"_a, "multiplicity"_a, "parent"_a)
      .def("take", &Expansion::take, "most"_a, "progress"_a = nb::none(),
           "Return up to so many of the next batches: root, multiplicity and rows of parents.")
      .def("take_heights", &Expansion::take_heights, "most"_a, "progress"_a = nb::none(),
           "Return up to so many of the next batches: multiplicity and height.");
  m.def("route_loads", &route_loads, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "via"_a,
        "from_node"_a, "to_node"_a, "amount"_a, "load_tail"_a, "load_head"_a, "load"_a,
        "Return paths of each load in compressed rows: first_path, multiplicity, first_hop, hop.");
  bind_paper(m);
}
