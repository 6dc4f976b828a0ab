#include "forestcoll/path_recovery/path_recovery.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/path_recovery/direct_paths.hpp"
#include "link_numbers.hpp"

namespace forestcoll {

namespace {

// When the loops of walks are cut out: as they are written, or as soon as they arise.
enum class Cut { kLate, kEarly };

// A physical link, or two walks joined at a switch; walks share their parts.
struct Walk {
  int first;  // -1 for a physical link
  int second;
  NodeId tail, head;
  int hops;
};

// The sum, or the largest number where that is less.
int added(int hops, int more) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(kMost, std::int64_t{hops} + more));
}

// Appends a node. A repeated node closes a loop, which is cut out. Loads only fall.
void step_to(NodeId node, std::vector<NodeId>& nodes) {
  nodes.erase(std::ranges::find(nodes, node), nodes.end());
  nodes.push_back(node);
}

// Units of a link that stand for one walk. The bundles of a link form a stack.
struct Bundle {
  int walk;
  int below;  // -1 at the bottom
  Amount amount;
};

class PathTable {
 public:
  PathTable(const Graph& physical, const SplitView& splits, Cut cut)
      : cut_(cut), numbers_(physical.arcs.size() + splits.size()) {
    top_.reserve(physical.arcs.size() + splits.size());
    bundles_.reserve(physical.arcs.size() + splits.size());
    walks_.reserve(physical.arcs.size() + splits.size());
    for (const Arc& arc : physical.arcs) {
      if (arc.capacity == 0) continue;
      walks_.push_back({-1, -1, arc.tail, arc.head, 1});
      if (cut_ == Cut::kEarly) store({arc.tail, arc.head});
      push(numbers_.add(arc.tail, arc.head), last_walk(), arc.capacity);
    }
    for (std::size_t s = 0; s < splits.size(); ++s) replay(splits[s]);
  }

  // The bundles of a link after all splits, the last one first.
  void find_bundles(NodeId tail, NodeId head, std::vector<Bundle>& found) const {
    found.clear();
    const int link = numbers_.find(tail, head);
    for (int at = link < 0 ? -1 : top_[link]; at >= 0; at = bundles_[at].below) {
      found.push_back(bundles_[at]);
    }
  }
  int hops(int walk) const { return walks_[walk].hops; }
  // The hops of all walks, also of those that became parts of others.
  std::int64_t num_hops() const { return num_hops_; }

  // Puts the nodes of a walk into `nodes`, without loops.
  void find_nodes(int walk, std::vector<NodeId>& nodes) {
    nodes.clear();
    if (cut_ == Cut::kEarly) {
      const std::span<const NodeId> stored = stored_nodes(walk);
      nodes.assign(stored.begin(), stored.end());
      return;
    }
    stack_.assign(1, walk);
    while (!stack_.empty()) {
      const Walk& top = walks_[stack_.back()];
      stack_.pop_back();
      if (top.first >= 0) {
        stack_.push_back(top.second);
        stack_.push_back(top.first);
        continue;
      }
      if (nodes.empty()) nodes.push_back(top.tail);
      step_to(top.head, nodes);
    }
  }

 private:
  std::span<const NodeId> stored_nodes(int walk) const {
    const std::size_t begin = first_node_[walk], end = first_node_[walk + 1];
    return std::span(nodes_).subspan(begin, end - begin);
  }

  void store(const std::vector<NodeId>& nodes) {
    nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
    first_node_.push_back(nodes_.size());
  }

  // Joins two walks and puts the result on a link.
  void push_joined(int link, int first, int second, Amount amount) {
    const NodeId tail = walks_[first].tail, head = walks_[second].head;
    if (cut_ == Cut::kLate) {
      walks_.push_back({first, second, tail, head, added(hops(first), hops(second))});
      num_hops_ += hops(last_walk());
      push(link, last_walk(), amount);
      return;
    }
    find_nodes(first, joined_);
    for (const NodeId node : stored_nodes(second).subspan(1)) step_to(node, joined_);
    // Walks cut short tend to be equal.
    const int last = link < top_.count() ? top_[link] : -1;
    if (last >= 0 && std::ranges::equal(stored_nodes(bundles_[last].walk), joined_)) {
      bundles_[last].amount += amount;
      return;
    }
    walks_.push_back({first, second, tail, head, static_cast<int>(joined_.size()) - 1});
    store(joined_);
    push(link, last_walk(), amount);
  }

  int last_walk() const { return walks_.count() - 1; }

  void push(int link, int walk, Amount amount) {
    if (link >= top_.count()) top_.resize(link + 1, -1);
    bundles_.push_back({walk, top_[link], amount});
    top_[link] = bundles_.count() - 1;
  }

  void replay(const Split& split) {
    const int in = numbers_.find(split.from, split.via);
    const int out = numbers_.find(split.via, split.to);
    const int joined = numbers_.add(split.from, split.to);
    for (Amount left = split.amount; left > 0;) {
      const Bundle &first = top(in), &second = top(out);
      const Amount amount = std::min({left, first.amount, second.amount});
      const int a = first.walk, b = second.walk;
      take(in, amount);
      take(out, amount);
      push_joined(joined, a, b, amount);
      left -= amount;
    }
  }

  const Bundle& top(int link) const {
    if (link < 0 || link >= top_.count() || top_[link] < 0) {
      throw InvalidInput("a split takes more than its links have");
    }
    return bundles_[top_[link]];
  }

  void take(int link, Amount amount) {
    Bundle& bundle = bundles_[top_[link]];
    bundle.amount -= amount;
    if (bundle.amount == 0) top_[link] = bundle.below;
  }

  Cut cut_;
  LinkNumbers numbers_;
  IndexedVector<int> top_;  // of the stack of each link; -1 if it is empty
  IndexedVector<Bundle> bundles_;
  IndexedVector<Walk> walks_;
  std::int64_t num_hops_ = 0;
  std::vector<NodeId> nodes_;                 // of the walks, one after the other, if cut early
  IndexedVector<std::size_t> first_node_{0};  // of each walk
  std::vector<NodeId> joined_;
  std::vector<int> stack_;
};

// Writes the paths of the logical links, one link after the other.
class PathWriter {
 public:
  PathWriter(PathTable& table, std::size_t links) : table_(table) { routes_.reserve(links); }

  // The hops of the walks that the loads use.
  std::int64_t count_hops(const ArcView& loads) {
    std::int64_t hops = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      choose(loads[i]);
      for (const Bundle& bundle : used_) hops += table_.hops(bundle.walk);
    }
    return hops;
  }

  void append(const Arc& load) {
    choose(load);
    if (used_.size() == 1) {
      table_.find_nodes(used_.front().walk, nodes_);
      add_path(used_.front().amount);
    } else {
      add_merged();
    }
    routes_.first_path.push_back(static_cast<std::int64_t>(routes_.multiplicity.size()));
  }
  Routes take() { return std::move(routes_); }

 private:
  // Puts the bundles that carry the load into used_, those of few hops first.
  void choose(const Arc& load) {
    table_.find_bundles(load.tail, load.head, used_);
    std::ranges::reverse(used_);
    if (used_.size() > 1) {
      std::ranges::stable_sort(used_, {},
                               [this](const Bundle& bundle) { return table_.hops(bundle.walk); });
    }
    keep(load);
  }

  // Merges equal paths of a link.
  void add_merged() {
    const std::size_t first = routes_.multiplicity.size();
    std::map<std::vector<NodeId>, std::size_t> known;
    for (const Bundle& bundle : used_) {
      table_.find_nodes(bundle.walk, nodes_);
      const auto [entry, is_new] = known.try_emplace(nodes_, first + known.size());
      if (is_new) {
        add_path(bundle.amount);
      } else {
        routes_.multiplicity[entry->second] += bundle.amount;
      }
    }
  }

  void add_path(Amount amount) {
    routes_.multiplicity.push_back(amount);
    routes_.hop.insert(routes_.hop.end(), nodes_.begin(), nodes_.end());
    routes_.first_hop.push_back(static_cast<std::int64_t>(routes_.hop.size()));
  }

  // Cuts used_ down to the load.
  void keep(const Arc& load) {
    Amount left = load.capacity;
    std::size_t kept = 0;
    for (; kept < used_.size() && left > 0; ++kept) {
      used_[kept].amount = std::min(used_[kept].amount, left);
      left -= used_[kept].amount;
    }
    used_.resize(kept);
    if (left > 0) throw load_exceeds(load);
  }

  PathTable& table_;
  Routes routes_;
  std::vector<Bundle> used_;
  std::vector<NodeId> nodes_;
};

}  // namespace

void Routes::reserve(std::size_t links) {
  // Most links have one path over one switch.
  first_path.reserve(links + 1);
  multiplicity.reserve(links);
  first_hop.reserve(links + 1);
  hop.reserve(3 * links);
}

InvalidInput load_exceeds(const Arc& load) {
  return InvalidInput("the load of logical link " + std::to_string(load.tail) + " -> " +
                      std::to_string(load.head) + " exceeds its capacity");
}

Routes recover_paths(const Graph& physical, const SplitView& splits, const ArcView& loads,
                     std::int64_t most_hops) {
  if (std::optional<Routes> direct = recover_direct_paths(physical, splits, loads)) {
    return std::move(*direct);
  }
  return replay_splits(physical, splits, loads, most_hops);
}

Routes replay_splits(const Graph& physical, const SplitView& splits, const ArcView& loads,
                     std::int64_t most_hops) {
  std::optional<PathTable> table(std::in_place, physical, splits, Cut::kLate);
  if (table->num_hops() > most_hops &&
      PathWriter(*table, loads.size()).count_hops(loads) > most_hops) {
    table.emplace(physical, splits, Cut::kEarly);
  }
  PathWriter writer(*table, loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) writer.append(loads[i]);
  return writer.take();
}

}  // namespace forestcoll
