// The module `_core_testing`: all of `_core`, and switches for its shortcuts. Tests build it; no
// release has it.
#include <string_view>

#include "binding.hpp"
#include "forestcoll/common/shortcuts.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

nb::typed<nb::tuple, nb::str, nb::ellipsis> names() {
  nb::list names;
  for (const auto name : kShortcutNames) names.append(nb::str(name.data(), name.size()));
  return nb::tuple(names);
}

}  // namespace
}  // namespace forestcoll

NB_MODULE(_core_testing, m) {
  forestcoll::bind_core(m);
  m.def("shortcut_names", &forestcoll::names, "Return the names of the shortcuts, by number.");
  m.def("block_shortcuts", &forestcoll::block_shortcuts, "bits"_a,
        "Block the shortcuts whose bits are set, open all others.");
}
