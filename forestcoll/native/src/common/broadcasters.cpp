#include "forestcoll/common/broadcasters.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/common/shortcuts.hpp"

namespace forestcoll {

namespace {

class Assignment {
 public:
  Assignment(std::span<const Amount> sent, std::span<const Amount> trees)
      : others_(static_cast<Amount>(trees.size()) - 2), left_(trees.begin(), trees.end()) {
    for (std::size_t v = 0; v < trees.size(); ++v) {
      sends_.push_back(std::max<Amount>(0, sent[v] - trees[v]));
    }
  }

  std::vector<BroadcastTrees> run() {
    for (NodeId v = 0; v < nodes(); ++v) give_whole(v, v);
    for (NodeId root = 0; root < nodes(); ++root) {
      for (NodeId broadcaster = 0; broadcaster < nodes() && left_[root] > 0; ++broadcaster)
        give_whole(root, broadcaster);
    }
    for (NodeId root = 0; root < nodes(); ++root) {
      while (left_[root] > 0) {
        if (!give_shared(root)) return {};
      }
    }
    return std::move(assigned_);
  }

 private:
  NodeId nodes() const { return left_.count(); }

  void give_whole(NodeId root, NodeId broadcaster) {
    const Amount trees = std::min(left_[root], sends_[broadcaster] / others_);
    if (trees == 0) return;
    left_[root] -= trees;
    sends_[broadcaster] -= trees * others_;
    assigned_.push_back({root, trees, {{broadcaster, others_}}});
  }

  // One tree of several broadcasters, each of which gives all that it has left.
  bool give_shared(NodeId root) {
    BroadcastTrees tree{root, 1, {}};
    Amount missing = others_;
    for (; missing > 0 && next_ < nodes(); ++next_) {
      const Amount sends = std::min(sends_[next_], missing);
      if (sends == 0) continue;
      tree.shares.push_back({next_, sends});
      sends_[next_] -= sends;
      missing -= sends;
      if (sends_[next_] > 0) break;
    }
    if (missing > 0) return false;
    --left_[root];
    assigned_.push_back(std::move(tree));
    return true;
  }

  Amount others_;
  NodeMap<Amount> left_;   // trees without a broadcaster, by root
  NodeMap<Amount> sends_;  // left of each node, without one for each of its own trees
  NodeId next_ = 0;        // the broadcasters before it have nothing left
  std::vector<BroadcastTrees> assigned_;
};

}  // namespace

std::vector<BroadcastTrees> assign_broadcasters(std::span<const Amount> sent,
                                                std::span<const Amount> trees) {
  if (trees.size() <= 2 || !is_open(Shortcut::kBroadcasters)) return {};
  return Assignment(sent, trees).run();
}

NodeMap<NodeId> parents_of(const BroadcastTrees& trees, NodeId nodes) {
  NodeMap<NodeId> parent(nodes, -1);
  // The nodes that send, in the order in which they get the data, and how much they may send.
  std::vector<BroadcastTrees::Share> senders{{trees.root, 1}};
  std::size_t first = 0;
  NodeMap<std::uint8_t> reached(nodes, 0);
  reached[trees.root] = 1;
  const auto attach = [&](NodeId node) {
    while (senders[first].sends == 0) ++first;
    parent[node] = senders[first].broadcaster;
    --senders[first].sends;
    reached[node] = 1;
  };
  for (const auto& [broadcaster, sends] : trees.shares) {
    if (broadcaster == trees.root) senders.front().sends += sends;
  }
  for (const BroadcastTrees::Share& share : trees.shares) {
    if (share.broadcaster == trees.root) continue;
    attach(share.broadcaster);
    senders.push_back(share);
  }
  for (NodeId v = 0; v < nodes; ++v) {
    if (!reached[v]) attach(v);
  }
  return parent;
}

}  // namespace forestcoll
