// The Python exceptions of the core's errors.
//
// Each module that links the core registers the translator itself, so no module depends on which
// other one was imported before.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

inline void raise(const char* name, const std::exception& error) {
  const nanobind::object type = nanobind::module_::import_("forestcoll.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

inline void translate(const std::exception_ptr& thrown, void*) {
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

inline void translate_errors() { nanobind::register_exception_translator(translate); }

}  // namespace forestcoll
