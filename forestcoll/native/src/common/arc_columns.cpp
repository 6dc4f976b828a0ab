#include "forestcoll/common/arc_columns.hpp"

#include <algorithm>

namespace forestcoll {

bool are_merged(const ArcView& arcs) {
  int wrong = 0;
  for (std::size_t i = 1; i < arcs.size(); ++i) {
    const int later = static_cast<int>(arcs.tail[i - 1] > arcs.tail[i]);
    const int same = static_cast<int>(arcs.tail[i - 1] == arcs.tail[i]);
    wrong |= later | (same & static_cast<int>(arcs.head[i - 1] >= arcs.head[i]));
  }
  return wrong == 0 && std::ranges::find(arcs.capacity, 0) == arcs.capacity.end();
}

}  // namespace forestcoll
