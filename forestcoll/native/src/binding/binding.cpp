// The module `forestcoll.native._core`: functions of arrays. No graph object crosses the border.
#include "binding.hpp"

#include "forestcoll/binding/error_translation.hpp"

NB_MODULE(_core, m) {
  using namespace forestcoll;
  m.doc() = "The exact core: optimality, switch removal, tree packing and routing on arrays.";
  translate_errors();
  bind_optimality(m);
  bind_violation(m);
  bind_tight_sets(m);
  bind_edge_splitting(m);
  bind_tree_packing(m);
  bind_assembly(m);
  bind_path_recovery(m);
  bind_paper(m);
  bind_simulation(m);
  bind_bounded_depth(m);
  bind_forest_over_time(m);
  bind_shortcuts(m);
}
