// Errors of the core. The binding maps each to a Python exception.
#pragma once

#include <stdexcept>

namespace forestcoll {

// The caller broke the contract of a function.
struct InvalidInput : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Exact 64-bit arithmetic could not hold this input.
struct CapacityOverflow : std::overflow_error {
  using std::overflow_error::overflow_error;
};

// Some target cannot be reached from some root.
struct Disconnected : std::domain_error {
  using std::domain_error::domain_error;
};

// The capacities cannot carry the trees asked for.
struct Infeasible : std::domain_error {
  using std::domain_error::domain_error;
};

// A theorem that the core relies on seems not to hold: a bug.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace forestcoll
