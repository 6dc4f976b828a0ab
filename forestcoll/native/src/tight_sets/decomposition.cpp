#include "forestcoll/tight_sets/decomposition.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "forestcoll/tight_sets/subproblem.hpp"
#include "forestcoll/tight_sets/trimming.hpp"

namespace forestcoll {

namespace {

// A direct member of a set: a node or a child set.
struct Item {
  NodeId node = -1;
  int set = -1;
};

// The result of a search in a problem: groups of its items that are tight, and the capacities after
// trimming.
struct Found {
  std::vector<std::vector<NodeId>> sets;
  std::vector<Amount> capacity;
};

class Decomposer {
 public:
  Decomposer(const Graph& graph, const Demand& demand, Progress& progress, int threads, bool trims)
      : graph_(graph),
        demand_(demand),
        contractor_(demand),
        progress_(progress),
        threads_(threads),
        trims_(trims),
        arcs_at_(demand.trees.size()),
        item_of_(demand.trees.size(), -1) {
    for (std::size_t arc = 0; arc < graph.arcs.size(); ++arc) {
      arcs_at_[graph.arcs[arc].tail].push_back(arc);
      arcs_at_[graph.arcs[arc].head].push_back(arc);
    }
  }

  Decomposition run() {
    std::vector<Item> nodes;
    for (NodeId v = 0; v < graph_.num_nodes; ++v) nodes.push_back({v, -1});
    sets_.push_back(std::move(nodes));
    for (int set = 0; set < sets_.count(); ++set) nest(set);
    Decomposition result{numbered(), {}};
    for (const Arc& arc : graph_.arcs) result.capacity.push_back(arc.capacity);
    return result;
  }

 private:
  // Groups the members of a set into tight sets, and those again, until there are no more.
  void nest(int set) {
    while (set == 0 || sets_[set].size() > 2) {  // at least the whole is tested
      Contracted view = contracted(set);
      const Found& found = search(view.problem);
      if (found.sets.empty()) return;
      lower(view, found.capacity);
      group(set, found.sets);
    }
  }

  // Equal boxes are equal problems, each searched once.
  const Found& search(Subproblem& problem) {
    std::vector<Amount> key = content(problem);
    const auto known = searched_.find(key);
    if (known != searched_.end()) return known->second;
    Found found{minimal_tight_sets(problem, progress_, threads_), {}};
    if (found.sets.empty() && trims_) found.sets = trim(problem, progress_);
    for (const Arc& arc : problem.graph.arcs) found.capacity.push_back(arc.capacity);
    return searched_.emplace(std::move(key), std::move(found)).first->second;
  }

  void group(int set, const std::vector<std::vector<NodeId>>& groups) {
    const IndexedVector<Item> items = std::exchange(sets_[set], {});
    IndexedVector<int> into(items.size(), -1);
    for (const std::vector<NodeId>& group : groups) {
      const int number = sets_.count();
      auto& members = sets_.emplace_back();
      for (const NodeId item : group) {
        into[item] = number;
        members.push_back(items[item]);
      }
    }
    // In the order of their first items, so that equal sets look equal.
    IndexedVector<std::uint8_t> placed(sets_.size(), 0);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (into[i] < 0) {
        sets_[set].push_back(items[i]);
      } else if (!std::exchange(placed[into[i]], 1)) {
        sets_[set].push_back({-1, into[i]});
      }
    }
  }

  // Subtracts the loss of an arc from the arcs behind it.
  void lower(Contracted& view, const std::vector<Amount>& capacity) {
    for (std::size_t i = 0; i < capacity.size(); ++i) {
      Amount lost = -capacity[i];
      for (std::size_t j = view.first[i]; j < view.first[i + 1]; ++j) {
        lost += graph_.arcs[view.behind[j]].capacity;
      }
      if (lost == 0) continue;
      const std::size_t count = view.first[i + 1] - view.first[i];
      std::ranges::sort(std::span(view.behind).subspan(view.first[i], count));
      for (std::size_t j = view.first[i]; lost > 0; ++j) {
        Amount& behind = graph_.arcs[view.behind[j]].capacity;
        const Amount part = std::min(lost, behind);
        behind -= part;
        lost -= part;
      }
    }
  }

  Contracted contracted(int set) {
    const IndexedVector<Item>& items = sets_[set];
    const NodeId outside = items.count();
    std::vector<NodeId> inside;
    for (int i = 0; i < items.count(); ++i) {
      const std::size_t first = inside.size();
      collect(items[i], inside);
      for (std::size_t j = first; j < inside.size(); ++j) {
        item_of_[inside[j]] = i;
      }
    }
    const auto item = [&](NodeId v) {
      const NodeId inner = item_of_[v];
      return inner < 0 ? outside : inner;
    };
    const auto each_at = [&](NodeId v, const auto& visit) {
      for (const std::size_t arc : arcs_at_[v]) visit(arc);
    };
    Contracted view = contractor_.contract(inside, outside, set == 0, graph_.arcs, item, each_at);
    for (const NodeId v : inside) item_of_[v] = -1;
    return view;
  }

  void collect(const Item& item, std::vector<NodeId>& nodes) const {
    if (item.set < 0) {
      nodes.push_back(item.node);
      return;
    }
    for (const Item& inner : sets_[item.set]) collect(inner, nodes);
  }

  // Children before their parents.
  Family numbered() const {
    Family family{std::vector<int>(demand_.trees.size(), -1), {}};
    number(0, family);
    return family;
  }

  int number(int set, Family& family) const {
    std::vector<int> children;
    for (const Item& item : sets_[set]) {
      if (item.set >= 0) children.push_back(number(item.set, family));
    }
    const int own = family.num_sets();
    family.parent.push_back(-1);
    for (const int child : children) family.parent[child] = own;
    for (const Item& item : sets_[set]) {
      if (item.set < 0) family.set_of[item.node] = own;
    }
    return own;
  }

  Graph graph_;
  const Demand& demand_;
  Contractor contractor_;
  Progress& progress_;
  int threads_;
  bool trims_;
  NodeMap<std::vector<std::size_t>> arcs_at_;
  NodeMap<NodeId> item_of_;                // scratch of contracted(): -1 everywhere else
  IndexedVector<std::vector<Item>> sets_;  // the first is the whole graph
  std::map<std::vector<Amount>, Found> searched_;
};

}  // namespace

Decomposition decompose(const Graph& graph, const Demand& demand, Progress progress, int threads) {
  check(graph, demand);
  return Decomposer(graph, demand, progress, threads, true).run();
}

Family find_tight_sets(const Graph& graph, const Demand& demand, Progress progress) {
  check(graph, demand);
  return Decomposer(graph, demand, progress, 1, false).run().family;
}

}  // namespace forestcoll
