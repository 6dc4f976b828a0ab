#include "forestcoll/low_trees/low_trees.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/low_trees/tree_state.hpp"

namespace forestcoll {
namespace {

__extension__ using Wide = __int128;

constexpr int kRounds = 200;        // of one attempt
constexpr int kPatience = 12;       // rounds in which what is overfull does not fall by a 32nd
constexpr int kAttempts = 16;       // at a congestion each
constexpr Amount kFine = 1016;      // of 1024: what failed is so near to what worked
constexpr int kRegrow = 3;          // every so many rounds whole trees are grown anew
constexpr Amount kOverfull = 16;    // price of a tree too many, and what each round adds to it
constexpr std::size_t kSmall = 32;  // nodes of a box, in which trees are grown with more care
constexpr Amount kWide = 64;        // price of a link of median capacity; a narrow one's is more
constexpr Amount kNarrow = 4096;
constexpr Amount kFar = std::numeric_limits<Amount>::max();

// Trees for each unit of capacity.
struct Congestion {
  Amount trees;
  Amount capacity;

  Amount carried_by(Amount link) const {
    return static_cast<Amount>(static_cast<Wide>(trees) * link / capacity);
  }
  bool operator<(const Congestion& other) const {
    return static_cast<Wide>(trees) * other.capacity < static_cast<Wide>(other.trees) * capacity;
  }
};

class Search {
 public:
  Search(const LowNetwork& network, const Batches& batches, const HeightLimit& limit,
         Progress progress)
      : network_(network),
        state_(network, batches),
        limit_(limit),
        progress_(std::move(progress)),
        room_(network.graph->arcs.count(), 0),
        dear_(network.graph->arcs.count(), kOverfull),
        worth_(network.graph->arcs.count(), 1),
        near_in_(network.node.count()),
        near_out_(network.node.count()),
        box_of_(network.node.count(), -1),
        mark_(network.node.count(), 0),
        most_(network.node.count()),
        free_(network.node.count()),
        bound_(network.node.count()),
        uplinks_(network.graph->num_nodes),
        from_targets_(network.graph->num_nodes),
        from_switches_(network.graph->num_nodes),
        reach_(network.graph->num_nodes, kFar),
        onward_(network.graph->num_nodes, -1) {
    for (int a = 0; a < network.graph->arcs.count(); ++a) {
      const auto [tail, head, capacity] = network.graph->arcs[a];
      (network.rank[tail] >= 0 ? from_targets_ : from_switches_)[head].push_back(a);
    }
    value_links();
    find_near();
  }

  void begin(const Batches& batches);
  void improve();
  LowTrees result() const;

 private:
  struct Found {
    Amount price = kFar;
    int parent = -1;
    int arc = -1;  // the path's first
  };

  Amount overfull(int arc, Amount more) const {
    return std::max<Amount>(state_.load(arc) + more - room_[arc], 0);
  }
  // Exponential in how full the link is, and more where it is overfull.
  Amount price(int arc, Amount trees) const {
    const Amount load = state_.load(arc), room = std::max<Amount>(room_[arc], 1);
    const Amount full = load > 2 * room ? 12 : std::min<Amount>(12, 8 * load / room);
    const Amount over = overfull(arc, trees);
    return worth_[arc] *
           (trees * (1 + ((Amount{1} << full) >> 4)) + dear_[arc] * (over - overfull(arc, 0)));
  }
  void value_links();
  void find_near();
  template <typename Allowed>
  Found cheapest(int v, Amount trees, Allowed allowed);
  Found cheapest_within(int v, Amount trees, int deepest);
  const std::vector<Found>& uplinks(NodeId at, Amount trees);
  void forget_uplinks() { ++version_; }
  void forget_uplinks(int path);
  void hang(int batch, int v, int parent, int path);
  std::vector<Found> all_parents(int v);
  int path_of(const Found& found);
  bool is_overfull(int path) const;
  void shortest(int batch);
  void keep(int batch, const int* parent);
  void keep_within(int batch);
  void along_a_shortest_way(int batch, int v);
  void attach(int batch, int v, const Found& found) {
    state_.attach(batch, v, found.parent, path_of(found));
  }
  bool reattach(int batch, int v);
  Amount price_of(int path, Amount trees) const;
  Amount grown(int batch);
  Amount spread(int batch, const std::vector<int>& box);
  Amount spread_by_price(int batch, const std::vector<int>& box);
  void reachable(const std::vector<int>& box, int fixed, int depth, IndexedVector<int>& found);
  bool leaves_reachable(const std::vector<int>& box, int v, int depth);
  Amount enter(int batch, const std::vector<int>& box);
  std::pair<int, Amount> coverage(int batch, int v, int hops);
  bool regrow(int batch);
  void set_room(const Congestion& congestion);
  bool attempt(const Congestion& congestion);
  bool round(bool whole);
  Amount all_overfull() const;
  Congestion attained() const;

  const LowNetwork& network_;
  TreeState state_;
  HeightLimit limit_;
  Progress progress_;
  IndexedVector<Amount> room_;  // what a link carries at the congestion aimed at
  IndexedVector<Amount> dear_;
  IndexedVector<Amount> worth_;  // of a link, by its capacity
  // Hops that cost little beside the dearest, and the boxes that they hold together.
  struct Near {
    int rank;
    int path;
  };
  IndexedVector<std::vector<Near>> near_in_, near_out_;
  std::vector<std::vector<int>> boxes_;
  IndexedVector<int> box_of_;
  IndexedVector<int> mark_;
  int marked_ = 0;
  IndexedVector<int> most_, free_, bound_;
  // By switch, for the tree at hand: the cheapest link from a target at most so deep.
  struct Uplinks {
    std::int64_t version = -1;
    std::vector<Found> best;
  };
  NodeMap<Uplinks> uplinks_;
  NodeMap<std::vector<int>> from_targets_, from_switches_;
  std::int64_t version_ = 0;
  std::vector<int> inner_;  // while a tree is grown: its nodes that may be parents
  bool growing_ = false;
  // Scratch of the search for a parent: what it costs from a node on, over which arc.
  NodeMap<Amount> reach_;
  NodeMap<int> onward_;
  std::vector<NodeId> touched_;
  IndexedVector<int> hops_, before_;
  std::int64_t looks_ = 0;
};

void Search::value_links() {
  const auto& arcs = network_.graph->arcs;
  std::vector<Amount> capacity;
  for (const Arc& arc : arcs) capacity.push_back(arc.capacity);
  const auto middle = capacity.begin() + static_cast<std::ptrdiff_t>(capacity.size() / 2);
  if (capacity.empty()) return;
  std::nth_element(capacity.begin(), middle, capacity.end());
  for (int a = 0; a < arcs.count(); ++a) {
    const auto worth = static_cast<Wide>(kWide) * *middle / std::max<Amount>(arcs[a].capacity, 1);
    worth_[a] = static_cast<Amount>(std::clamp<Wide>(worth, 1, kNarrow));
  }
}

// Near is what costs at most half of the dearest hop of all.
void Search::find_near() {
  struct Hop {
    Amount cost;
    int tail, head, path;
  };
  room_.assign(room_.count(), 1);  // as if all links were empty
  std::vector<Hop> hops;
  Amount dearest = 0;
  for (int v = 0; v < state_.size(); ++v) {
    for (const auto& [cost, u, arc] : all_parents(v)) {
      dearest = std::max(dearest, cost);
      if (2 * cost <= dearest) hops.push_back({cost, u, v, path_of({cost, u, arc})});
    }
    reach_.assign(reach_.count(), kFar);
  }
  for (const Hop& hop : hops) {
    if (2 * hop.cost > dearest) continue;
    near_in_[hop.head].push_back({hop.tail, hop.path});
    near_out_[hop.tail].push_back({hop.head, hop.path});
  }
  for (int v = 0; v < state_.size(); ++v) {
    if (box_of_[v] >= 0) continue;
    std::vector<int> box{v};
    box_of_[v] = static_cast<int>(boxes_.size());
    for (std::size_t next = 0; next < box.size(); ++next) {
      for (const auto* beside : {&near_in_[box[next]], &near_out_[box[next]]}) {
        for (const Near& w : *beside) {
          if (std::exchange(box_of_[w.rank], box_of_[v]) < 0) box.push_back(w.rank);
        }
      }
    }
    std::ranges::sort(box);
    boxes_.push_back(std::move(box));
  }
}

// What each parent costs that an edge over empty links can lead from; leaves the scratch as it is.
std::vector<Search::Found> Search::all_parents(int v) {
  using Entry = std::pair<Amount, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<Found> parents;
  queue.emplace(0, network_.node[v]);
  reach_[network_.node[v]] = 0;
  onward_[network_.node[v]] = -1;
  while (!queue.empty()) {
    const auto [cost, x] = queue.top();
    queue.pop();
    if (cost > reach_[x]) continue;
    if (network_.rank[x] >= 0 && network_.rank[x] != v) {
      parents.push_back({cost, network_.rank[x], onward_[x]});
      continue;
    }
    for (const int arc : network_.in[x]) {
      const NodeId y = network_.graph->arcs[arc].tail;
      if (cost + worth_[arc] >= reach_[y]) continue;
      reach_[y] = cost + worth_[arc];
      onward_[y] = arc;
      queue.emplace(reach_[y], y);
    }
  }
  return parents;
}

// The parent from which v is reached for the least, over switches; of equal ones that nearest to
// the root, then the first.
template <typename Allowed>
Search::Found Search::cheapest(int v, Amount trees, Allowed allowed) {
  using Entry = std::pair<Amount, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  Found best;
  touched_.assign(1, network_.node[v]);
  reach_[network_.node[v]] = 0;
  onward_[network_.node[v]] = -1;
  queue.emplace(0, network_.node[v]);
  while (!queue.empty()) {
    const auto [cost, x] = queue.top();
    queue.pop();
    if (cost > reach_[x] || cost > best.price) continue;
    looks_ += static_cast<std::int64_t>(network_.in[x].size());
    for (const int arc : network_.in[x]) {
      const NodeId y = network_.graph->arcs[arc].tail;
      const int u = network_.rank[y];
      if (u == v) continue;
      const Amount whole = cost + price(arc, trees);
      if (whole > best.price) continue;
      if (u >= 0) {
        if (whole == best.price &&
            std::pair(state_.depth(u), u) >= std::pair(state_.depth(best.parent), best.parent)) {
          continue;
        }
        if (allowed(u)) best = {whole, u, arc};
      } else if (whole < reach_[y]) {
        if (reach_[y] == kFar) touched_.push_back(y);
        reach_[y] = whole;
        onward_[y] = arc;
        queue.emplace(whole, y);
      }
    }
  }
  for (const NodeId x : touched_) reach_[x] = kFar;
  return best;
}

// The same for a parent that is at most so deep in the tree at hand, whatever is below v. Prices of
// links into switches are those before v's edge was taken away.
Search::Found Search::cheapest_within(int v, Amount trees, int deepest) {
  using Entry = std::pair<Amount, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  Found best;
  const auto consider = [&](Amount whole, int u, int arc) {
    if (whole > best.price || u == v || state_.depth(u) > deepest) return;
    if (whole == best.price &&
        std::pair(state_.depth(u), u) >= std::pair(state_.depth(best.parent), best.parent)) {
      return;
    }
    best = {whole, u, arc};
  };
  const NodeId start = network_.node[v];
  touched_.assign(1, start);
  reach_[start] = 0;
  onward_[start] = -1;
  queue.emplace(0, start);
  while (!queue.empty()) {
    const auto [cost, x] = queue.top();
    queue.pop();
    if (cost > reach_[x] || cost > best.price) continue;
    looks_ += static_cast<std::int64_t>(from_switches_[x].size()) + 1;
    if (x == start) {
      for (const int arc : from_targets_[x]) {
        consider(price(arc, trees), network_.rank[network_.graph->arcs[arc].tail], arc);
      }
    } else if (!from_targets_[x].empty()) {
      const Found& up = uplinks(x, trees)[static_cast<std::size_t>(deepest)];
      if (up.parent >= 0 && up.price < kFar - cost) consider(cost + up.price, up.parent, up.arc);
    }
    for (const int arc : from_switches_[x]) {
      const NodeId y = network_.graph->arcs[arc].tail;
      const Amount whole = cost + price(arc, trees);
      if (whole > best.price || whole >= reach_[y]) continue;
      if (reach_[y] == kFar) touched_.push_back(y);
      reach_[y] = whole;
      onward_[y] = arc;
      queue.emplace(whole, y);
    }
  }
  for (const NodeId x : touched_) reach_[x] = kFar;
  return best;
}

const std::vector<Search::Found>& Search::uplinks(NodeId at, Amount trees) {
  Uplinks& known = uplinks_[at];
  if (known.version == version_) return known.best;
  known.version = version_;
  known.best.assign(static_cast<std::size_t>(limit_.height), {});
  const auto consider = [&](int arc) {
    const int u = network_.rank[network_.graph->arcs[arc].tail], depth = state_.depth(u);
    if (depth >= limit_.height) return;
    Found& best = known.best[static_cast<std::size_t>(depth)];
    const Amount cost = price(arc, trees);
    if (cost < best.price || (cost == best.price && u < best.parent)) best = {cost, u, arc};
  };
  if (growing_ && 8 * inner_.size() < from_targets_[at].size()) {
    looks_ += static_cast<std::int64_t>(inner_.size());
    for (const int u : inner_) {
      for (const int arc : network_.out[network_.node[u]]) {
        if (network_.graph->arcs[arc].head == at) consider(arc);
      }
    }
  } else {
    looks_ += static_cast<std::int64_t>(from_targets_[at].size());
    for (const int arc : from_targets_[at]) consider(arc);
  }
  for (std::size_t depth = 1; depth < known.best.size(); ++depth) {
    if (known.best[depth - 1].price <= known.best[depth].price) {
      known.best[depth] = known.best[depth - 1];
    }
  }
  return known.best;
}

// After a change of what its links carry.
void Search::forget_uplinks(int path) {
  for (const int* arc = state_.pool().begin(path); arc != state_.pool().end(path); ++arc) {
    uplinks_[network_.graph->arcs[*arc].head].version = -1;
  }
}

// A node joins the tree that is grown: it may be a parent from now on.
void Search::hang(int batch, int v, int parent, int path) {
  state_.hang(batch, v, parent, path);
  forget_uplinks(path);
  if (state_.depth(v) >= limit_.height) return;
  inner_.push_back(v);
  for (const int arc : network_.out[network_.node[v]]) {
    uplinks_[network_.graph->arcs[arc].head].version = -1;
  }
}

// Right after the search that found it.
int Search::path_of(const Found& found) {
  std::vector<int> arcs{found.arc};
  for (NodeId x = network_.graph->arcs[found.arc].head; onward_[x] >= 0 && network_.rank[x] < 0;
       x = network_.graph->arcs[onward_[x]].head) {
    arcs.push_back(onward_[x]);
  }
  return state_.pool().number(arcs);
}

bool Search::is_overfull(int path) const {
  const PathPool& pool = state_.pool();
  return std::any_of(pool.begin(path), pool.end(path),
                     [&](int arc) { return overfull(arc, 0) > 0; });
}

void Search::set_room(const Congestion& congestion) {
  const auto& arcs = network_.graph->arcs;
  for (int a = 0; a < arcs.count(); ++a) room_[a] = congestion.carried_by(arcs[a].capacity);
}

void Search::begin(const Batches& batches) {
  const Congestion bound{limit_.bound_trees, limit_.bound_capacity};
  for (int batch = 0; batch < state_.batches(); ++batch) {
    set_room(std::max(bound, attained()));  // links that are as full as the fullest are dear
    progress_(batch, state_.batches());
    network_.distances(state_.root(batch), hops_, before_);
    for (const int hops : hops_) {
      if (hops < 0 || hops > limit_.height) {
        throw Infeasible("a tree of height " + std::to_string(limit_.height) +
                         " does not reach every target");
      }
    }
    if (batches.parent.empty()) {
      state_.strip(batch);
      if (grown(batch) == kFar) shortest(batch);
    } else {
      keep(batch, batches.parent.data() + static_cast<std::ptrdiff_t>(batch) * state_.size());
      keep_within(batch);
    }
  }
}

// Every node takes the cheapest parent that is a hop nearer to the root.
void Search::shortest(int batch) {
  state_.strip(batch);
  std::vector<int> order(static_cast<std::size_t>(state_.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int v) { return hops_[v]; });
  for (const int v : order) {
    if (v == state_.root(batch)) continue;
    attach(batch, v, cheapest(v, state_.trees(batch), [&](int u) { return hops_[u] < hops_[v]; }));
  }
  state_.measure(batch);
}

// The parents that were given, over the cheapest paths.
void Search::keep(int batch, const int* parent) {
  state_.measure(batch);
  for (int v = 0; v < state_.size(); ++v) {
    if (v == state_.root(batch)) continue;
    const Found found = cheapest(v, state_.trees(batch), [&](int u) { return u == parent[v]; });
    if (found.parent < 0) throw InvalidInput("no path leads from a parent to its child");
    attach(batch, v, found);
  }
  state_.measure(batch);
}

// Nodes that are too deep, the least deep first, move up; with all that is below them if that fits,
// else alone.
void Search::keep_within(int batch) {
  const int most = limit_.height;
  while (state_.below(state_.root(batch)) > most) {
    int v = -1;
    for (int u = 0; u < state_.size(); ++u) {
      if (state_.depth(u) > most && (v < 0 || state_.depth(u) < state_.depth(v))) v = u;
    }
    const int below = std::min(state_.below(v), most - 1);
    const auto higher = [&](int u) {
      return state_.depth(u) + 1 + below <= most && !state_.is_below(batch, u, v);
    };
    const Found found = cheapest(v, state_.trees(batch), higher);
    if (found.parent >= 0) {
      const int path = path_of(found);
      state_.detach(batch, v);
      state_.attach(batch, v, found.parent, path);
    } else {
      along_a_shortest_way(batch, v);
    }
    state_.measure(batch);
  }
}

// Every node on the way that is deeper than it need be hangs on the one before it. That one is not
// below it, or it would be deeper still.
void Search::along_a_shortest_way(int batch, int v) {
  std::vector<int> way;
  for (int u = v; before_[u] >= 0; u = before_[u]) way.push_back(u);
  for (const int u : way) {
    if (state_.depth(u) <= hops_[u]) continue;
    const Found found = cheapest(u, state_.trees(batch), [&](int w) { return w == before_[u]; });
    const int path = path_of(found);
    state_.detach(batch, u);
    state_.attach(batch, u, found.parent, path);
  }
}

// Looks for a cheaper parent; the tree stays one within the height.
bool Search::reattach(int batch, int v) {
  const Amount trees = state_.trees(batch);
  const int parent = state_.parent(batch, v), path = state_.path(batch, v);
  const int deepest = limit_.height - 1 - state_.below(v);
  state_.detach(batch, v);
  const Amount paid = price_of(path, trees);
  Found found = cheapest_within(v, trees, deepest);
  if (found.price < paid && state_.below(v) > 0 && state_.is_below(batch, found.parent, v)) {
    found = cheapest(v, trees, [&](int u) {
      return state_.depth(u) <= deepest && !state_.is_below(batch, u, v);
    });
  }
  if (found.price >= paid) {
    state_.attach(batch, v, parent, path);
    return false;
  }
  attach(batch, v, found);
  forget_uplinks();  // its depth, and that of what is below it
  return true;
}

Amount Search::price_of(int path, Amount trees) const {
  Amount sum = 0;
  for (const int* arc = state_.pool().begin(path); arc != state_.pool().end(path); ++arc) {
    sum += price(*arc, trees);
  }
  return sum;
}

// Grows a tree that was taken apart: within the root's box, then box by box. Returns what it cost,
// or kFar if it does not come to an end.
Amount Search::grown(int batch) {
  forget_uplinks();
  inner_.assign(1, state_.root(batch));
  growing_ = true;
  const int first = box_of_[state_.root(batch)];
  const int count = static_cast<int>(boxes_.size());
  Amount sum = spread(batch, boxes_[static_cast<std::size_t>(first)]);
  int left = state_.size();
  for (int before = left + 1; left > 0 && left < before;) {
    before = left;
    left = 0;
    for (int next = 0; next < count; ++next) {
      const auto& box = boxes_[static_cast<std::size_t>((first + next) % count)];
      while (true) {
        const Amount paid = enter(batch, box);
        if (paid == kFar) break;
        sum += paid + spread(batch, box);
      }
      for (const int v : box) left += state_.depth(v) > limit_.height ? 1 : 0;
    }
  }
  growing_ = false;
  return left > 0 ? kFar : sum;
}

// Near hops from what the tree has of a box, breadth first.
Amount Search::spread(int batch, const std::vector<int>& box) {
  if (box.size() == 1) return 0;
  if (box.size() <= kSmall) return spread_by_price(batch, box);
  Amount sum = 0;
  for (int depth = 0; depth < limit_.height; ++depth) {
    for (const int v : box) {
      if (state_.depth(v) <= limit_.height) continue;
      Found best;
      int along = -1;
      for (const auto& [u, path] : near_in_[v]) {
        if (state_.depth(u) != depth) continue;
        const Amount cost = price_of(path, state_.trees(batch));
        if (cost < best.price) best = {cost, u, -1}, along = path;
      }
      if (along < 0) continue;
      sum += best.price;
      hang(batch, v, best.parent, along);
    }
  }
  return sum;
}

// The cheapest near hop first, as deep as leaves all others within reach that were.
Amount Search::spread_by_price(int batch, const std::vector<int>& box) {
  Amount sum = 0;
  for (const int v : box) most_[v] = limit_.height;
  while (true) {
    Found best;
    int next = -1, along = -1;
    for (const int v : box) {
      if (state_.depth(v) <= limit_.height) continue;
      for (const auto& [u, path] : near_in_[v]) {
        if (state_.depth(u) >= most_[v]) continue;
        const Amount cost = price_of(path, state_.trees(batch));
        if (cost > best.price) continue;
        if (cost == best.price && state_.depth(u) >= state_.depth(best.parent)) continue;
        best = {cost, u, -1};
        next = v;
        along = path;
      }
    }
    if (next < 0) return sum;
    const int depth = state_.depth(best.parent) + 1;
    if (!leaves_reachable(box, next, depth)) {
      most_[next] = depth - 1;
      continue;
    }
    sum += best.price;
    hang(batch, next, best.parent, along);
  }
}

// Depths at which near hops can reach the nodes of a box, one of which is fixed.
void Search::reachable(const std::vector<int>& box, int fixed, int depth,
                       IndexedVector<int>& found) {
  for (const int v : box) found[v] = state_.depth(v);
  if (fixed >= 0) found[fixed] = depth;
  for (int level = 0; level < limit_.height; ++level) {
    for (const int u : box) {
      if (found[u] != level) continue;
      for (const auto& [w, path] : near_out_[u]) {
        if (w != fixed) found[w] = std::min(found[w], level + 1);
      }
    }
  }
}

bool Search::leaves_reachable(const std::vector<int>& box, int v, int depth) {
  reachable(box, -1, 0, free_);
  if (depth <= free_[v]) return true;
  reachable(box, v, depth, bound_);
  return std::ranges::all_of(
      box, [&](int w) { return free_[w] > limit_.height || bound_[w] <= limit_.height; });
}

// One more way into a box: that which costs the least for each node that it serves.
Amount Search::enter(int batch, const std::vector<int>& box) {
  Amount best = kFar;
  int entry = -1, deepest = 0, serves = 1;
  for (const int v : box) {
    if (state_.depth(v) <= limit_.height) continue;
    for (int depth = limit_.height - 1; depth >= 0;) {
      const Found found = cheapest_within(v, state_.trees(batch), depth);
      if (found.parent < 0) break;
      const auto [served, inside] =
          coverage(batch, v, limit_.height - 1 - state_.depth(found.parent));
      const Amount cost = found.price + inside;
      if (entry < 0 || static_cast<Wide>(cost) * serves < static_cast<Wide>(best) * served) {
        best = cost;
        entry = v;
        deepest = depth;
        serves = served;
      }
      depth = state_.depth(found.parent) - 1;
    }
    if (entry >= 0 && limit_.height == 1) break;  // each serves itself alone
  }
  if (entry < 0) return kFar;
  const Found found = cheapest_within(entry, state_.trees(batch), deepest);
  hang(batch, entry, found.parent, path_of(found));
  return found.price;
}

// Nodes without an edge that so many near hops lead to, with the first; what these hops cost.
std::pair<int, Amount> Search::coverage(int batch, int v, int hops) {
  std::vector<int> reached{v};
  mark_[v] = ++marked_;
  Amount cost = 0;
  std::size_t next = 0;
  for (; hops > 0; --hops) {
    for (const std::size_t end = reached.size(); next < end; ++next) {
      for (const auto& [w, path] : near_out_[reached[next]]) {
        if (state_.depth(w) <= limit_.height || mark_[w] == marked_) continue;
        mark_[w] = marked_;
        reached.push_back(w);
        cost += price_of(path, state_.trees(batch));
      }
    }
  }
  return {static_cast<int>(reached.size()), cost};
}

// Grows a whole tree anew, and keeps it if it is cheaper.
bool Search::regrow(int batch) {
  const Amount trees = state_.trees(batch);
  std::vector<std::pair<int, int>> old;
  for (int v = 0; v < state_.size(); ++v) {
    old.emplace_back(state_.parent(batch, v), state_.path(batch, v));
  }
  state_.strip(batch);
  Amount paid = 0;
  for (int v = 0; v < state_.size(); ++v) {
    const auto [parent, path] = old[static_cast<std::size_t>(v)];
    if (path < 0) continue;
    paid += price_of(path, trees);
    state_.attach(batch, v, parent, path);
  }
  state_.strip(batch);
  if (grown(batch) < paid) return true;
  state_.strip(batch);
  for (int v = 0; v < state_.size(); ++v) {
    const auto [parent, path] = old[static_cast<std::size_t>(v)];
    if (path >= 0) state_.attach(batch, v, parent, path);
  }
  return false;
}

bool Search::round(bool whole) {
  bool moved = false;
  for (int batch = 0; batch < state_.batches(); ++batch) {
    progress_(looks_, limit_.looks);
    bool measured = false;
    for (int v = 0; v < state_.size(); ++v) {
      if (v == state_.root(batch) || !is_overfull(state_.path(batch, v))) continue;
      if (!std::exchange(measured, true)) {
        if (whole) regrow(batch);
        state_.measure(batch);
        forget_uplinks();
        if (!is_overfull(state_.path(batch, v))) continue;
      }
      if (!reattach(batch, v)) continue;
      moved = true;
      state_.measure(batch);
      if (looks_ > limit_.looks) return false;
    }
  }
  return moved;
}

Amount Search::all_overfull() const {
  Amount sum = 0;
  for (int arc = 0; arc < room_.count(); ++arc) sum += overfull(arc, 0);
  return sum;
}

// Whether nothing stays overfull at a congestion; if something does the trees are any.
bool Search::attempt(const Congestion& congestion) {
  set_room(congestion);
  dear_.assign(room_.count(), kOverfull);
  Amount least = kFar;
  for (int round = 0, since = 0; round < kRounds && since < kPatience; ++round, ++since) {
    const Amount sum = all_overfull();
    if (sum == 0) return true;
    if (sum < least - least / 32) {
      since = 0;
      least = sum;
    }
    this->round(round % kRegrow == 0);
    if (looks_ > limit_.looks) return all_overfull() == 0;
    for (int arc = 0; arc < room_.count(); ++arc) {
      if (overfull(arc, 0) > 0) dear_[arc] += kOverfull;
    }
  }
  return all_overfull() == 0;
}

Congestion Search::attained() const {
  Congestion most{0, 1};
  const auto& arcs = network_.graph->arcs;
  for (int a = 0; a < arcs.count(); ++a) {
    if (state_.load(a) == 0) continue;
    most = std::max(most, Congestion{state_.load(a), arcs[a].capacity});
  }
  return most;
}

void Search::improve() {
  const Congestion bound{limit_.bound_trees, limit_.bound_capacity};
  Congestion worked = attained(), failed = bound;
  TreeState::Saved best = state_.save();
  bool tried_bound = false;
  for (int tried = 0; tried < kAttempts && bound < worked && looks_ <= limit_.looks; ++tried) {
    // In 2^-10 of what worked: halfway to what failed, but in steps of a third at most.
    const auto below =
        static_cast<Amount>((static_cast<Wide>(failed.trees) * worked.capacity << 10) /
                            (static_cast<Wide>(failed.capacity) * worked.trees));
    if (below >= kFine) break;
    const Amount next = std::max<Amount>((below + 1024) / 2, 683);
    Congestion aim{worked.trees * next, worked.capacity << 10};
    if (!tried_bound && below >= 683) {
      aim = bound;
      tried_bound = true;
    }
    if (attempt(aim)) {
      best = state_.save();
      worked = attained();
    } else {
      state_.restore(best);
      failed = aim;
    }
  }
  state_.restore(best);
}

LowTrees Search::result() const {
  const PathPool& pool = state_.pool();
  std::vector<Amount> trees(static_cast<std::size_t>(pool.count()), 0);
  LowTrees made;
  for (int batch = 0; batch < state_.batches(); ++batch) {
    for (int v = 0; v < state_.size(); ++v) {
      made.parent.push_back(state_.parent(batch, v));
      const int path = state_.path(batch, v);
      if (path >= 0) trees[static_cast<std::size_t>(path)] += state_.trees(batch);
    }
  }
  const auto& arcs = network_.graph->arcs;
  const auto ends_of = [&](int path) {
    return std::pair(network_.rank[arcs[*pool.begin(path)].tail],
                     network_.rank[arcs[*(pool.end(path) - 1)].head]);
  };
  std::vector<int> used;
  for (int path = 0; path < pool.count(); ++path) {
    if (trees[static_cast<std::size_t>(path)] > 0) used.push_back(path);
  }
  std::ranges::stable_sort(used, {}, ends_of);
  made.first_hop.push_back(0);
  for (const int path : used) {
    const auto [tail, head] = ends_of(path);
    if (made.tail.empty() || tail != made.tail.back() || head != made.head.back()) {
      made.tail.push_back(tail);
      made.head.push_back(head);
      made.first_path.push_back(static_cast<std::int64_t>(made.path_trees.size()));
    }
    made.path_trees.push_back(trees[static_cast<std::size_t>(path)]);
    made.hop.push_back(arcs[*pool.begin(path)].tail);
    for (const int* arc = pool.begin(path); arc != pool.end(path); ++arc) {
      made.hop.push_back(arcs[*arc].head);
    }
    made.first_hop.push_back(static_cast<std::int64_t>(made.hop.size()));
  }
  made.first_path.push_back(static_cast<std::int64_t>(made.path_trees.size()));
  return made;
}

}  // namespace

LowTrees low_trees(const Graph& graph, const NodeMap<std::uint8_t>& is_target,
                   const Batches& batches, const HeightLimit& limit, Progress progress) {
  if (limit.bound_capacity < 1 || limit.bound_trees < 0) throw InvalidInput("no bound");
  const LowNetwork network(graph, is_target);
  Search search(network, batches, limit, std::move(progress));
  search.begin(batches);
  search.improve();
  return search.result();
}

}  // namespace forestcoll
