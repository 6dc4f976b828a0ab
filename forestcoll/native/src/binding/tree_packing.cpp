// Python binding of tree packing: every tight set by itself.
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "forestcoll/tree_packing/factored.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

using EndArrays = std::tuple<Out<NodeId>, Out<NodeId>>;

std::optional<EndArrays> ends_or_none(std::optional<LinkEnds> ends) {
  if (!ends) return std::nullopt;
  return EndArrays(array_of(std::move(ends->tail)), array_of(std::move(ends->head)));
}

auto pack_each_set(In<NodeId> tail, In<NodeId> head, In<Amount> capacity, In<Amount> trees,
                   In<std::int32_t> set_of, In<std::int32_t> set_parent, bool thorough,
                   int rotated_from, Callback progress) {
  const ArcView links = view_of(tail, head, capacity);
  const NodeMap<Amount> demand = vector_of(trees);
  const Family family = family_of(set_of, set_parent);
  SetPacking forest = run(progress, [&](Progress p) {
    return pack_sets(links, demand, family, p, thorough, rotated_from);
  });
  std::vector<NodeId> root, parent, radices;
  std::vector<Amount> multiplicity;
  for (Shape& shape : forest.shapes) {
    root.insert(root.end(), shape.root.begin(), shape.root.end());
    multiplicity.insert(multiplicity.end(), shape.multiplicity.begin(), shape.multiplicity.end());
    if (forest.shapes.size() == 1) {
      parent = std::move(shape.parent);  // of a graph without sets it may be all there is
    } else {
      parent.insert(parent.end(), shape.parent.begin(), shape.parent.end());
    }
    shape.parent = {};
    radices.insert(radices.end(), shape.radices.begin(), shape.radices.end());
  }
  return std::tuple(
      ends_or_none(std::move(forest.ends)), array_of(std::move(forest.load)),
      array_of(std::move(forest.shape_of)),
      column(forest.shapes, [](const Shape& s) { return static_cast<std::int32_t>(s.num_items); }),
      column(forest.shapes,
             [](const Shape& s) { return static_cast<std::int64_t>(s.root.size()); }),
      array_of(std::move(root)), array_of(std::move(multiplicity)), array_of(std::move(parent)),
      column(forest.shapes,
             [](const Shape& s) { return static_cast<std::int32_t>(s.radices.size()); }),
      array_of(std::move(radices)));
}

}  // namespace

void bind_tree_packing(nb::module_& m) {
  m.def("pack_sets", &pack_each_set, "tail"_a, "head"_a, "capacity"_a, "trees"_a, "set_of"_a,
        "set_parent"_a, "thorough"_a = false, "rotated_from"_a = std::numeric_limits<int>::max(),
        "progress"_a = nb::none(),
        "Return the factored forest: links (tail, head) and their loads, the shape of each set, "
        "items and batches of each shape, root, multiplicity and parents of the batches, and the "
        "digits and radices of shapes whose batches are rotated.\n\nLinks are None if they are "
        "those given: sorted, each once, and all of them carry trees.");
}

}  // namespace forestcoll
