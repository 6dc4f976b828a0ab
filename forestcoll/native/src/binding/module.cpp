// The module `forestcoll.native._core`.
#include "binding.hpp"

NB_MODULE(_core, m) { forestcoll::bind_core(m); }
