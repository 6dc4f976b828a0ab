#include "forestcoll/bounded_depth/tree_state.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

int PathPool::number(const std::vector<int>& arcs) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const int arc : arcs) hash = (hash ^ static_cast<std::uint64_t>(arc)) * 0x100000001b3U;
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    if (std::equal(begin(entry->second), end(entry->second), arcs.begin(), arcs.end())) {
      return entry->second;
    }
  }
  arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
  first_.push_back(arcs_.count());
  by_hash_.emplace(hash, count() - 1);
  return count() - 1;
}

LowNetwork::LowNetwork(const Graph& network, const NodeMap<std::uint8_t>& is_target)
    : graph(&network),
      rank(network.num_nodes, -1),
      in(network.num_nodes),
      out(network.num_nodes),
      in_from_targets(network.num_nodes),
      in_from_switches(network.num_nodes) {
  for (NodeId v = 0; v < network.num_nodes; ++v) {
    if (!is_target[v]) continue;
    rank[v] = node.count();
    node.push_back(v);
  }
  for (int a = 0; a < network.arcs.count(); ++a) {
    const auto [tail, head, capacity] = network.arcs[a];
    in[head].push_back(a);
    out[tail].push_back(a);
    (rank[tail] >= 0 ? in_from_targets : in_from_switches)[head].push_back(a);
  }
}

void LowNetwork::distances(int root, IndexedVector<int>& hops, IndexedVector<int>& before) const {
  hops.assign(node.count(), -1);
  before.assign(node.count(), -1);
  hops[root] = 0;
  NodeMap<std::uint8_t> seen(graph->num_nodes, 0);  // switches, each from the nearest rank only
  std::vector<int> ranks{root};
  std::vector<NodeId> switches;
  for (std::size_t next = 0; next < ranks.size(); ++next) {
    const int u = ranks[next];
    switches.assign(1, node[u]);
    while (!switches.empty()) {
      const NodeId x = switches.back();
      switches.pop_back();
      for (const int a : out[x]) {
        const NodeId y = graph->arcs[a].head;
        const int v = rank[y];
        if (v < 0) {
          if (!std::exchange(seen[y], 1)) switches.push_back(y);
        } else if (hops[v] < 0) {
          hops[v] = hops[u] + 1;
          before[v] = u;
          ranks.push_back(v);
        }
      }
    }
  }
}

TreeState::TreeState(const LowNetwork& network, const Batches& batches)
    : network_(&network),
      root_(batches.root),
      trees_(batches.multiplicity),
      parent_(batches.root.size() * network.node.size(), -1),
      path_(batches.root.size() * network.node.size(), -1),
      load_(network.graph->arcs.size(), 0),
      depth_(network.node.count()),
      below_(network.node.count()),
      first_child_(network.node.count()),
      next_child_(network.node.count()) {}

void TreeState::carry(int path, Amount trees) {
  for (const int* arc = pool_.begin(path); arc != pool_.end(path); ++arc) load_[*arc] += trees;
}

void TreeState::detach(int batch, int v) {
  carry(path(batch, v), -trees(batch));
  parent_[at(batch, v)] = path_[at(batch, v)] = -1;
}

void TreeState::attach(int batch, int v, int parent, int path) {
  carry(path, trees(batch));
  parent_[at(batch, v)] = parent;
  path_[at(batch, v)] = path;
}

void TreeState::strip(int batch) {
  for (int v = 0; v < size(); ++v) {
    if (path(batch, v) >= 0) detach(batch, v);
  }
  depth_.assign(size(), kNoDepth);
  depth_[root(batch)] = 0;
}

void TreeState::measure(int batch) {
  const int* parents = parent_.data() + at(batch, 0);
  first_child_.assign(size(), -1);
  for (int v = size() - 1; v >= 0; --v) {
    if (parents[v] < 0) continue;
    next_child_[v] = first_child_[parents[v]];
    first_child_[parents[v]] = v;
  }
  order_.assign(1, root(batch));
  depth_.assign(size(), kNoDepth);
  depth_[root(batch)] = 0;
  for (int next = 0; next < order_.count(); ++next) {
    const int u = order_[next];
    below_[u] = 0;
    for (int v = first_child_[u]; v >= 0; v = next_child_[v]) {
      depth_[v] = depth_[u] + 1;
      order_.push_back(v);
    }
  }
  for (int next = order_.count() - 1; next > 0; --next) {
    const int v = order_[next];
    below_[parents[v]] = std::max(below_[parents[v]], below_[v] + 1);
  }
}

Congestion TreeState::congestion() const {
  Congestion most{0, 1};
  const auto& arcs = network_->graph->arcs;
  for (int a = 0; a < arcs.count(); ++a) {
    if (load_[a] > 0) most = std::max(most, Congestion{load_[a], arcs[a].capacity});
  }
  return most;
}

// The walk up from u ends at v's depth, where only v itself can be if u is below v.
bool TreeState::is_below(int batch, int u, int v) const {
  while (u >= 0 && depth_[u] > depth_[v]) u = parent(batch, u);
  return u == v;
}

void TreeState::restore(const Saved& saved) {
  parent_ = saved.parent;
  path_ = saved.path;
  load_ = saved.load;
}

}  // namespace forestcoll
