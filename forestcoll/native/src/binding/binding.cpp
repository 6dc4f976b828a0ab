// Python binding of the core: functions of arrays. No graph object crosses the border.
#include "binding.hpp"

#include <exception>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {
namespace {

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
  bind_optimality(m);
  bind_violation(m);
  bind_tight_sets(m);
  bind_edge_splitting(m);
  bind_tree_packing(m);
  bind_assembly(m);
  bind_path_recovery(m);
  bind_paper(m);
  bind_bfb(m);
  bind_simulation(m);
  bind_bounded_depth(m);
  bind_multitree(m);
  bind_tacos(m);
  bind_shortcuts(m);
}
