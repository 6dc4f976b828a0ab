#include "forestcoll/contraction.hpp"

#include <algorithm>

namespace forestcoll {

Nesting::Nesting(const Family& family)
    : family_(&family), direct_(family.parent.size()), children_(family.parent.size()) {
  for (std::size_t v = 0; v < family.set_of.size(); ++v) {
    direct_[static_cast<std::size_t>(family.set_of[v])].push_back(static_cast<NodeId>(v));
  }
  for (int set = 0; set + 1 < family.num_sets(); ++set) {
    const auto parent = static_cast<std::size_t>(family.parent[static_cast<std::size_t>(set)]);
    children_[parent].push_back(set);
  }
}

std::vector<NodeId> Nesting::nodes_inside(int set) const {
  std::vector<NodeId> nodes;
  std::vector<int> sets{set};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto at = static_cast<std::size_t>(sets[i]);
    nodes.insert(nodes.end(), direct_[at].begin(), direct_[at].end());
    sets.insert(sets.end(), children_[at].begin(), children_[at].end());
  }
  std::ranges::sort(nodes);
  return nodes;
}

int Nesting::child_around(NodeId node, int set) const {
  int child = -1;
  int around = family_->set_of[static_cast<std::size_t>(node)];
  while (around != set) {
    child = around;
    around = family_->parent[static_cast<std::size_t>(around)];
  }
  return child;
}

Contraction::Contraction(const Nesting& nesting, int set)
    : nodes(nesting.nodes_inside(set)), item(nesting.family().set_of.size(), -1) {
  std::vector<int> item_of_child(nesting.family().parent.size(), -1);
  for (const NodeId v : nodes) {
    const int around = nesting.child_around(v, set);
    int known = around < 0 ? -1 : item_of_child[static_cast<std::size_t>(around)];
    if (known < 0) {
      known = num_items();
      child.push_back(around);
      first.push_back(v);
      if (around >= 0) item_of_child[static_cast<std::size_t>(around)] = known;
    }
    item[static_cast<std::size_t>(v)] = known;
  }
  std::ranges::replace(item, -1, outside());
}

}  // namespace forestcoll
