// Trees in slots: each hop waits for the one before, and no tree of the parents is cheaper.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/forest_over_time/priced_slots.hpp"
#include "support/check.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace priced_slots_tests {

// Whole prices, so that sums are exact; some hops lack.
SlotPrices prices_at_random(Random& random, int slots, int size) {
  std::vector<double> prices;
  for (int i = 0; i < slots * size * size; ++i) {
    const bool none = i / size % size == i % size || between(random, 0, 9) < 3;
    prices.push_back(none ? kNoHop : static_cast<double>(between(random, 0, 9)));
  }
  return {slots, size, prices};
}

void check_tree(const SlotPrices& prices, const SlottedTree& tree, int root, int gap) {
  double price = 0;
  for (int v = 0; v < prices.size(); ++v) {
    const int parent = tree.parent[v];
    CHECK((parent < 0) == (v == root));
    if (parent < 0) continue;
    CHECK(0 <= tree.slot[v] && tree.slot[v] < prices.slots());
    CHECK(parent == root || tree.slot[v] >= tree.slot[parent] + gap);
    price += prices(tree.slot[v], parent, v);
  }
  CHECK(price == tree.price);
  CHECK(price < kNoHop);
}

// By all slots of all GPUs but the root, 0.
double least_price(const SlotPrices& prices, const IndexedVector<int>& parent, int gap) {
  const int last = prices.size() - 1;
  double least = kNoHop;
  IndexedVector<int> slot(prices.size(), 0);
  slot[0] = -gap;
  for (bool more = true; more;) {
    double price = 0;
    for (int v = 1; v <= last; ++v) {
      price += slot[v] < slot[parent[v]] + gap ? kNoHop : prices(slot[v], parent[v], v);
    }
    least = std::min(least, price);
    int digit = 1;
    while (digit <= last && ++slot[digit] == prices.slots()) slot[digit++] = 0;
    more = digit <= last;
  }
  return least;
}

void slots_are_the_best_of_all() {
  Random random(3);
  int found = 0;
  for (int round = 0; round < 200; ++round) {
    const SlotPrices prices = prices_at_random(random, 4, 4);
    const int gap = static_cast<int>(between(random, 1, 2));
    IndexedVector<int> parent(4, -1);
    for (int v = 1; v < 4; ++v) parent[v] = static_cast<int>(between(random, 0, v - 1));
    const auto best = best_slots(prices, parent, gap);
    const double least = least_price(prices, parent, gap);
    CHECK(best.has_value() == (least < kNoHop));
    if (!best) continue;
    ++found;
    check_tree(prices, *best, 0, gap);
    CHECK(best->price == least);
    CHECK(best->parent == parent);
  }
  CHECK(found > 20);
}

void improved_trees_are_trees() {
  Random random(5);
  int improved = 0;
  for (int round = 0; round < 200; ++round) {
    const SlotPrices prices = prices_at_random(random, 6, 7);
    const int root = static_cast<int>(between(random, 0, 6));
    const int gap = static_cast<int>(between(random, 1, 3));
    const auto grown = grown_tree(prices, root, gap);
    if (!grown) continue;
    check_tree(prices, *grown, root, gap);
    const auto cheaper = cheaper_slots(prices, grown->parent, gap);
    CHECK(cheaper.has_value());
    check_tree(prices, *cheaper, root, gap);
    CHECK(cheaper->price <= grown->price);
    improved += cheaper->price < grown->price;
  }
  CHECK(improved > 20);
}

void a_hop_waits_for_a_cheap_slot() {
  std::vector<double> price(3 * 3 * 3, 5.0);
  price[1 * 9 + 0 * 3 + 1] = price[2 * 9 + 1 * 3 + 2] = 0;
  const SlotPrices prices(3, 3, price);
  for (const auto& tree : {grown_tree(prices, 0, 1), cheaper_slots(prices, {-1, 0, 0}, 1)}) {
    CHECK(tree->price == 0);
    CHECK((tree->parent == IndexedVector<int>{-1, 0, 1}));
    CHECK((tree->slot == IndexedVector<int>{-1, 1, 2}));
  }
}

// 0 sends to 1 early for 3 or late for `late`; all others cost 0 behind 1, and 1 behind 0.
SlotPrices of_hub(double late) {
  std::vector<double> price(2 * 6 * 6, kNoHop);
  price[1] = 3;
  price[36 + 1] = late;
  for (std::size_t v = 2; v < 6; ++v) {
    price[36 + v] = 1;
    price[36 + 6 + v] = 0;
  }
  return {2, 6, price};
}

void gpus_move_with_what_saves_behind_them() {
  const auto gathered = cheaper_slots(of_hub(1), {-1, 0, 0, 0, 0, 0}, 1);
  CHECK(gathered->price == 3);
  CHECK((gathered->parent == IndexedVector<int>{-1, 0, 1, 1, 1, 1}));
  const auto emptied = cheaper_slots(of_hub(-2), {-1, 0, 1, 1, 1, 1}, 1);
  CHECK(emptied->price == 2);
  CHECK((emptied->parent == IndexedVector<int>{-1, 0, 0, 0, 0, 0}));
}

// 2 moves behind 1, which then may not move behind 2, though that is cheap, too; nor may the root.
void no_circle_is_made() {
  std::vector<double> price(3 * 3 * 3, kNoHop);
  price[1] = 5;
  price[2] = 6;
  price[9 + 3 + 2] = price[18 + 6 + 1] = price[18 + 6] = 1;
  const auto tree = cheaper_slots(SlotPrices(3, 3, price), {-1, 0, 0}, 1);
  CHECK(tree->price == 6);
  CHECK((tree->parent == IndexedVector<int>{-1, 0, 1}));
}

void wrong_input_is_refused() {
  const SlotPrices prices(1, 3, std::vector<double>(9, 1.0));
  CHECK_THROWS(InvalidInput, SlotPrices(1, 3, std::vector<double>(8, 1.0)));
  CHECK_THROWS(InvalidInput, SlotPrices(0, 3, std::vector<double>()));
  CHECK_THROWS(InvalidInput, grown_tree(prices, 3, 1));
  CHECK_THROWS(InvalidInput, grown_tree(prices, 0, 0));
  CHECK_THROWS(InvalidInput, best_slots(prices, {-1, 0}, 1));
  CHECK_THROWS(InvalidInput, best_slots(prices, {-1, 0, 0}, 0));
  CHECK_THROWS(InvalidInput, best_slots(prices, {-1, 0, 3}, 1));
  CHECK_THROWS(InvalidInput, best_slots(prices, {-1, 0, -1}, 1));
  CHECK_THROWS(InvalidInput, best_slots(prices, {-1, 2, 1}, 1));
}

}  // namespace priced_slots_tests

TESTS(priced_slots) {
  slots_are_the_best_of_all();
  improved_trees_are_trees();
  a_hop_waits_for_a_cheap_slot();
  gpus_move_with_what_saves_behind_them();
  no_circle_is_made();
  wrong_input_is_refused();
}
