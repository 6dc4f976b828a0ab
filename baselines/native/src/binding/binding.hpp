// The functions of each method, in the file of its name.
#pragma once

#include <nanobind/nanobind.h>

namespace forestcoll::baselines {

void bind_bfb(nanobind::module_& m);
void bind_multitree(nanobind::module_& m);
void bind_tacos(nanobind::module_& m);

}  // namespace forestcoll::baselines
