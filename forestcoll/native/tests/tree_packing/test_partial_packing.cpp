// Starts, repairs and negotiation keep every tree a spanning tree and only relieve overloaded arcs.
#include <algorithm>

#include "forestcoll/tree_packing/completion.hpp"
#include "forestcoll/tree_packing/negotiate.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/prim.hpp"
#include "forestcoll/tree_packing/repair.hpp"
#include "forestcoll/tree_packing/starts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packing_problems.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace partial_packing_tests {

Progress quiet;

Amount overload(const PartialPacking& packing) {
  Amount overload = 0;
  for (NodeId v = 0; v < packing.num_nodes(); ++v) {
    for (const int arc : packing.in_arcs(v)) overload += std::max<Amount>(0, -packing.left(arc));
  }
  return overload;
}

// The derived values of a partial packing agree with its trees, and these with the demand.
void is_consistent(const PartialPacking& packing, const std::vector<Amount>& trees) {
  IndexedVector<Amount> left;
  for (const Arc& arc : packing.graph().arcs) left.push_back(arc.capacity);
  NodeMap<Amount> built(trees.size(), 0);
  for (int batch = 0; batch < packing.num_batches(); ++batch) {
    built[packing.root(batch)] += packing.multiplicity(batch);
    for (NodeId v = 0; v < packing.num_nodes(); ++v) {
      CHECK((packing.via(batch, v) < 0) == (v == packing.root(batch)));
      CHECK(packing.depth(batch, v) <= packing.tree_depth(batch));
      int hops = 0;
      for (NodeId at = v; at != packing.root(batch) && hops <= packing.num_nodes(); ++hops) {
        at = packing.arc(packing.via(batch, at)).tail;
      }
      CHECK(hops == packing.depth(batch, v));
      CHECK(hops == packing.depths_of(v)[static_cast<std::size_t>(batch)]);
      if (const int arc = packing.via(batch, v); arc >= 0) {
        left[arc] -= packing.multiplicity(batch);
      }
    }
  }
  CHECK(built == trees);
  for (std::size_t arc = 0; arc < left.size(); ++arc) {
    CHECK(left[arc] == packing.left(static_cast<int>(arc)));
  }
}

using Start = bool (*)(PartialPacking&, std::span<const Amount>, Progress&);

void starts_span_and_repairs_only_relieve() {
  using enum Rule::Change;
  Random random(17);
  Amount relieved = 0;
  for (int round = 0; round < 200; ++round) {
    const auto [graph, trees] = random_problem(random, 10, round % 2);
    for (const Start start : {&start_on_shortest_paths, &start_with_prim}) {
      PartialPacking packing(graph);
      CHECK(start(packing, trees, quiet));
      is_consistent(packing, trees);
      for (const bool may_split : {false, true}) {
        for (const auto change : {kNotDeeper, kLeaves, kAny}) {
          const Amount before = overload(packing);
          const int tree_depth = packing.tree_depth();
          for (NodeId v = 0; v < graph.num_nodes; ++v) {
            const bool settled = repair(packing, v, {change, tree_depth, may_split});
            CHECK(settled == !packing.is_overloaded(v));
          }
          is_consistent(packing, trees);
          CHECK(overload(packing) <= before);
          CHECK(packing.tree_depth() <= tree_depth);
          relieved += before - overload(packing);
        }
      }
    }
  }
  CHECK(relieved > 0);
}

void negotiation_keeps_trees_and_their_depth() {
  Random random(19);
  int helped = 0;
  for (int round = 0; round < 200; ++round) {
    const auto [graph, trees] = random_problem(random, 10, 0);
    PartialPacking packing(graph);
    CHECK(start_on_shortest_paths(packing, trees, quiet));
    const int tree_depth = packing.tree_depth();
    const bool repaired = repair(packing, tree_depth, quiet);
    const bool fits = negotiate(packing, tree_depth, 4, quiet);
    is_consistent(packing, trees);
    CHECK(fits == (overload(packing) == 0));
    for (const Batch& batch : packing.batches()) {
      for (NodeId v = 0; v < graph.num_nodes; ++v) {
        int hops = 0;
        for (NodeId at = v; at != batch.root; ++hops) {
          at = batch.parent[at];
        }
        CHECK(hops <= tree_depth);
      }
    }
    helped += fits && !repaired ? 1 : 0;
  }
  CHECK(helped > 0);
}

// Stars of 64 trees on 40 nodes, each arc 2 short: a 32nd of the edges must move.
void split_trees_are_far_off_sooner() {
  constexpr NodeId kNodes = 40;
  Graph graph{kNodes, {}};
  for (NodeId tail = 0; tail < kNodes; ++tail) {
    for (NodeId head = 0; head < kNodes; ++head) {
      if (tail != head) graph.arcs.push_back({tail, head, 62});
    }
  }
  PartialPacking packing(graph);
  CHECK(start_on_shortest_paths(packing, std::vector<Amount>(kNodes, 64), quiet));
  CHECK(packing.num_batches() == kNodes && !is_far_off(packing));
  for (int batch = 0; batch < kNodes; ++batch) packing.split(batch, 32);
  CHECK(!packing.is_shattered() && !is_far_off(packing));
  for (int part = 0; part < 7; ++part) {
    for (int batch = 0; batch < kNodes; ++batch) packing.split(batch, 1);
  }
  CHECK(packing.is_shattered() && is_far_off(packing));
}

void trees_without_a_choice_are_not_negotiated_over() {
  // Only stars have depth 1.
  Graph graph{40, {}};
  for (NodeId tail = 0; tail < 40; ++tail) {
    for (NodeId head = 0; head < 40; ++head) {
      if (tail != head) graph.arcs.push_back({tail, head, (tail + head) % 3 + 1});
    }
  }
  PartialPacking packing(graph);
  CHECK(start_on_shortest_paths(packing, std::vector<Amount>(40, 2), quiet));
  const std::vector<Batch> before = packing.batches();
  CHECK(!negotiate(packing, 1, 4, quiet));
  CHECK(packing.batches() == before);
}

// A complete graph of uneven arcs, where repairs have work to do.
void an_overspent_packing_is_left_as_it_is() {
  constexpr NodeId kNodes = 40;
  Graph graph{kNodes, {}};
  for (NodeId tail = 0; tail < kNodes; ++tail) {
    for (NodeId head = 0; head < kNodes; ++head) {
      if (tail != head) graph.arcs.push_back({tail, head, 90 + (tail * 7 + head * 11) % 23});
    }
  }
  const auto started = [&] {
    PartialPacking packing(graph);
    CHECK(start_on_shortest_paths(packing, std::vector<Amount>(kNodes, 99), quiet));
    return packing;
  };
  PartialPacking packing = started(), twin = started(), overspent = started();
  const std::int64_t before = packing.spent();
  CHECK(before > 0 && packing.overload() > 0 && !packing.is_overspent());
  for (PartialPacking* each : {&packing, &twin}) negotiate(*each, 2, 1, quiet);
  CHECK(packing.spent() > before && packing.spent() == twin.spent());
  CHECK(packing.overload() < overspent.overload());

  const std::vector<Batch> as_it_was = overspent.batches();
  overspent.spend(std::size_t{1} << 27);
  CHECK(overspent.is_overspent());
  CHECK(!repair(overspent, 2, quiet) && !negotiate(overspent, 2, 4, quiet));
  CHECK(overspent.batches() == as_it_was);
}

void prim_goes_round_full_arcs() {
  // Two paths from 0 to 2: the second tree takes the one that the first left free.
  const Graph graph{3, {{0, 1, 2}, {0, 2, 1}, {1, 2, 1}}};
  PartialPacking packing(graph);
  Prim prim(packing);
  const int first = packing.add(0, 1);
  CHECK(prim.grow(first, 2));
  CHECK(packing.via(first, 2) == 1);
  const int second = packing.add(0, 1);
  CHECK(prim.grow(second, 2));
  CHECK(packing.via(second, 2) == 2);
  // Within one hop it has to share.
  CHECK(prim.grow(second, 1));
  CHECK(packing.via(second, 2) == 1);
  CHECK(packing.left(1) == -1);
}

void split_batches_stay_apart_only_if_they_differ() {
  const Graph graph{3, {{0, 1, 2}, {0, 2, 2}, {1, 2, 2}}};
  PartialPacking packing(graph);
  const std::vector<Amount> trees{2, 0, 0};
  CHECK(start_on_shortest_paths(packing, trees, quiet));
  const int part = packing.split(0, 1);
  CHECK(packing.batches().size() == 1);
  CHECK(packing.batches().front().multiplicity == 2);
  packing.move(part, 2);
  is_consistent(packing, trees);
  CHECK(packing.batches().size() == 2);
}

void completion_packs_whatever_a_start_leaves() {
  Random random(23);
  int incomplete = 0;
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 9, round % 2);
    for (const Start start : {&start_on_shortest_paths, &start_with_prim}) {
      PartialPacking packing(graph);
      CHECK(start(packing, trees, quiet));
      incomplete += overload(packing) > 0 ? 1 : 0;
      is_packing(graph, trees, complete(packing, quiet));
    }
  }
  CHECK(incomplete > 100);
}

}  // namespace partial_packing_tests

TESTS(partial_packing) {
  starts_span_and_repairs_only_relieve();
  negotiation_keeps_trees_and_their_depth();
  split_trees_are_far_off_sooner();
  trees_without_a_choice_are_not_negotiated_over();
  an_overspent_packing_is_left_as_it_is();
  prim_goes_round_full_arcs();
  split_batches_stay_apart_only_if_they_differ();
  completion_packs_whatever_a_start_leaves();
}
