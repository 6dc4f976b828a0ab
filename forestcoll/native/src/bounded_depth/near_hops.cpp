#include "forestcoll/bounded_depth/near_hops.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace forestcoll {

NearHops::NearHops(const TreeState& state, Parents& parents)
    : in_(state.size()), out_(state.size()), box_of_(state.size(), -1) {
  find_hops(parents);
  find_boxes();
}

void NearHops::find_hops(Parents& parents) {
  struct Found {
    Amount cost;
    int tail, head, path;
  };
  std::vector<Found> found;
  Amount dearest = 0;
  for (int v = 0; v < in_.count(); ++v) {
    for (const Offer& offer : parents.all_when_empty(v)) {
      dearest = std::max(dearest, offer.price);
      if (2 * offer.price > dearest) continue;
      found.push_back({offer.price, offer.parent, v, parents.path_of(offer)});
    }
  }
  for (const auto& [cost, tail, head, path] : found) {
    if (2 * cost > dearest) continue;
    in_[head].push_back({tail, path});
    out_[tail].push_back({head, path});
  }
}

void NearHops::find_boxes() {
  for (int v = 0; v < in_.count(); ++v) {
    if (box_of_[v] >= 0) continue;
    Box box{v};
    box_of_[v] = boxes_.count();
    for (std::size_t next = 0; next < box.size(); ++next) {
      for (const auto* beside : {&in_[box[next]], &out_[box[next]]}) {
        for (const Hop& hop : *beside) {
          if (std::exchange(box_of_[hop.rank], box_of_[v]) < 0) box.push_back(hop.rank);
        }
      }
    }
    std::ranges::sort(box);
    boxes_.push_back(std::move(box));
  }
}

}  // namespace forestcoll
