// Python binding of the search for trees whose hops have slots.
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "binding.hpp"
#include "forestcoll/forest_over_time/priced_slots.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

using HopPrices = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Found = std::optional<std::tuple<double, Out<int>, Out<int>>>;

SlotPrices prices_of(const HopPrices& prices) {
  if (prices.shape(1) != prices.shape(2)) throw InvalidInput("senders and receivers differ");
  return {static_cast<int>(prices.shape(0)), static_cast<int>(prices.shape(1)),
          std::span(prices.data(), prices.size())};
}

Found arrays_of(std::optional<SlottedTree> tree) {
  if (!tree) return std::nullopt;
  return std::tuple(tree->price, array_of<int>(std::move(tree->parent)),
                    array_of<int>(std::move(tree->slot)));
}

Found grown(HopPrices prices, int root, int gap) {
  return arrays_of(forestcoll::grown_tree(prices_of(prices), root, gap));
}

Found with_best_slots(HopPrices prices, In<int> parent, int gap) {
  return arrays_of(forestcoll::best_slots(prices_of(prices), vector_of(parent), gap));
}

Found cheaper(HopPrices prices, In<int> parent, int gap) {
  return arrays_of(forestcoll::cheaper_slots(prices_of(prices), vector_of(parent), gap));
}

}  // namespace

void bind_forest_over_time(nb::module_& m) {
  m.def("grown_tree", &grown, "prices"_a, "root"_a, "gap"_a,
        "Grow a tree by cheapest paths, by prices of shape (slots, senders, receivers). Return its "
        "price, parents and slots; None if there are too few slots.");
  m.def("best_slots", &with_best_slots, "prices"_a, "parent"_a, "gap"_a,
        "Return the least price of given parents, the parents, and the slots that attain it.");
  m.def("cheaper_slots", &cheaper, "prices"_a, "parent"_a, "gap"_a,
        "Improve a tree by moves of GPUs. Return its price, parents and slots.");
}

}  // namespace forestcoll
