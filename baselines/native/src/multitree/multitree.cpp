#include "baselines/multitree/multitree.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "baselines/multitree/port_queues.hpp"
#include "baselines/multitree/switch_paths.hpp"
#include "baselines/multitree/units_left.hpp"
#include "forestcoll/common/bit_rows.hpp"

namespace forestcoll::baselines {

namespace {

std::size_t index(int value) { return static_cast<std::size_t>(value); }

// The trees so far, and the units and ports left in the present step.
class TreeState {
 public:
  TreeState(const GroveNetwork& network, const GroveRules& rules)
      : network_(network),
        ways_(network),
        ports_(network, ways_, rules.ports),
        onward_(rules.onward),
        size_(network.gpus.count()),
        missing_(size_, size_),
        reach_(network.graph.num_nodes, size_),
        left_(network, ports_),
        trees_(size_, {size_ - 1, {}, PortQueues(ports_), -1}),
        parent_(index(size_) * index(size_), -1),
        used_(size_) {
    for (NodeId node = 0; node < network.graph.num_nodes; ++node) {
      for (int gpu = 0; gpu < size_; ++gpu) {
        if (ways_.hops(node, gpu) >= 0) reach_.set(node, gpu);
      }
    }
    for (int root = 0; root < size_; ++root) {
      for (int gpu = 0; gpu < size_; ++gpu) {
        if (gpu != root) missing_.set(root, gpu);
      }
      trees_[root].joined.push_back(root);
      admit(trees_[root]);
    }
  }

  // Lets the trees take turns until none can grow; returns the number of new edges.
  Amount step();
  bool complete() const {
    return std::ranges::all_of(trees_, [](const Tree& tree) { return tree.missing == 0; });
  }
  Grown grown(int steps) const;

 private:
  struct Tree {
    int missing = 0;          // number of GPUs
    std::vector<int> joined;  // in this step
    PortQueues ports;
    NodeId closed;  // nodes without free units to any missing GPU, in this step
  };

  bool take_turn(int root);
  int child_over(const Port& port, int root) const;
  bool find_path(NodeId node, int gpu);
  void add(int root, int parent, int child);
  void admit(Tree& tree);

  const GroveNetwork& network_;
  const SwitchWays ways_;
  const Ports ports_;
  const bool onward_;
  const int size_;
  BitRows missing_;  // by tree
  BitRows reach_;    // by node
  BitRows open_;     // GPUs to which units may be left; may list too many
  UnitsLeft left_;
  IndexedVector<Tree> trees_;
  std::vector<NodeId> parent_;
  UsedPaths used_;
  std::vector<int> path_;
};

Amount TreeState::step() {
  left_.refill();
  open_ = reach_;
  std::vector<int> growing(index(size_));
  std::iota(growing.begin(), growing.end(), 0);
  while (!growing.empty()) {
    std::erase_if(growing, [this](int root) { return !take_turn(root); });
  }
  Amount edges = 0;
  for (Tree& tree : trees_) {
    edges += static_cast<Amount>(tree.joined.size());
    admit(tree);
  }
  return edges;
}

// Continues at the port of the last turn: units only become fewer in a step.
bool TreeState::take_turn(int root) {
  Tree& tree = trees_[root];
  if (tree.missing == 0) return false;
  while (const auto front = tree.ports.front(ports_, left_)) {
    const Port& port = ports_[*front];
    while (port.head != tree.closed && left_.of(port.arc)) {
      const int child = child_over(port, root);
      if (child < 0) {
        if (!missing_.meets(root, open_, port.head)) tree.closed = port.head;
        break;
      }
      path_.assign(1, port.arc);
      // If a look finds no arc, it has closed the path, so the next look finds another child.
      if (find_path(port.head, child)) {
        add(root, port.gpu, child);
        return true;
      }
    }
    // If the port still has units, all its GPUs may be in the tree, for good.
    tree.ports.pass(!left_.of(port.arc) || meet(ports_.gpus(port), missing_.row(root)));
  }
  return false;
}

// The first of the GPUs that may join; or the first after the sender, with wrap-around.
int TreeState::child_over(const Port& port, int root) const {
  const BitSlice gpus = ports_.gpus(port);
  const Word *missing = missing_.row(root), *open = open_.row(port.head);
  const int child = onward_ ? first_common(gpus, missing, open, port.gpu + 1) : -1;
  return child >= 0 ? child : first_common(gpus, missing, open, 0);
}

// Adds to the path arcs with a unit left from a node to a GPU; closes the node for this GPU if
// there are none.
bool TreeState::find_path(NodeId node, int gpu) {
  if (node == network_.gpus[gpu]) return true;
  for (const int arc : ways_.onward(node, gpu)) {
    const NodeId head = network_.graph.arcs[arc].head;
    if (!left_.of(arc) || !open_.test(head, gpu)) continue;
    path_.push_back(arc);
    if (find_path(head, gpu)) return true;
    path_.pop_back();
  }
  open_.clear(node, gpu);
  return false;
}

void TreeState::add(int root, int parent, int child) {
  for (const int arc : path_) left_.take(arc);
  missing_.clear(root, child);
  --trees_[root].missing;
  trees_[root].joined.push_back(child);
  parent_[index(root) * index(size_) + index(child)] = parent;
  used_.add(parent, child, path_);
}

// Lets GPUs that have joined send from the next step on.
void TreeState::admit(Tree& tree) {
  tree.ports.rewind();
  if (tree.missing > 0) {
    for (const int gpu : tree.joined) tree.ports.admit(ports_, gpu);
  }
  tree.joined.clear();
  tree.closed = -1;
}

// Converts numbers in the order of preference to ranks.
Grown TreeState::grown(int steps) const {
  std::vector<int> by_rank(index(size_));
  std::iota(by_rank.begin(), by_rank.end(), 0);
  std::ranges::sort(by_rank, {}, [this](int gpu) { return network_.gpus[gpu]; });
  IndexedVector<NodeId> rank(size_);
  for (NodeId r = 0; r < size_; ++r) rank[by_rank[index(r)]] = r;
  Grown grown{steps, {}, used_.arrays(network_, by_rank)};
  grown.parent.reserve(parent_.size());
  for (const int root : by_rank) {
    for (const int gpu : by_rank) {
      const NodeId parent = parent_[index(root) * index(size_) + index(gpu)];
      grown.parent.push_back(parent < 0 ? -1 : rank[parent]);
    }
  }
  return grown;
}

}  // namespace

Grown grow(const GroveNetwork& network, const GroveRules& rules, Progress progress) {
  check(network);
  TreeState state(network, rules);
  const Amount size = network.gpus.count(), all = size * (size - 1);
  int steps = 0;
  for (Amount edges = 0; !state.complete(); ++steps) {
    const Amount more = state.step();
    if (more == 0) break;
    progress(edges += more, all);
  }
  return state.grown(steps);
}

}  // namespace forestcoll::baselines
