#include "forestcoll/path_recovery/path_recovery.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

namespace {

// Numbers the links in the order of their first use. Open addressing, since there is a look-up for
// each logical link, and these may be millions.
class LinkNumbers {
 public:
  explicit LinkNumbers(std::size_t most_links)
      : cells_(std::bit_ceil(2 * most_links + 2), -1),
        mask_(cells_.size() - 1),
        shift_(std::countl_zero(mask_)) {
    ends_.reserve(most_links);
  }

  // The number of a link, a new one if it is not known.
  int add(NodeId tail, NodeId head) {
    int& number = cells_[place(ends(tail, head))];
    if (number < 0) {
      number = ends_.count();
      ends_.push_back(ends(tail, head));
    }
    return number;
  }
  // The number of a link, or -1.
  int find(NodeId tail, NodeId head) const { return cells_[place(ends(tail, head))]; }

 private:
  std::size_t place(std::uint64_t wanted) const {
    // The top bits of a product: only these depend on all bits of both ends.
    std::size_t at = (wanted * 0x9e3779b97f4a7c15U) >> shift_;
    while (cells_[at] >= 0 && ends_[cells_[at]] != wanted) at = (at + 1) & mask_;
    return at;
  }

  std::vector<int> cells_;  // a link's number; -1 where there is none
  std::size_t mask_;
  int shift_;
  IndexedVector<std::uint64_t> ends_;  // by number
};

// A physical link, or two walks joined at a switch; walks share their parts.
struct Walk {
  int first;  // -1 for a physical link
  int second;
  NodeId tail, head;
  int hops;
};

// Units of a link that stand for one walk. The bundles of a link form a stack.
struct Bundle {
  int walk;
  int below;  // -1 at the bottom
  Amount amount;
};

class PathTable {
 public:
  PathTable(const Graph& physical, const std::vector<Split>& splits)
      : numbers_(physical.arcs.size() + splits.size()) {
    top_.reserve(physical.arcs.size() + splits.size());
    bundles_.reserve(physical.arcs.size() + splits.size());
    walks_.reserve(physical.arcs.size() + splits.size());
    for (const Arc& arc : physical.arcs) {
      if (arc.capacity == 0) continue;
      walks_.push_back({-1, -1, arc.tail, arc.head, 1});
      push(numbers_.add(arc.tail, arc.head), last_walk(), arc.capacity);
    }
    for (const Split& split : splits) replay(split);
  }

  // The bundles of a link after all splits, the last one first.
  void find_bundles(NodeId tail, NodeId head, std::vector<Bundle>& found) const {
    found.clear();
    const int link = numbers_.find(tail, head);
    for (int at = link < 0 ? -1 : top_[link]; at >= 0; at = bundles_[at].below) {
      found.push_back(bundles_[at]);
    }
  }
  const Walk& walk(int number) const { return walks_[number]; }

 private:
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
      const Walk &a = walks_[first.walk], &b = walks_[second.walk];
      walks_.push_back({first.walk, second.walk, a.tail, b.head, a.hops + b.hops});
      take(in, amount);
      take(out, amount);
      push(joined, last_walk(), amount);
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

  LinkNumbers numbers_;
  IndexedVector<int> top_;  // of the stack of each link; -1 if it is empty
  IndexedVector<Bundle> bundles_;
  IndexedVector<Walk> walks_;
};

// Writes the paths of the logical links, one link after the other.
class PathWriter {
 public:
  PathWriter(const PathTable& table, std::size_t links) : table_(table) {
    // Most links have one path over one switch.
    routes_.first_path.reserve(links + 1);
    routes_.multiplicity.reserve(links);
    routes_.first_hop.reserve(links + 1);
    routes_.hop.reserve(3 * links);
  }

  void append(const Arc& load) {
    table_.find_bundles(load.tail, load.head, used_);
    std::ranges::reverse(used_);
    if (used_.size() > 1) {
      std::ranges::stable_sort(
          used_, {}, [this](const Bundle& bundle) { return table_.walk(bundle.walk).hops; });
    }
    keep(load);
    if (used_.size() == 1) {
      find_nodes(used_.front().walk);
      add_path(used_.front().amount);
    } else {
      add_merged();
    }
    routes_.first_path.push_back(static_cast<std::int64_t>(routes_.multiplicity.size()));
  }
  Routes take() { return std::move(routes_); }

 private:
  // Merges equal paths of a link.
  void add_merged() {
    const std::size_t first = routes_.multiplicity.size();
    std::map<std::vector<NodeId>, std::size_t> known;
    for (const Bundle& bundle : used_) {
      find_nodes(bundle.walk);
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
    if (left > 0) {
      throw InvalidInput("the load of logical link " + std::to_string(load.tail) + " -> " +
                         std::to_string(load.head) + " exceeds its capacity");
    }
  }

  // Puts the nodes of a walk into nodes_, without loops.
  void find_nodes(int walk) {
    nodes_.clear();
    stack_.assign(1, walk);
    while (!stack_.empty()) {
      const Walk& top = table_.walk(stack_.back());
      stack_.pop_back();
      if (top.first >= 0) {
        stack_.push_back(top.second);
        stack_.push_back(top.first);
        continue;
      }
      if (nodes_.empty()) nodes_.push_back(top.tail);
      // A repeated node closes a loop, which is cut out. Loads only fall.
      nodes_.erase(std::ranges::find(nodes_, top.head), nodes_.end());
      nodes_.push_back(top.head);
    }
  }

  const PathTable& table_;
  Routes routes_;
  std::vector<Bundle> used_;
  std::vector<NodeId> nodes_;
  std::vector<int> stack_;
};

}  // namespace

Routes recover_paths(const Graph& physical, const std::vector<Split>& splits,
                     const std::vector<Arc>& loads) {
  const PathTable table(physical, splits);
  PathWriter writer(table, loads.size());
  for (const Arc& load : loads) writer.append(load);
  return writer.take();
}

}  // namespace forestcoll
