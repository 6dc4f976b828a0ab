#include "forestcoll/routing.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "forestcoll/errors.hpp"

namespace forestcoll {

namespace {

// A physical link, or two walks joined at a switch; walks share their parts.
struct Walk {
  int first;  // -1 for a physical link
  int second;
  NodeId tail, head;
  int hops;
};

struct Bundle {
  int walk;
  Amount amount;
};

class PathTable {
 public:
  explicit PathTable(const Graph& physical) {
    for (const Arc& arc : physical.arcs) {
      if (arc.capacity > 0) add(arc.tail, arc.head, {link(arc), arc.capacity});
    }
  }

  void replay(const Split& split) {
    Amount left = split.amount;
    while (left > 0) {
      Bundle& in = last(split.from, split.via);
      Bundle& out = last(split.via, split.to);
      const Amount amount = std::min({left, in.amount, out.amount});
      const int walk = join(in.walk, out.walk);
      take(split.from, split.via, amount);
      take(split.via, split.to, amount);
      add(split.from, split.to, {walk, amount});
      left -= amount;
    }
  }

  std::vector<PhysicalPath> paths(const Arc& load) {
    std::vector<Bundle>& bundles = table_[key(load.tail, load.head)];
    std::ranges::stable_sort(bundles, {}, [this](const Bundle& bundle) {
      return walks_[static_cast<std::size_t>(bundle.walk)].hops;
    });
    std::map<std::vector<NodeId>, Amount> merged;
    std::vector<std::vector<NodeId>> order;
    Amount left = load.capacity;
    for (const Bundle& bundle : bundles) {
      if (left == 0) break;
      const Amount amount = std::min(left, bundle.amount);
      std::vector<NodeId> nodes = without_loops(bundle.walk);
      const auto [entry, is_new] = merged.try_emplace(nodes, 0);
      if (is_new) order.push_back(std::move(nodes));
      entry->second += amount;
      left -= amount;
    }
    if (left > 0) {
      throw InvalidInput("the load of logical link " + std::to_string(load.tail) + " -> " +
                         std::to_string(load.head) + " exceeds its capacity");
    }
    std::vector<PhysicalPath> paths;
    for (auto& nodes : order) {
      const Amount amount = merged.at(nodes);
      paths.push_back({std::move(nodes), amount});
    }
    return paths;
  }

 private:
  static std::uint64_t key(NodeId tail, NodeId head) {
    return (static_cast<std::uint64_t>(tail) << 32) | static_cast<std::uint32_t>(head);
  }

  int link(const Arc& arc) {
    walks_.push_back({-1, -1, arc.tail, arc.head, 1});
    return static_cast<int>(walks_.size()) - 1;
  }

  int join(int first, int second) {
    const Walk& a = walks_[static_cast<std::size_t>(first)];
    const Walk& b = walks_[static_cast<std::size_t>(second)];
    walks_.push_back({first, second, a.tail, b.head, a.hops + b.hops});
    return static_cast<int>(walks_.size()) - 1;
  }

  void add(NodeId tail, NodeId head, Bundle bundle) { table_[key(tail, head)].push_back(bundle); }

  Bundle& last(NodeId tail, NodeId head) {
    std::vector<Bundle>& bundles = table_[key(tail, head)];
    if (bundles.empty()) throw InvalidInput("a split takes more than its links have");
    return bundles.back();
  }

  void take(NodeId tail, NodeId head, Amount amount) {
    std::vector<Bundle>& bundles = table_[key(tail, head)];
    bundles.back().amount -= amount;
    if (bundles.back().amount == 0) bundles.pop_back();
  }

  std::vector<NodeId> without_loops(int walk) const {
    std::vector<NodeId> nodes;
    std::vector<int> stack{walk};
    while (!stack.empty()) {
      const Walk& top = walks_[static_cast<std::size_t>(stack.back())];
      stack.pop_back();
      if (top.first >= 0) {
        stack.push_back(top.second);
        stack.push_back(top.first);
        continue;
      }
      if (nodes.empty()) nodes.push_back(top.tail);
      const auto before = std::ranges::find(nodes, top.head);
      nodes.erase(before, nodes.end());
      nodes.push_back(top.head);
    }
    return nodes;
  }

  std::vector<Walk> walks_;
  std::unordered_map<std::uint64_t, std::vector<Bundle>> table_;
};

}  // namespace

std::vector<Route> route(const Graph& physical, const std::vector<Split>& splits,
                         const std::vector<Arc>& loads) {
  PathTable table(physical);
  for (const Split& split : splits) table.replay(split);
  std::vector<Route> routes;
  routes.reserve(loads.size());
  for (const Arc& load : loads) routes.push_back({load, table.paths(load)});
  return routes;
}

}  // namespace forestcoll
