#include "forestcoll/tight_sets.hpp"

#include <algorithm>
#include <string>

#include "forestcoll/errors.hpp"
#include "forestcoll/flow.hpp"

namespace forestcoll {

namespace {

// The graph with the sets found so far contracted. An item is a node or a set.
class Level {
 public:
  Level(const Graph& graph, const Demand& demand, const std::vector<int>& item_of, int items)
      : network_(merged(graph, item_of, items)),
        supply_(static_cast<std::size_t>(items), 0),
        is_target_(static_cast<std::size_t>(items), 0),
        mark_(static_cast<std::size_t>(items), 0) {
    for (std::size_t v = 0; v < item_of.size(); ++v) {
      const auto item = static_cast<std::size_t>(item_of[v]);
      supply_[item] += demand.trees[v];
      is_target_[item] |= demand.is_target[v];
    }
  }

  // Minimal tight sets of two or more items, smallest first, disjoint.
  std::vector<std::vector<int>> minimal_tight_sets(Progress& progress) {
    std::vector<std::vector<int>> found;
    WarmFlow flow(network_, supply_);
    const auto items = static_cast<int>(supply_.size());
    for (int v = 0; v < items; ++v) {
      if (!is_target_[static_cast<std::size_t>(v)]) continue;
      if (flow.settle(v) != 0) {
        throw Infeasible("the capacities cannot carry the trees asked for");
      }
      progress(v, items);
      std::vector<int> set = flow.reaching(v);
      if (set.size() == 1) set = smallest_around(flow, v);
      if (set.size() > 1 && set.size() < supply_.size()) found.push_back(std::move(set));
    }
    return disjoint(std::move(found));
  }

 private:
  static FlowNetwork merged(const Graph& graph, const std::vector<int>& item_of, int items) {
    FlowNetwork network(items);
    for (const Arc& arc : graph.arcs) {
      const int tail = item_of[static_cast<std::size_t>(arc.tail)];
      const int head = item_of[static_cast<std::size_t>(arc.head)];
      if (tail != head) network.add(tail, head, arc.capacity);
    }
    return network;
  }

  // The item v is tight by itself. Larger tight sets around it are what nothing else reaches in
  // the residual graph: v with a component that has no way in but from v.
  std::vector<int> smallest_around(const WarmFlow& flow, int v) {
    std::vector<int> best;
    for (std::vector<int>& component : flow.source_components(v)) {
      if (best.empty() || component.size() + 1 < best.size()) {
        best = std::move(component);
        best.push_back(v);
      }
    }
    std::ranges::sort(best);
    return best;
  }

  std::vector<std::vector<int>> disjoint(std::vector<std::vector<int>> sets) {
    std::ranges::stable_sort(sets, {}, &std::vector<int>::size);
    std::vector<std::vector<int>> chosen;
    for (std::vector<int>& set : sets) {
      const auto taken = [this](int item) { return mark_[static_cast<std::size_t>(item)] != 0; };
      if (std::ranges::any_of(set, taken)) continue;
      for (const int item : set) mark_[static_cast<std::size_t>(item)] = 1;
      chosen.push_back(std::move(set));
    }
    return chosen;
  }

  FlowNetwork network_;
  std::vector<Amount> supply_;
  std::vector<std::uint8_t> is_target_;
  std::vector<std::uint8_t> mark_;
};

}  // namespace

Family no_tight_sets(NodeId num_nodes) {
  return {std::vector<int>(static_cast<std::size_t>(num_nodes), 0), {-1}};
}

void check(const Family& family, NodeId num_nodes) {
  const int sets = family.num_sets();
  if (family.set_of.size() != static_cast<std::size_t>(num_nodes) || sets == 0) {
    throw InvalidInput("a family must name a set for every node");
  }
  for (const int set : family.set_of) {
    if (set < 0 || set >= sets) throw InvalidInput("a node is in a set that does not exist");
  }
  for (int set = 0; set < sets; ++set) {
    const int parent = family.parent[static_cast<std::size_t>(set)];
    const bool last = set == sets - 1;
    if (last ? parent != -1 : (parent <= set || parent >= sets)) {
      throw InvalidInput("sets must come before their parents, the whole graph last");
    }
  }
}

Family find_tight_sets(const Graph& graph, const Demand& demand, Progress progress) {
  check(graph, demand);
  // Items of the present level: which one each node is in, and which set each item is (-1: a node).
  std::vector<int> item_of(static_cast<std::size_t>(graph.num_nodes));
  for (std::size_t v = 0; v < item_of.size(); ++v) item_of[v] = static_cast<int>(v);
  std::vector<int> set_of_item(item_of.size(), -1);
  Family family{std::vector<int>(item_of.size(), -1), {}};
  for (;;) {
    Level level(graph, demand, item_of, static_cast<int>(set_of_item.size()));
    const auto sets = level.minimal_tight_sets(progress);
    if (sets.empty()) break;
    std::vector<int> into(set_of_item.size(), -1);  // the new set that takes an item
    for (const std::vector<int>& set : sets) {
      const int number = family.num_sets();
      family.parent.push_back(-1);
      for (const int item : set) {
        into[static_cast<std::size_t>(item)] = number;
        const int inner = set_of_item[static_cast<std::size_t>(item)];
        if (inner >= 0) family.parent[static_cast<std::size_t>(inner)] = number;
      }
    }
    std::vector<int> next_item(set_of_item.size(), -1), next_set;
    std::vector<int> item_of_set(family.parent.size(), -1);
    for (std::size_t item = 0; item < set_of_item.size(); ++item) {
      int& place =
          into[item] >= 0 ? item_of_set[static_cast<std::size_t>(into[item])] : next_item[item];
      if (place < 0) {
        place = static_cast<int>(next_set.size());
        next_set.push_back(into[item] >= 0 ? into[item] : set_of_item[item]);
      }
      next_item[item] = place;
    }
    for (std::size_t v = 0; v < item_of.size(); ++v) {
      const auto item = static_cast<std::size_t>(item_of[v]);
      if (family.set_of[v] < 0) family.set_of[v] = into[item];
      item_of[v] = next_item[item];
    }
    set_of_item = std::move(next_set);
  }
  const int whole = family.num_sets();
  for (int& set : family.set_of) set = set < 0 ? whole : set;
  for (int& parent : family.parent) parent = parent < 0 ? whole : parent;
  family.parent.push_back(-1);
  return family;
}

}  // namespace forestcoll
