// Switches of the shortcuts, for tests.
#include "forestcoll/common/shortcuts.hpp"

#include <string_view>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

nb::typed<nb::tuple, nb::str, nb::ellipsis> names() {
  nb::list names;
  for (const auto name : kShortcutNames) names.append(nb::str(name.data(), name.size()));
  return nb::tuple(names);
}

}  // namespace

void bind_shortcuts(nb::module_& m) {
  m.def("shortcut_names", &names, "Return the names of the shortcuts, by number.");
  m.def(
      "block_shortcuts", &block_shortcuts, "bits"_a,
      "Block the shortcuts whose bits are set, open all others. For tests: results are the same.");
}

}  // namespace forestcoll
