#include "forestcoll/common/flow.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/shortcuts.hpp"

namespace forestcoll {

namespace {

// The excess of a single node is routed path by path up to this number; beyond it, levels (Dinic)
// are faster.
constexpr int kMostSinglePaths = 64;

}  // namespace

WarmFlow::WarmFlow(const FlowNetwork& network, std::span<const Amount> supply)
    : network_(&network),
      supply_(supply.size(), 0),
      excess_(supply.size(), 0),
      is_active_(supply.size(), 0),
      level_(supply.size(), -1),
      next_(supply.size(), 0) {
  sync_arcs();
  for (std::size_t v = 0; v < supply.size(); ++v) {
    set_supply(static_cast<NodeId>(v), supply[v]);
  }
}

void WarmFlow::sync_arcs() { flow_.resize(network_->num_arcs(), 0); }

void WarmFlow::set_supply(NodeId node, Amount supply) {
  Amount& present = supply_[node];
  if (present == supply) return;
  change_excess(node, supply - present);
  present = supply;
}

void WarmFlow::change_excess(NodeId node, Amount by) {
  excess_[node] += by;
  if (!is_active_[node]) {
    is_active_[node] = 1;
    active_.push_back(node);
  }
}

void WarmFlow::push(int arc, Amount amount) {
  flow_[arc] += amount;
  flow_[arc ^ 1] -= amount;
}

// Flow above a fallen capacity is taken off the arc. The tail then has excess, the head a deficit;
// the next settle repairs both.
void WarmFlow::clip(int arc) {
  sync_arcs();
  const Amount over = -residual(arc);
  if (over <= 0) return;
  push(arc ^ 1, over);
  change_excess(network_->tail(arc), over);
  change_excess(network_->head(arc), -over);
}

void WarmFlow::clip_all() {
  sync_arcs();
  for (int arc = 0; arc < network_->num_arcs(); ++arc) clip(arc);
}

Amount WarmFlow::settle(NodeId sink) {
  sync_arcs();
  // The old sink's inflow becomes excess of an ordinary node: listing it as active moves the sink.
  if (sink_ >= 0 && sink_ != sink) change_excess(sink_, 0);
  sink_ = sink;
  cover_deficits(sink);
  return drain(sink);
}

// A node that lost inflow takes it back from where its flow went. The flow that left it ends at the
// sink or at a node with excess, so the residual network has a path back.
void WarmFlow::cover_deficits(NodeId sink) {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const NodeId node = active_[i];
    while (excess_[node] < 0 && node != sink) cover_deficit(node, sink);
  }
}

void WarmFlow::cover_deficit(NodeId node, NodeId sink) {
  // Breadth first against the arcs, until a node that has excess to give. Levels mark visited nodes
  // only; next_ holds the arc towards the deficit.
  level_[node] = 0;
  reached_.assign(1, node);
  NodeId giver = -1;
  for (std::size_t i = 0; i < reached_.size() && giver < 0; ++i) {
    const NodeId v = reached_[i];
    for (const int out : network_->arcs_of(v)) {
      const NodeId u = network_->head(out);
      if (level_[u] >= 0 || residual(out ^ 1) <= 0) continue;
      level_[u] = 0;
      next_[u] = static_cast<std::uint32_t>(out ^ 1);  // the arc towards the node
      reached_.push_back(u);
      if (u == sink || excess_[u] > 0) {
        giver = u;
        break;
      }
    }
  }
  if (giver < 0) throw InternalError("a flow has a deficit that nothing can cover");
  Amount amount = -excess_[node];
  if (giver != sink) amount = std::min(amount, excess_[giver]);
  const auto arc_from = [&](NodeId v) { return static_cast<int>(next_[v]); };
  for (NodeId v = giver; v != node; v = network_->head(arc_from(v))) {
    amount = std::min(amount, residual(arc_from(v)));
  }
  for (NodeId v = giver; v != node; v = network_->head(arc_from(v))) push(arc_from(v), amount);
  change_excess(giver, -amount);
  change_excess(node, amount);
  forget_labels();
}

Amount WarmFlow::drain(NodeId sink) {
  const auto settled = [&](NodeId v) {
    if (v != sink && excess_[v] > 0) return false;
    is_active_[v] = 0;
    return true;
  };
  const int most_single = is_open(Shortcut::kBothEnds) ? kMostSinglePaths : 0;
  for (int paths = 0;; ++paths) {
    std::erase_if(active_, settled);
    if (active_.empty()) return 0;
    if (active_.size() == 1 && paths < most_single) {
      if (!augment_between(active_.front(), sink)) break;
      continue;
    }
    const bool any = label_towards(sink);
    if (any) {
      for (const NodeId v : active_) augment_from(v, sink);
    }
    forget_labels();
    if (!any) break;
  }
  Amount left = 0;
  for (const NodeId v : active_) left += excess_[v];
  return left;
}

// Augments one path, searched from both ends, each time from the end that has looked at fewer arcs.
// If both ends are next to a switch with an arc to every node, they meet there before its arcs are
// scanned. Returns whether there is a path.
bool WarmFlow::augment_between(NodeId source, NodeId sink) {
  constexpr int kFromSource = 0, kFromSink = 1;
  struct End {
    std::vector<NodeId>& queue;
    std::size_t next = 0;
    std::size_t scanned = 0;
  };
  End ends[] = {{path_ends_[kFromSource]}, {path_ends_[kFromSink]}};
  const auto reach = [&](NodeId v, int side, int arc) {
    level_[v] = side;
    next_[v] = static_cast<std::uint32_t>(arc);
    reached_.push_back(v);
    ends[side].queue.push_back(v);
  };
  reached_.clear();
  for (End& end : ends) end.queue.clear();
  reach(source, kFromSource, -1);
  reach(sink, kFromSink, -1);
  int bridge = -1;
  while (bridge < 0) {
    std::size_t cost[2];
    for (int side = 0; side < 2; ++side) {
      const End& end = ends[side];
      if (end.next == end.queue.size()) {
        forget_labels();
        return false;
      }
      cost[side] = end.scanned + network_->arcs_of(end.queue[end.next]).size();
    }
    const int side = cost[kFromSource] < cost[kFromSink] ? kFromSource : kFromSink;
    End& end = ends[side];
    const NodeId v = end.queue[end.next++];
    end.scanned = cost[side];
    const auto arcs = network_->arcs_of(v);
    const auto neighbours = network_->neighbours(v);
    for (std::size_t place = 0; place < arcs.size() && bridge < 0; ++place) {
      const NodeId u = neighbours[place];
      if (level_[u] == side) continue;
      const int arc = side == kFromSource ? arcs[place] : arcs[place] ^ 1;
      if (residual(arc) <= 0) continue;
      if (level_[u] < 0) {
        reach(u, side, arc);
      } else {
        bridge = arc;
      }
    }
  }
  path_.assign(1, bridge);
  for (NodeId v = network_->tail(bridge); v != source; v = network_->tail(path_.back())) {
    path_.push_back(static_cast<int>(next_[v]));
  }
  for (NodeId v = network_->head(bridge); v != sink; v = network_->head(path_.back())) {
    path_.push_back(static_cast<int>(next_[v]));
  }
  forget_labels();
  Amount amount = excess_[source];
  for (const int arc : path_) amount = std::min(amount, residual(arc));
  for (const int arc : path_) push(arc, amount);
  change_excess(source, -amount);
  excess_[sink] += amount;
  return true;
}

// Labels distances to the sink over residual arcs, until every node with excess has one. Returns
// whether any has.
bool WarmFlow::label_towards(NodeId sink) {
  level_[sink] = 0;
  reached_.assign(1, sink);
  std::size_t waiting = active_.size();
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const NodeId v = reached_[i];
    const int level = level_[v] + 1;
    const auto arcs = network_->arcs_of(v);
    const auto neighbours = network_->neighbours(v);
    for (std::size_t place = 0; place < arcs.size(); ++place) {
      const NodeId u = neighbours[place];
      if (level_[u] >= 0 || residual(arcs[place] ^ 1) <= 0) continue;
      level_[u] = level;
      next_[u] = 0;
      reached_.push_back(u);
      if (is_active_[u] && --waiting == 0) return true;
    }
  }
  return waiting < active_.size();
}

// Blocking flow from one node along arcs that come one step nearer to the sink.
void WarmFlow::augment_from(NodeId source, NodeId sink) {
  path_.clear();
  NodeId v = source;
  while (excess_[source] > 0 && level_[source] > 0) {
    if (v == sink) {
      Amount amount = excess_[source];
      for (const int arc : path_) amount = std::min(amount, residual(arc));
      for (const int arc : path_) push(arc, amount);
      change_excess(source, -amount);
      excess_[sink] += amount;
      // Continue from the first arc that is now full.
      const auto full = std::ranges::find_if(path_, [&](int arc) { return residual(arc) == 0; });
      if (full != path_.end()) {
        v = network_->tail(*full);
        path_.erase(full, path_.end());
      } else {
        v = source;
        path_.clear();
      }
      continue;
    }
    const auto arcs = network_->arcs_of(v);
    const auto neighbours = network_->neighbours(v);
    while (next_[v] < arcs.size()) {
      const NodeId u = neighbours[next_[v]];
      if (level_[u] == level_[v] - 1 && residual(arcs[next_[v]]) > 0) break;
      ++next_[v];
    }
    if (next_[v] < arcs.size()) {
      path_.push_back(arcs[next_[v]]);
      v = network_->head(path_.back());
    } else {
      level_[v] = network_->num_nodes() + 1;  // a dead end for the rest of this phase
      if (path_.empty()) return;
      v = network_->tail(path_.back());
      path_.pop_back();
    }
  }
}

void WarmFlow::forget_labels() {
  for (const NodeId v : reached_) level_[v] = -1;
}

// After a settle that fell short, no residual arc leaves this side (max-flow min-cut).
NodeMap<std::uint8_t> WarmFlow::source_side() const {
  NodeMap<std::uint8_t> side(excess_.size(), 0);
  std::vector<NodeId> queue;
  for (const NodeId v : active_) {
    if (v != sink_ && excess_[v] > 0) queue.push_back(v);
  }
  for (const NodeId v : queue) side[v] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int arc : network_->arcs_of(queue[i])) {
      const NodeId u = network_->head(arc);
      if (side[u] || residual(arc) <= 0) continue;
      side[u] = 1;
      queue.push_back(u);
    }
  }
  return side;
}

std::vector<NodeId> WarmFlow::reaching(NodeId node) const {
  NodeMap<std::uint8_t> seen(excess_.size(), 0);
  std::vector<NodeId> found{node};
  seen[node] = 1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const int out : network_->arcs_of(found[i])) {
      const NodeId u = network_->head(out);
      if (seen[u] || residual(out ^ 1) <= 0) continue;
      seen[u] = 1;
      found.push_back(u);
    }
  }
  if (found.size() == static_cast<std::size_t>(excess_.count())) {
    std::iota(found.begin(), found.end(), NodeId{0});  // all, which need no sorting
  } else {
    std::ranges::sort(found);
  }
  return found;
}

namespace {

// Tarjan's algorithm against the arcs, with an explicit path in place of recursion. A component
// that is complete when the search leaves it is a source if none of its nodes is entered from
// another. `enters(out)` says whether the head of an out-arc has a usable arc back.
template <typename Enters>
class SourceSearch {
 public:
  SourceSearch(const FlowNetwork& network, NodeId count, Enters enters)
      : network_(network),
        enters_(std::move(enters)),
        order_(count, -1),
        low_(count, 0),
        component_(count, -1),
        next_(count, 0) {}

  std::vector<std::vector<NodeId>> run(NodeId without) {
    for (NodeId start = 0; start < order_.count(); ++start) {
      if (start != without && order_[start] < 0) search(start);
    }
    return std::move(sources_);
  }

 private:
  void search(NodeId start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      const NodeId v = path_.back();
      if (order_[v] < 0) {
        order_[v] = low_[v] = time_++;
        stack_.push_back(v);
      }
      if (const NodeId u = next_unseen(v); u >= 0) {
        path_.push_back(u);
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[v]);
      if (low_[v] == order_[v]) close(v);
    }
  }

  // The next unvisited neighbour, or -1; visited ones lower low_[v].
  NodeId next_unseen(NodeId v) {
    const auto arcs = network_.arcs_of(v);
    while (next_[v] < arcs.size()) {
      const int out = arcs[next_[v]++];
      if (!enters_(out)) continue;
      const NodeId u = network_.head(out);
      if (order_[u] < 0) return u;
      if (component_[u] < 0) low_[v] = std::min(low_[v], order_[u]);
    }
    return -1;
  }

  void close(NodeId root) {
    auto first = stack_.end();
    do {
      component_[*--first] = components_;
    } while (*first != root);
    // Few components are sources, so only those are copied.
    const std::span<const NodeId> members(first, stack_.end());
    if (!is_entered(members)) sources_.emplace_back(members.begin(), members.end());
    stack_.erase(first, stack_.end());
    ++components_;
  }

  bool is_entered(std::span<const NodeId> members) const {
    return std::ranges::any_of(members, [this](NodeId v) {
      return std::ranges::any_of(network_.arcs_of(v), [this](int out) {
        return enters_(out) && component_[network_.head(out)] != components_;
      });
    });
  }

  const FlowNetwork& network_;
  Enters enters_;
  NodeMap<int> order_, low_, component_;
  NodeMap<std::size_t> next_;
  std::vector<NodeId> stack_, path_;
  std::vector<std::vector<NodeId>> sources_;
  int time_ = 0, components_ = 0;
};

}  // namespace

std::vector<std::vector<NodeId>> WarmFlow::source_components(NodeId without) const {
  const auto enters = [this, without](int out) {
    return network_->head(out) != without && residual(out ^ 1) > 0;
  };
  return SourceSearch(*network_, excess_.count(), enters).run(without);
}

}  // namespace forestcoll
