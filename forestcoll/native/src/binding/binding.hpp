// Shared by the binding files of the core: arrays of several stages, and the functions of each.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "forestcoll/binding/arrays.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// Tail, head and capacity.
inline auto arc_columns(const std::vector<Arc>& arcs) {
  return columns(
      arcs, [](const Arc& a) { return a.tail; }, [](const Arc& a) { return a.head; },
      [](const Arc& a) { return a.capacity; });
}

// Logical links (tail, head, capacity) and the splits that made them (via, from, to, amount).
inline auto removal_arrays(const std::vector<Arc>& logical, const std::vector<Split>& splits) {
  return std::tuple_cat(
      arc_columns(logical),
      columns(
          splits, [](const Split& s) { return s.via; }, [](const Split& s) { return s.from; },
          [](const Split& s) { return s.to; }, [](const Split& s) { return s.amount; }));
}

inline Family family_of(const In<std::int32_t>& set_of, const In<std::int32_t>& set_parent) {
  return {vector_of(set_of), vector_of(set_parent)};
}

// The functions of each stage, in the file of its name.
void bind_optimality(nb::module_& m);
void bind_violation(nb::module_& m);
void bind_tight_sets(nb::module_& m);
void bind_edge_splitting(nb::module_& m);
void bind_tree_packing(nb::module_& m);
void bind_assembly(nb::module_& m);
void bind_path_recovery(nb::module_& m);
void bind_paper(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_bounded_depth(nb::module_& m);
void bind_forest_over_time(nb::module_& m);
void bind_shortcuts(nb::module_& m);

}  // namespace forestcoll
