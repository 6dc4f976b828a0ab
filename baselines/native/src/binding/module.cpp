// The module `baselines.native._methods`: functions of arrays.
#include "binding.hpp"
#include "forestcoll/binding/error_translation.hpp"

NB_MODULE(_methods, m) {
  using namespace forestcoll::baselines;
  m.doc() = "Baselines on arrays: balanced broadcasts of BFB, trees of MultiTree, trials of TACOS.";
  forestcoll::translate_errors();
  bind_bfb(m);
  bind_multitree(m);
  bind_tacos(m);
}
