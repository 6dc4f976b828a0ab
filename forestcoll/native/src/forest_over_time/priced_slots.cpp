#include "forestcoll/forest_over_time/priced_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {
namespace {

constexpr int kSweeps = 20;

// The cheapest way to have data at a GPU by a slot, and its last hop.
struct Arrival {
  double price = kNoHop;
  int sender = -1;
  int slot = -1;
};

// Cheapest paths from the GPUs of a tree, by slot and GPU.
class Paths {
 public:
  Paths(const SlotPrices& prices, int gap)
      : prices_(&prices), gap_(gap), arrival_((prices.slots() + gap) * prices.size()) {}

  int end() const { return prices_->slots() + gap_; }
  Arrival& at(int slot, int v) { return arrival_[slot * prices_->size() + v]; }

  // `ready` is the first slot in which a GPU can send, end() for those outside the tree.
  void search(const IndexedVector<int>& ready) {
    std::ranges::fill(arrival_, Arrival{});
    for (int slot = 0; slot < end(); ++slot) {
      for (int v = 0; v < prices_->size(); ++v) {
        // What has arrived waits; of equal prices the earlier one counts.
        if (slot > 0 && at(slot - 1, v).price <= at(slot, v).price) at(slot, v) = at(slot - 1, v);
        if (ready[v] <= slot) at(slot, v).price = 0;
      }
      if (slot < prices_->slots()) send(slot, ready);
    }
  }

 private:
  void send(int slot, const IndexedVector<int>& ready) {
    for (int v = 0; v < prices_->size(); ++v) {
      if (ready[v] < end()) continue;
      Arrival& there = at(slot + gap_, v);
      for (const int sender : prices_->senders(v)) {
        const double price = at(slot, sender).price + (*prices_)(slot, sender, v);
        if (price < there.price) there = {price, sender, slot};
      }
    }
  }

  const SlotPrices* prices_;
  int gap_;
  IndexedVector<Arrival> arrival_;
};

// All GPUs of a tree, each behind its parent.
std::vector<int> from_root(const IndexedVector<int>& parent) {
  IndexedVector<std::vector<int>> children(parent.count());
  std::vector<int> order;
  for (int v = 0; v < parent.count(); ++v) {
    if (parent[v] >= parent.count()) throw InvalidInput("a parent is no GPU");
    (parent[v] < 0 ? order : children[parent[v]]).push_back(v);
  }
  if (order.size() != 1) throw InvalidInput("a tree has one root");
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<int>& below = children[order[i]];
    order.insert(order.end(), below.begin(), below.end());
  }
  if (order.size() != parent.size()) throw InvalidInput("parents form a circle");
  return order;
}

// Moves GPUs to cheaper parents and slots. Each move leaves a tree: hops wait for those before, and
// as a hop takes one slot or more, no move makes a circle.
class Mover {
 public:
  Mover(const SlotPrices& prices, int gap, SlottedTree& tree)
      : prices_(&prices),
        gap_(gap),
        tree_(&tree),
        last_(prices.size()),
        saved_(prices.size() * end()) {}

  // GPUs of the dearest hop first.
  void sweep() {
    for (const int v : dearest_first()) {
      move_and_gather(v);
      empty_and_move(v);
    }
  }

 private:
  int end() const { return prices_->slots() + gap_; }
  int parent(int v) const { return tree_->parent[v]; }
  int ready(int v) const { return parent(v) < 0 ? 0 : tree_->slot[v] + gap_; }
  double price_of(int v) const { return (*prices_)(tree_->slot[v], parent(v), v); }
  double& saved(int w, int slot) { return saved_[w * end() + slot]; }

  void hang(int v, const Arrival& hop) {
    tree_->parent[v] = hop.sender;
    tree_->slot[v] = hop.slot;
  }

  std::vector<int> dearest_first() const {
    std::vector<int> order;
    for (int v = 0; v < prices_->size(); ++v) {
      if (parent(v) >= 0) order.push_back(v);
    }
    std::ranges::stable_sort(order, [this](int a, int b) { return price_of(a) > price_of(b); });
    return order;
  }

  // The last slot in which each GPU can receive what it leads to; none for the root.
  void find_last_slots() {
    for (int v = 0; v < prices_->size(); ++v) last_[v] = parent(v) < 0 ? -1 : prices_->slots() - 1;
    for (int v = 0; v < prices_->size(); ++v) {
      if (parent(v) >= 0) last_[parent(v)] = std::min(last_[parent(v)], tree_->slot[v] - gap_);
    }
  }

  // Improves on the best hop to v, by one from a GPU of the tree.
  void cheapen(Arrival& best, int sender, int v) const {
    const double* price = prices_->of_hop(sender, v);
    for (int slot = ready(sender); slot <= last_[v]; ++slot) {
      if (price[slot] < best.price) best = {price[slot], sender, slot};
    }
  }

  // Moves v to the parent and slot in which its hop is cheapest, less what other GPUs then save by
  // hanging from v; and hangs those from v.
  void move_and_gather(int v) {
    find_last_slots();
    find_savings(v);
    Arrival best{price_of(v)};
    for (const int sender : prices_->senders(v)) {
      const double* price = prices_->of_hop(sender, v);
      for (int slot = ready(sender); slot <= last_[v]; ++slot) {
        const double less = all_[slot + gap_] - saved(sender, slot + gap_);
        if (price[slot] - less < best.price) best = {price[slot] - less, sender, slot};
      }
    }
    if (best.sender < 0) return;
    hang(v, best);
    for (const int w : prices_->receivers(v)) {
      if (w == best.sender || parent(w) < 0) continue;  // v hangs from the sender
      Arrival hop{price_of(w)};
      cheapen(hop, v, w);
      if (hop.sender >= 0) hang(w, hop);
    }
  }

  // What each GPU, and all together, save by hanging from v, by the slot in which v is ready.
  void find_savings(int v) {
    all_.assign(end(), 0.0);
    std::ranges::fill(saved_, 0.0);
    for (const int w : prices_->receivers(v)) {
      const double* price = prices_->of_hop(v, w);
      double most = 0;
      for (int slot = last_[w]; slot >= 0; --slot) {
        most = std::max(most, price_of(w) - price[slot]);
        saved(w, slot) = most;
        all_[slot] += most;
      }
    }
  }

  // Hangs from other GPUs what hangs from v, and then v from the cheapest one, if all that is
  // cheaper.
  void empty_and_move(int v) {
    const SlottedTree before = *tree_;
    double change = 0;
    for (int w = 0; w < prices_->size(); ++w) {
      if (parent(w) == v) change += move_from(w, v);
    }
    change += move_from(v, -1);
    if (change >= 0) *tree_ = before;
  }

  // Moves v to its cheapest parent but one, if it has another; returns by how much its price rises.
  double move_from(int v, int without) {
    find_last_slots();
    Arrival best;
    for (const int sender : prices_->senders(v)) {
      if (sender != without) cheapen(best, sender, v);
    }
    if (best.sender < 0) return kNoHop;
    const double before = price_of(v);
    hang(v, best);
    return best.price - before;
  }

  const SlotPrices* prices_;
  int gap_;
  SlottedTree* tree_;
  IndexedVector<int> last_;
  IndexedVector<double> saved_, all_;
};

}  // namespace

SlotPrices::SlotPrices(int slots, int size, std::span<const double> prices)
    : slots_(slots), size_(size), senders_(size), receivers_(size) {
  if (slots < 1 || size < 1 || prices.size() != static_cast<std::size_t>(slots * size * size)) {
    throw InvalidInput("prices are not by slot, sender and receiver");
  }
  price_.resize(prices.size());
  for (int receiver = 0; receiver < size; ++receiver) {
    for (int sender = 0; sender < size; ++sender) {
      bool any = false;
      for (int slot = 0; slot < slots; ++slot) {
        const double price =
            prices[static_cast<std::size_t>((slot * size + sender) * size + receiver)];
        price_[static_cast<std::size_t>((receiver * size + sender) * slots + slot)] = price;
        any |= price < kNoHop;
      }
      if (!any) continue;
      senders_[receiver].push_back(sender);
      receivers_[sender].push_back(receiver);
    }
  }
}

std::optional<SlottedTree> grown_tree(const SlotPrices& prices, int root, int gap) {
  const int size = prices.size();
  if (root < 0 || root >= size || gap < 1) throw InvalidInput("no such root, or hops of no slot");
  Paths paths(prices, gap);
  IndexedVector<int> ready(size, paths.end());
  ready[root] = 0;
  SlottedTree tree{0, IndexedVector<int>(size, -1), IndexedVector<int>(size, -1)};
  for (int left = size - 1; left > 0;) {
    paths.search(ready);
    int slot = paths.end() - 1, v = -1;
    for (int u = 0; u < size; ++u) {
      if (ready[u] < paths.end() || paths.at(slot, u).price == kNoHop) continue;
      if (v < 0 || paths.at(slot, u).price < paths.at(slot, v).price) v = u;
    }
    if (v < 0) return std::nullopt;
    while (ready[v] == paths.end()) {
      const Arrival hop = paths.at(slot, v);
      tree.parent[v] = hop.sender;
      tree.slot[v] = slot = hop.slot;
      tree.price += prices(slot, hop.sender, v);
      ready[v] = slot + gap;
      v = hop.sender;
      --left;
    }
  }
  return tree;
}

std::optional<SlottedTree> best_slots(const SlotPrices& prices, const IndexedVector<int>& parent,
                                      int gap) {
  if (parent.count() != prices.size() || gap < 1) {
    throw InvalidInput("parents are not by GPU, or hops of no slot");
  }
  const int slots = prices.slots();
  const std::vector<int> order = from_root(parent);
  // Prices of all below a GPU that can send from a slot on, and the best slot from each slot on.
  IndexedVector<IndexedVector<double>> below(parent.count(), IndexedVector<double>(slots + 1, 0.0));
  IndexedVector<IndexedVector<int>> chosen(parent.count(), IndexedVector<int>(slots, -1));
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    const int v = order[i], above = parent[v];
    const double* price = prices.of_hop(above, v);
    double least = kNoHop;
    for (int slot = slots - 1, best = slot; slot >= 0; --slot) {
      const double with_all = price[slot] + below[v][std::min(slot + gap, slots)];
      if (with_all <= least) {
        least = with_all;
        best = slot;
      }
      chosen[v][slot] = best;
      below[above][slot] += least;
    }
    below[above][slots] = kNoHop;
  }
  const int root = order.front();
  if (!(below[root][0] < kNoHop)) return std::nullopt;
  SlottedTree tree{below[root][0], parent, IndexedVector<int>(parent.count(), -1)};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const int v = order[i], above = parent[v];
    tree.slot[v] = chosen[v][above == root ? 0 : tree.slot[above] + gap];
  }
  return tree;
}

std::optional<SlottedTree> cheaper_slots(const SlotPrices& prices, const IndexedVector<int>& parent,
                                         int gap) {
  std::optional<SlottedTree> tree = best_slots(prices, parent, gap);
  for (int sweep = 0; tree && sweep < kSweeps; ++sweep) {
    const double before = tree->price;
    Mover(prices, gap, *tree).sweep();
    tree = best_slots(prices, tree->parent, gap);
    if (tree->price >= before) break;
  }
  return tree;
}

}  // namespace forestcoll
