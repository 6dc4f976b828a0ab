// The ForestColl paper's own algorithms (5.2 to 5.4, appendix E.1 to E.3), as printed, for
// comparison of results and times. They share only the types with the core's algorithms.
//
// Every question is a max-flow of its own, computed from nothing; none reuses another's flow.
// docs/mathematics/paper.md lists the differences from the paper.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/edge_splitting/edge_splitting.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"

namespace forestcoll::paper {

// Max-flow from nothing (Dinic): shortest augmenting paths, a blocking flow at a time. Arcs and
// nodes can be added and taken back in reverse order, which is how auxiliary networks are made.
class MaxFlow {
 public:
  struct Mark {
    NodeId nodes;
    int arcs;
  };

  explicit MaxFlow(NodeId num_nodes);

  NodeId add_node();
  int add(NodeId tail, NodeId head, Amount capacity);
  Mark mark() const { return {num_nodes_, capacity_.count()}; }
  // Takes back all nodes and arcs added since the mark.
  void rewind(const Mark& mark);

  Amount capacity(int arc) const { return capacity_[arc]; }
  void set_capacity(int arc, Amount capacity) { capacity_[arc] = capacity; }

  // The value of a maximum flow, or `limit` if that is less: the search ends there, so capacities
  // of `limit` and more are as good as infinite.
  Amount run(NodeId source, NodeId sink, Amount limit);
  // After a run that stayed below its limit: the nodes on the source's side of a minimum cut.
  NodeMap<std::uint8_t> source_side(NodeId source) const;

 private:
  bool label(NodeId source, NodeId sink);
  Amount push(NodeId from, NodeId sink, Amount amount);

  NodeId num_nodes_;
  IndexedVector<NodeId> head_;      // arcs a and a ^ 1 are opposite
  IndexedVector<Amount> capacity_;  // 0 for the opposite of an arc that was added
  NodeMap<std::vector<int>> out_;

  // Of the run.
  IndexedVector<Amount> residual_;
  NodeMap<int> level_;           // distance to the sink, -1 where it is out of reach
  NodeMap<std::uint32_t> next_;  // the arc to try next
  std::vector<NodeId> queue_;
};

// The exact optimum 1/x* = numerator / denominator in lowest terms, in units of 1 / capacity.
struct Optimality {
  Amount numerator = 0;
  Amount denominator = 1;
  NodeMap<std::uint8_t> cut;  // S*, a cut of this ratio
  int probes = 0;             // steps of the bisection
};

// Algorithm 1: bisection, each probe a max-flow to every compute node until one falls short. The
// result is the only fraction in the last interval whose denominator is small enough. `is_compute`
// distinguishes compute nodes from switches.
//
// Throws InvalidInput for fewer than two compute nodes, Disconnected where one cannot be reached,
// CapacityOverflow if the probes could leave 64 bits: (nodes) x (least ingress)^2 x (sum of
// capacities) must stay below 2^62.
Optimality find_optimality(const Graph& graph, const NodeMap<std::uint8_t>& is_compute,
                           Progress progress = {});

struct Removal {
  std::vector<Arc> logical;   // between compute nodes, sorted by (tail, head)
  std::vector<Split> splits;  // in the order in which they were made: the routing table
};

// Algorithms 2 and 3: every switch in the order of its number, every egress link with every
// ingress link, split by Theorem 6's gamma. Targets of the demand are the compute nodes.
//
// Throws Infeasible if the graph cannot carry the demand, or a switch sends more than it receives.
Removal remove_switches(const Graph& graph, const Demand& demand, Progress progress = {});

// Algorithm 4: trees grow in batches, edge by edge, each edge by Theorem 10's mu. Batches come
// sorted by root.
//
// Throws Infeasible if the graph cannot carry the trees (Theorem 7).
std::vector<Batch> pack_trees(const Graph& graph, const NodeMap<Amount>& trees,
                              Progress progress = {});

// The network D with a source s, the last node, and an arc (s, v) of capacity supply[v] for every
// v; other capacities times `scale`. Arc i of the graph is arc 2 i of the network.
MaxFlow with_source(const Graph& graph, const NodeMap<Amount>& supply, Amount scale = 1);

// Throws Infeasible unless every target receives all trees: min F(s, v) >= N k, the hypothesis of
// Theorems 3 to 8.
void require_carries(const Graph& graph, const Demand& demand);

}  // namespace forestcoll::paper
