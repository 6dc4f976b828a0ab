// Python binding of assembly: trees of a factored forest, in blocks.
#include "forestcoll/assembly/assembly.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "forestcoll/assembly/parent_rows.hpp"
#include "forestcoll/tree_packing/factored.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

// Borrows links and parents without a copy, as there may be gigabytes of them.
FactoredForest factored_of(const In<Amount>& trees, const In<NodeId>& tail, const In<NodeId>& head,
                           const In<Amount>& load, const In<std::int32_t>& set_of,
                           const In<std::int32_t>& set_parent, const In<std::int32_t>& shape_of,
                           const In<std::int32_t>& items, const In<std::int64_t>& batches,
                           const In<NodeId>& root, const In<Amount>& multiplicity,
                           const In<NodeId>& parent) {
  FactoredForest forest{vector_of(trees),    {}, family_of(set_of, set_parent),
                        vector_of(shape_of), {}, view_of(tail, head, load)};
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
                             {},
                             {parent.data() + entry, rows * columns}});
    batch += rows;
    entry += rows * columns;
  }
  if (batch != root.size() || entry != parent.size()) {
    throw InvalidInput("more batches are given than the shapes have");
  }
  return forest;
}

OutRows<NodeId> handed_over(ParentRows& rows, std::size_t columns) {
  const std::size_t count = rows.num_rows();
  NodeId* data = rows.release();
  const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return OutRows<NodeId>(data, {count, columns}, owner);
}

// The one object that crosses the border: a running assembly cannot be an array.
class Expansion {
 public:
  Expansion(In<Amount> trees, In<NodeId> tail, In<NodeId> head, In<Amount> load,
            In<std::int32_t> set_of, In<std::int32_t> set_parent, In<std::int32_t> shape_of,
            In<std::int32_t> items, In<std::int64_t> batches, In<NodeId> root,
            In<Amount> multiplicity, In<NodeId> parent)
      : all_trees_(0),
        nodes_(trees.size()),
        parent_(parent),
        assembler_(factored_of(trees, tail, head, load, set_of, set_parent, shape_of, items,
                               batches, root, multiplicity, parent)) {
    for (std::size_t v = 0; v < nodes_; ++v) all_trees_ += trees(v);
  }

  auto take(std::int64_t most, Callback progress) {
    std::vector<NodeId> root;
    std::vector<Amount> multiplicity;
    ParentRows parents(nodes_);
    const auto row = [&] { return parents.next(); };
    step(most, progress, row, [&] {
      root.push_back(assembler_.root());
      multiplicity.push_back(assembler_.multiplicity());
      parents.keep();
    });
    return std::tuple(array_of(std::move(root)), array_of(std::move(multiplicity)),
                      handed_over(parents, nodes_));
  }

  bool is_one_packing() const { return assembler_.is_one_packing(); }

  auto take_batches(Callback progress) {
    std::vector<NodeId> root;
    std::vector<Amount> multiplicity;
    std::vector<std::int32_t> batch;
    assembler_.name_batches();
    step(std::numeric_limits<std::int64_t>::max(), progress, no_row, [&] {
      root.push_back(assembler_.root());
      multiplicity.push_back(assembler_.multiplicity());
      batch.push_back(assembler_.batch());
    });
    return std::tuple(array_of(std::move(root)), array_of(std::move(multiplicity)),
                      array_of(std::move(batch)));
  }

  auto take_depths(std::int64_t most, Callback progress) {
    std::vector<Amount> multiplicity;
    std::vector<std::int32_t> tree_depth;
    step(most, progress, no_row, [&] {
      multiplicity.push_back(assembler_.multiplicity());
      tree_depth.push_back(assembler_.tree_depth());
    });
    return std::tuple(array_of(std::move(multiplicity)), array_of(std::move(tree_depth)));
  }

 private:
  static std::span<NodeId> no_row() { return {}; }

  template <typename Row, typename Visit>
  void step(std::int64_t most, const Callback& progress, Row row, Visit visit) {
    run(progress, [&](Progress report) {
      for (std::int64_t taken = 0; taken < most && assembler_.next(row()); ++taken) {
        visit();
        report(assembler_.trees_built(), all_trees_);
      }
    });
  }

  Amount all_trees_;
  std::size_t nodes_;
  In<NodeId> parent_;  // lent to the assembler
  Assembler assembler_;
};

}  // namespace

void bind_assembly(nb::module_& m) {
  nb::class_<Expansion>(m, "Expansion", "Trees of a factored forest, one batch after the other.")
      .def(nb::init<In<Amount>, In<NodeId>, In<NodeId>, In<Amount>, In<std::int32_t>,
                    In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<std::int64_t>,
                    In<NodeId>, In<Amount>, In<NodeId>>(),
           "trees"_a, "tail"_a, "head"_a, "load"_a, "set_of"_a, "set_parent"_a, "shape_of"_a,
           "items"_a, "batches"_a, "root"_a, "multiplicity"_a, "parent"_a)
      .def("take", &Expansion::take, "most"_a, "progress"_a = nb::none(),
           "Return up to so many of the next batches: root, multiplicity and rows of parents.")
      .def_prop_ro("is_one_packing", &Expansion::is_one_packing,
                   "Whether all nodes are one set of plain items: its batches are the trees.")
      .def("take_batches", &Expansion::take_batches, "progress"_a = nb::none(),
           "Return all batches of one packing: root, multiplicity, and their numbers in it.")
      .def("take_depths", &Expansion::take_depths, "most"_a, "progress"_a = nb::none(),
           "Return up to so many of the next batches: multiplicity and depth of the trees.");
}

}  // namespace forestcoll
