#include "forestcoll/tight_sets/exchanges.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace forestcoll {

Exchanges::Exchanges(const Subproblem& problem)
    : first_(problem.graph.num_nodes),
      component_(problem.graph.num_nodes, 0),
      place_(problem.graph.num_nodes, 0) {
  std::iota(first_.begin(), first_.end(), NodeId{0});
  find_components(problem);
  if (members_.size() < 2) return;
  const NodeMap<Row> rows = rows_of(problem);
  match_components(rows);
  match_nodes(rows);
}

// The nodes around the components are the outside and the switches with the most arcs.
void Exchanges::find_components(const Subproblem& problem) {
  NodeMap<int> arcs(problem.graph.num_nodes, 0);
  NodeMap<std::vector<NodeId>> neighbours(arcs.size());
  for (const Arc& arc : problem.graph.arcs) {
    ++arcs[arc.tail];
    ++arcs[arc.head];
  }
  int most = 0;
  const auto is_switch = [&](NodeId v) {
    return v != problem.outside && problem.demand.is_target[v] == 0;
  };
  for (NodeId v = 0; v < arcs.count(); ++v) {
    if (is_switch(v)) most = std::max(most, arcs[v]);
  }
  if (most == 0) return;
  NodeMap<std::uint8_t> is_around(arcs.size(), 0);
  for (NodeId v = 0; v < arcs.count(); ++v) {
    is_around[v] = v == problem.outside || (is_switch(v) && arcs[v] == most) ? 1 : 0;
  }
  for (const Arc& arc : problem.graph.arcs) {
    if (is_around[arc.tail] || is_around[arc.head]) continue;
    neighbours[arc.tail].push_back(arc.head);
    neighbours[arc.head].push_back(arc.tail);
  }
  std::ranges::fill(component_, -1);
  for (NodeId start = 0; start < arcs.count(); ++start) {
    if (is_around[start] || component_[start] >= 0) continue;
    const int number = members_.count();
    std::vector<NodeId> found{start};
    component_[start] = number;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const NodeId next : neighbours[found[i]]) {
        if (component_[next] >= 0) continue;
        component_[next] = number;
        found.push_back(next);
      }
    }
    std::ranges::sort(found);
    for (std::size_t i = 0; i < found.size(); ++i) place_[found[i]] = static_cast<int>(i);
    members_.push_back(std::move(found));
  }
}

// The arcs at each node of a component, in order.
NodeMap<Exchanges::Row> Exchanges::rows_of(const Subproblem& problem) const {
  NodeMap<Row> rows(first_.size());
  NodeMap<std::size_t> entries(first_.size(), 1);
  for (const Arc& arc : problem.graph.arcs) {
    ++entries[arc.tail];
    ++entries[arc.head];
  }
  for (NodeId v = 0; v < rows.count(); ++v) {
    rows[v].reserve(component_[v] >= 0 ? entries[v] : 1);
  }
  const auto name = [this](NodeId at, NodeId other) {
    return component_[other] == component_[at] ? Amount{place_[other]} : ~Amount{other};
  };
  for (const auto& [tail, head, capacity] : problem.graph.arcs) {
    if (component_[tail] >= 0) rows[tail].push_back({name(tail, head), 1, capacity});
    if (component_[head] >= 0) rows[head].push_back({name(head, tail), 0, capacity});
  }
  for (NodeId v = 0; v < rows.count(); ++v) {
    std::ranges::sort(rows[v]);
    rows[v].push_back({problem.demand.trees[v], problem.demand.is_target[v], 0});
  }
  return rows;
}

// Components whose nodes have equal rows, in order.
void Exchanges::match_components(const NodeMap<Row>& rows) {
  std::map<Row, int> known;
  for (int component = 0; component < members_.count(); ++component) {
    Row content;
    for (const NodeId v : members_[component]) {
      content.push_back({static_cast<Amount>(rows[v].size()), 0, 0});
      content.insert(content.end(), rows[v].begin(), rows[v].end());
    }
    model_.push_back(known.try_emplace(std::move(content), component).first->second);
  }
}

// Nodes of one component with equal rows are not adjacent: the row of each would name the other,
// and none names itself. Nodes of other components stand behind their counterparts.
void Exchanges::match_nodes(const NodeMap<Row>& rows) {
  for (int component = 0; component < members_.count(); ++component) {
    const int model = model_[component];
    std::map<Row, NodeId> alike;
    for (const NodeId v : members_[component]) {
      first_[v] = model == component ? alike.try_emplace(rows[v], v).first->second
                                     : first_[members_[model][static_cast<std::size_t>(place_[v])]];
    }
  }
}

NodeId Exchanges::image_of(NodeId v, NodeId node) const {
  const NodeId from = first_[node];
  if (from == node) return v;
  const int own = component_[node], model = model_[own];
  const NodeId to = members_[model][static_cast<std::size_t>(place_[node])];
  if (v == from || v == to) v = v == from ? to : from;
  const int component = component_[v];
  if (own == model || component < 0 || (component != own && component != model)) return v;
  return members_[component == own ? model : own][static_cast<std::size_t>(place_[v])];
}

std::vector<NodeId> Exchanges::image(const std::vector<NodeId>& set, NodeId node) const {
  std::vector<NodeId> image;
  image.reserve(set.size());
  for (const NodeId v : set) image.push_back(image_of(v, node));
  std::ranges::sort(image);
  return image;
}

}  // namespace forestcoll
