// Every feasible demand is packed completely and within the capacities (Theorems 7 to 10).
#include <algorithm>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/optimality/optimality.hpp"
#include "forestcoll/tree_packing/completion.hpp"
#include "forestcoll/tree_packing/known_cuts.hpp"
#include "forestcoll/tree_packing/negotiate.hpp"
#include "forestcoll/tree_packing/partial_packing.hpp"
#include "forestcoll/tree_packing/prim.hpp"
#include "forestcoll/tree_packing/repair.hpp"
#include "forestcoll/tree_packing/starts.hpp"
#include "forestcoll/tree_packing/tree_packing.hpp"
#include "support/check.hpp"
#include "support/packings.hpp"
#include "support/random_graphs.hpp"

using namespace forestcoll;
using namespace forestcoll::testing;

namespace {

Progress quiet;

struct Problem {
  Graph graph;
  std::vector<Amount> trees;
};

// Random capacities and demand, scaled so that the demand just fits.
Problem random_problem(Random& random, NodeId most_nodes, Amount least_trees) {
  const auto nodes = static_cast<NodeId>(between(random, 2, most_nodes));
  Graph graph = random_graph(random, nodes, 0, 9);
  Demand weights = equal_demand(nodes, 0, 1);
  for (Amount& weight : weights.trees) weight = between(random, least_trees, 3);
  weights.trees[0] = 1;
  const Bottleneck best = find_bottleneck(graph, weights);
  for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
  for (Amount& trees : weights.trees) trees *= best.denominator;
  return {std::move(graph), std::move(weights.trees)};
}

// A ring by a ring, links both ways, with the least capacities that carry four trees from each
// node.
Problem torus(NodeId side) {
  Problem torus{{side * side, {}}, std::vector<Amount>(static_cast<std::size_t>(side * side), 4)};
  const auto link = [&](NodeId a, NodeId b) {
    torus.graph.arcs.push_back({a, b, side * side - 1});
    torus.graph.arcs.push_back({b, a, side * side - 1});
  };
  for (NodeId x = 0; x < side; ++x) {
    for (NodeId y = 0; y < side; ++y) {
      link(x * side + y, x * side + (y + 1) % side);
      link(x * side + y, (x + 1) % side * side + y);
    }
  }
  return torus;
}

Amount overload(const PartialPacking& packing) {
  Amount overload = 0;
  for (NodeId v = 0; v < packing.num_nodes(); ++v) {
    for (const int arc : packing.in_arcs(v)) overload += std::max<Amount>(0, -packing.left(arc));
  }
  return overload;
}

// What a partial packing keeps beside its trees is what the trees say, and they are the demand's.
void is_consistent(const PartialPacking& packing, const std::vector<Amount>& trees) {
  IndexedVector<Amount> left;
  for (const Arc& arc : packing.graph().arcs) left.push_back(arc.capacity);
  NodeMap<Amount> built(trees.size(), 0);
  for (int batch = 0; batch < packing.num_batches(); ++batch) {
    built[packing.root(batch)] += packing.multiplicity(batch);
    for (NodeId v = 0; v < packing.num_nodes(); ++v) {
      CHECK((packing.via(batch, v) < 0) == (v == packing.root(batch)));
      CHECK(packing.depth(batch, v) <= packing.height(batch));
      int hops = 0;
      for (NodeId at = v; at != packing.root(batch) && hops <= packing.num_nodes(); ++hops) {
        at = packing.arc(packing.via(batch, at)).tail;
      }
      CHECK(hops == packing.depth(batch, v));
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

void exact_packer_packs_whatever_is_feasible() {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 8, round % 2);
    is_packing(graph, trees, pack_exactly(graph, trees, quiet));
  }
}

// Known cuts forbid nothing at first, so trees have to be taken back again and again.
void cut_guided_packer_packs_whatever_is_feasible() {
  Random random(41);
  for (int round = 0; round < 600; ++round) {
    const auto [graph, trees] = random_problem(random, 4 + round % 9, round % 2);
    const auto batches = pack_cut_guided(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(batches == pack_cut_guided(graph, trees, quiet));
  }
}

// Node 0 sends nothing, so whoever looks for nodes from there finds none of the others.
void cut_guided_packer_sees_nodes_that_the_first_does_not_reach() {
  Random random(47);
  for (int round = 0; round < 600; ++round) {
    const auto nodes = static_cast<NodeId>(between(random, 4, 12));
    Graph graph = random_graph(random, nodes, 0, 9);
    std::erase_if(graph.arcs, [](const Arc& arc) { return arc.tail == 0; });
    for (NodeId v = 1; v < nodes; ++v) graph.arcs.push_back({v, v + 1 < nodes ? v + 1 : 1, 1});
    graph.arcs.push_back({1, 0, 1});
    graph.arcs = merged(std::move(graph.arcs));
    Demand weights = equal_demand(nodes, 0, 1);
    for (Amount& weight : weights.trees) weight = between(random, 1, 3);
    weights.trees[0] = 0;
    const Bottleneck best = find_bottleneck(graph, weights);
    for (Arc& arc : graph.arcs) arc.capacity *= best.numerator;
    for (Amount& trees : weights.trees) trees *= best.denominator;
    is_packing(graph, weights.trees, pack_cut_guided(graph, weights.trees, quiet));
  }
}

// The surplus of a set is what it receives beyond its need, whatever trees were packed.
void known_cuts_keep_the_surplus_of_their_sets() {
  Random random(43);
  for (int round = 0; round < 200; ++round) {
    const auto [graph, trees] = random_problem(random, 7, round % 2);
    const auto batches = pack_exactly(graph, trees, quiet);
    NodeSet set(trees.size());
    for (auto& in : set) in = between(random, 0, 1) == 1;
    set[0] = 1;
    const auto in = [&](NodeId v) { return set[v] != 0; };
    Amount surplus = 0;
    for (std::size_t v = 0; v < trees.size(); ++v) surplus -= set[v] ? 0 : trees[v];
    for (const Arc& arc : graph.arcs) surplus += in(arc.head) && !in(arc.tail) ? arc.capacity : 0;
    KnownCuts cuts(graph.num_nodes);
    cuts.add(set, surplus);
    for (const Batch& batch : batches) {
      cuts.begin(batch.root);
      Amount entries = 0;
      std::vector<NodeId> order{batch.root};
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (NodeId v = 0; v < graph.num_nodes; ++v) {
          if (batch.parent[v] != order[i]) continue;
          const bool enters = in(v) && !in(order[i]);
          const bool again = enters && (entries > 0 || in(batch.root));
          constexpr Amount kAny = 1000000;
          CHECK(cuts.safe(order[i], v, kAny) == (again ? std::min(surplus, kAny) : kAny));
          cuts.enter(order[i], v, batch.multiplicity);
          entries += enters;
          if (again) surplus -= batch.multiplicity;
          order.push_back(v);
        }
      }
      CHECK(surplus >= 0);
    }
  }
}

void cascade_packs_whatever_is_feasible() {
  Random random(13);
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 12, round % 2);
    const auto batches = pack(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(std::ranges::is_sorted(batches, {}, &Batch::root));
  }
}

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
          const int height = packing.height();
          for (NodeId v = 0; v < graph.num_nodes; ++v) {
            const bool settled = repair(packing, v, {change, height, may_split});
            CHECK(settled == !packing.is_overloaded(v));
          }
          is_consistent(packing, trees);
          CHECK(overload(packing) <= before);
          CHECK(packing.height() <= height);
          relieved += before - overload(packing);
        }
      }
    }
  }
  CHECK(relieved > 0);
}

void negotiation_keeps_trees_and_their_height() {
  Random random(19);
  int helped = 0;
  for (int round = 0; round < 200; ++round) {
    const auto [graph, trees] = random_problem(random, 10, 0);
    PartialPacking packing(graph);
    CHECK(start_on_shortest_paths(packing, trees, quiet));
    const int height = packing.height();
    const bool repaired = repair(packing, height, quiet);
    const bool fits = negotiate(packing, height, 4, quiet);
    is_consistent(packing, trees);
    CHECK(fits == (overload(packing) == 0));
    for (const Batch& batch : packing.batches()) {
      for (NodeId v = 0; v < graph.num_nodes; ++v) {
        int hops = 0;
        for (NodeId at = v; at != batch.root; ++hops) {
          at = batch.parent[at];
        }
        CHECK(hops <= height);
      }
    }
    helped += fits && !repaired ? 1 : 0;
  }
  CHECK(helped > 0);
}

// Stars of 64 trees on 40 nodes, each arc 2 short: a 32th of the edges must go elsewhere.
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
  // Only stars have height 1.
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

// A complete graph of uneven arcs, on which repairs find something to do.
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
  // Two ways from 0 to 2: the second tree takes the one that the first left free.
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

void greedy_trees_are_breadth_first_where_they_fit() {
  Graph complete{5, {}};
  for (NodeId a = 0; a < 5; ++a) {
    for (NodeId b = 0; b < 5; ++b) {
      if (a != b) complete.arcs.push_back({a, b, 1});
    }
  }
  const std::vector<Amount> trees(5, 1);
  const auto batches = pack_greedily(complete, trees);
  CHECK(batches.has_value());
  is_packing(complete, trees, *batches);
  for (const Batch& batch : *batches) {
    for (NodeId v = 0; v < 5; ++v) {
      CHECK(v == batch.root || batch.parent[v] == batch.root);
    }
  }
}

void low_trees_are_a_packing_where_they_fit() {
  Random random(11);
  int fits = 0;
  for (int round = 0; round < 300; ++round) {
    const auto [graph, trees] = random_problem(random, 9, 1);
    for (const auto packer : {&pack_on_shortest_paths, &pack_with_prim}) {
      if (const auto batches = packer(graph, trees, quiet)) {
        is_packing(graph, trees, *batches);
        ++fits;
      }
    }
  }
  CHECK(fits > 500);
}

void torus_trees_are_as_low_as_the_diameter() {
  for (const NodeId side : {4, 5, 8}) {
    const auto [graph, trees] = torus(side);
    const auto batches = pack(graph, trees, quiet);
    is_packing(graph, trees, batches);
    CHECK(batches == pack(graph, trees, quiet));
    PartialPacking packing(graph);
    CHECK(start_on_shortest_paths(packing, trees, quiet));
    CHECK(packing.height() == side / 2 * 2);
    CHECK(overload(packing) == 0);
  }
}

// Greedily the first of eight trees takes the longest strides, 16 of them, and the last one is left
// with strides of one. Strides of 4.5 on average make 28.
void no_tree_is_left_with_the_short_strides() {
  constexpr NodeId kNodes = 127, kStrides = 8;
  Graph graph{kNodes, {}};
  for (NodeId v = 0; v < kNodes; ++v) {
    for (NodeId stride = 1; stride <= kStrides; ++stride) {
      graph.arcs.push_back({v, (v + stride) % kNodes, 1});
    }
  }
  graph.arcs = merged(std::move(graph.arcs));
  std::vector<Amount> trees(kNodes, 0);
  for (std::size_t root = 0; root < kStrides; ++root) trees[root] = 1;
  const auto greedy = pack_greedily(graph, trees);
  CHECK(greedy.has_value());
  CHECK(tallest(*greedy) > 100);
  const std::vector<Batch> batches = pack(graph, trees, quiet);
  is_packing(graph, trees, batches);
  CHECK(tallest(batches) < 36);
}

void progress_can_stop_the_work() {
  struct Stop {};
  const auto [graph, trees] = torus(5);
  const Progress stop([](std::int64_t, std::int64_t) { throw Stop{}; });
  for (const auto packer : {&pack, &pack_cut_guided, &pack_exactly}) {
    Progress progress = stop;
    CHECK_THROWS(Stop, packer(graph, trees, progress));
  }
  Progress progress = stop;
  CHECK_THROWS(Stop, pack_with_prim(graph, trees, progress));
}

void refuses_demand_that_does_not_fit() {
  const std::vector<Amount> two{2, 2};
  const Graph narrow{2, {{0, 1, 1}, {1, 0, 2}}};
  CHECK_THROWS(Infeasible, pack(narrow, two, quiet));
  PartialPacking packing(narrow);
  CHECK(start_with_prim(packing, two, quiet));
  CHECK_THROWS(Infeasible, complete(packing, quiet));
  CHECK_THROWS(Infeasible, pack({2, {{0, 1, 2}}}, two, quiet));
  const std::vector<Amount> negative{1, -1};
  CHECK_THROWS(InvalidInput, pack({2, {{0, 1, 1}, {1, 0, 1}}}, negative, quiet));
}

}  // namespace

int main() {
  exact_packer_packs_whatever_is_feasible();
  cut_guided_packer_packs_whatever_is_feasible();
  cut_guided_packer_sees_nodes_that_the_first_does_not_reach();
  known_cuts_keep_the_surplus_of_their_sets();
  cascade_packs_whatever_is_feasible();
  starts_span_and_repairs_only_relieve();
  negotiation_keeps_trees_and_their_height();
  split_trees_are_far_off_sooner();
  trees_without_a_choice_are_not_negotiated_over();
  an_overspent_packing_is_left_as_it_is();
  prim_goes_round_full_arcs();
  split_batches_stay_apart_only_if_they_differ();
  completion_packs_whatever_a_start_leaves();
  greedy_trees_are_breadth_first_where_they_fit();
  low_trees_are_a_packing_where_they_fit();
  torus_trees_are_as_low_as_the_diameter();
  no_tree_is_left_with_the_short_strides();
  progress_can_stop_the_work();
  refuses_demand_that_does_not_fit();
  return check::report();
}
