"""The paper's algorithms in tests/reference: against brute force, by hand, end to end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings

from forestcoll.errors import DisconnectedError, VerificationError
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import load_topology
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from tests.random_topologies import KINDS, random_topology, rounds
from tests.reference import tree_packing
from tests.reference.cuts import enumerate_optimum, violated_set, worst_cut
from tests.reference.edge_splitting import remove_switches, splittable
from tests.reference.fixed_k import fixed_k_reference, rounded_down
from tests.reference.flow import SOURCE, Capacity, Flow, integer_graph, max_flow, with_source
from tests.reference.optimality import optimum_reference, starved_cut
from tests.reference.pipeline import generate_fixed_k_reference, generate_reference
from tests.reference.tree_packing import Batch, pack_trees
from tests.strategies import topologies

SEEDS = range(24)
WITH_SWITCHES = [
    pytest.param(kind, seed, id=f"{kind}-{seed}")
    for kind in KINDS
    for seed in SEEDS
    if random_topology(seed, kind).switches
]
RANDOM = [pytest.param(kind, seed, id=f"{kind}-{seed}") for kind in KINDS for seed in SEEDS]

BOX = load_topology("paper_example")
"""Figure 5: GPUs 0-3 on switch 8, GPUs 4-7 on switch 9, 10 GB/s each; all on switch 10, 1 GB/s."""


def network(gpus: int, switches: int, arcs: str, bandwidth_gb_s: int) -> Topology:
    """Return GPUs 0, 1, .. and switches that follow, with equal arcs such as "0>4 4>1"."""
    nodes = [Node(f"g{i}", NodeKind.COMPUTE) for i in range(gpus)]
    nodes += [Node(f"w{i}", NodeKind.SWITCH) for i in range(switches)]
    ends = [tuple(map(int, arc.split(">"))) for arc in arcs.split()]
    links = (Link(tail, head, Fraction(bandwidth_gb_s)) for tail, head in ends)
    return Topology("by hand", tuple(nodes), tuple(links))


def demand(topology: Topology) -> tuple[Capacity, dict[int, int]]:
    """Return the graph with capacities U b, and k trees at every GPU."""
    optimum = optimum_reference(topology)
    bandwidth = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    return rounded_down(bandwidth, optimum.congestion), dict.fromkeys(topology.compute, optimum.k)


def logical_graph(topology: Topology) -> tuple[Capacity, dict[int, int]]:
    """Return the graph left when the switches are gone, and k trees at every GPU."""
    capacity, trees = demand(topology)
    return remove_switches(capacity, topology.switches, trees)[0], trees


def into(capacity: Mapping[tuple[int, int], int], node: int) -> int:
    return sum(room for (_, head), room in capacity.items() if head == node)


def out_of(capacity: Mapping[tuple[int, int], int], node: int) -> int:
    return sum(room for (tail, _), room in capacity.items() if tail == node)


def check_packing(
    batches: list[Batch], capacity: Mapping[tuple[int, int], int], trees: Mapping[int, int]
) -> None:
    """Every batch is a spanning out-tree, roots get their trees, no link is overloaded."""
    rooted = dict.fromkeys(trees, 0)
    load: dict[tuple[int, int], int] = {}
    for batch in batches:
        tree = nx.DiGraph(batch.edges)
        assert nx.is_arborescence(tree)
        assert set(tree) == set(trees)
        assert tree.in_degree(batch.root) == 0
        rooted[batch.root] += batch.multiplicity
        for edge in batch.edges:
            load[edge] = load.get(edge, 0) + batch.multiplicity
    assert rooted == trees
    assert all(used <= capacity[edge] for edge, used in load.items())


class TestFlow:
    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_equals_networkx_and_its_cut(self, kind: str, seed: int) -> None:
        """The value is networkx's, and the links out of the reached nodes sum to it."""
        topology = random_topology(seed, kind)
        capacity, _ = integer_graph(topology)
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_weighted_edges_from(((u, v, c) for (u, v), c in capacity.items()), "capacity")
        source, sink = topology.compute[0], topology.compute[-1]
        flow = max_flow(capacity, source, sink)
        assert flow.value == nx.maximum_flow_value(graph, source, sink)
        cut = sum(
            c for (u, v), c in capacity.items() if u in flow.reached and v not in flow.reached
        )
        assert cut == flow.value
        assert max_flow(capacity, source, sink, limit=1).value == 1

    def test_augmenting_paths_revoke_a_blocking_flow(self) -> None:
        """The shortest path 0-1-4-5 blocks both others; 0-6-7-4 takes its middle back: value 2."""
        links = [(0, 1), (1, 4), (4, 5), (1, 2), (2, 3), (3, 5), (0, 6), (6, 7), (7, 4)]
        assert max_flow(dict.fromkeys(links, 1), 0, 5) == Flow(2, frozenset({0}))


class TestCuts:
    def test_bottleneck_of_the_running_example_is_a_box(self) -> None:
        """A box holds 4 GPUs and 4 links of 1 GB/s leave it: 4/4; all but one GPU: 7/11."""
        ratio, cut = enumerate_optimum(BOX)
        assert ratio == 1
        assert cut[:4] in ((0, 1, 2, 3), (4, 5, 6, 7))

    def test_bottleneck_of_a_chain_is_the_link_into_its_end(self) -> None:
        """0 <-> 1 <-> 2 at 3 GB/s: two shards enter an end over 3 GB/s, 2/3."""
        capacity = {(0, 1): 3, (1, 0): 3, (1, 2): 3, (2, 1): 3}
        ratio, cut = worst_cut(capacity, {0: 1, 1: 1, 2: 1})
        assert ratio == Fraction(2, 3)
        assert cut in ({0, 1}, {1, 2})

    def test_weights_decide_the_amount_across_a_cut(self) -> None:
        """If 0 holds 5 of 7 shards, 1 and 2 one each, 6 of them must enter 2 over 3 GB/s."""
        capacity = {(0, 1): 3, (1, 0): 3, (1, 2): 3, (2, 1): 3}
        assert worst_cut(capacity, {0: 5, 1: 1, 2: 1}) == (Fraction(2), frozenset({0, 1}))

    def test_targets_decide_the_receivers(self) -> None:
        """If only 0 wants the shards of 1 and 2, two enter over 3 GB/s, from one side."""
        capacity = {(0, 1): 1, (1, 0): 3, (1, 2): 1, (2, 1): 3}
        assert worst_cut(capacity, {0: 1, 1: 1, 2: 1}, targets=[0]) == (
            Fraction(2, 3),
            frozenset({1, 2}),
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_broadcast_bound_is_the_least_max_flow_from_the_root(self, kind: str) -> None:
        """With all data at one root the ratio is 1 / min over v of maxflow(root, v)."""
        for seed in SEEDS:
            topology = random_topology(seed, kind)
            capacity, factor = integer_graph(topology)
            root, *others = topology.compute
            least = min(max_flow(capacity, root, v).value for v in others)
            ratio, cut = enumerate_optimum(topology, weights={root: 1})
            assert ratio == Fraction(factor, least)
            assert root in cut

    def test_a_set_that_nothing_enters_is_an_error(self) -> None:
        with pytest.raises(DisconnectedError, match="no link enters"):
            worst_cut({(0, 1): 1}, {0: 1, 1: 1})

    def test_violated_set_is_the_one_that_lacks_most(self) -> None:
        """Three trees at 0 and one at 1, one link each way: 1 lacks 3 - 1 = 2, 0 lacks nothing."""
        capacity = {(0, 1): 1, (1, 0): 1}
        assert violated_set(capacity, {0: 3, 1: 1}) == frozenset({1})
        assert violated_set(capacity, {0: 3, 1: 1}, targets=[0]) is None
        assert violated_set(capacity, {0: 1, 1: 1}) is None

    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_condition_holds_at_the_optimum_and_not_below(self, kind: str, seed: int) -> None:
        """Capacities U b suffice for k trees per root, and are too few for k + 1."""
        capacity, trees = demand(random_topology(seed, kind))
        assert violated_set(capacity, trees) is None
        assert violated_set(capacity, {v: k + 1 for v, k in trees.items()}) is not None


class TestOptimality:
    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_algorithm_1_equals_enumeration(self, kind: str, seed: int) -> None:
        """1/x* is the largest ratio over all cuts, and the cut returned has it."""
        topology = random_topology(seed, kind)
        optimum = optimum_reference(topology)
        assert optimum.inverse_rate == enumerate_optimum(topology)[0]
        assert optimum.certificate() == optimum.inverse_rate
        assert len(optimum.bottleneck.compute) < topology.num_compute

    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_k_is_the_least_that_makes_capacities_whole(self, kind: str, seed: int) -> None:
        """Appendix E.1: k / x* times every bandwidth is whole, for no smaller k."""
        topology = random_topology(seed, kind)
        optimum = optimum_reference(topology)

        def whole(k: int) -> bool:
            share = k * optimum.inverse_rate
            return all((share * e.bandwidth_gb_s).denominator == 1 for e in topology.links)

        assert optimum.congestion == optimum.k * optimum.inverse_rate
        assert next(k for k in range(1, optimum.k + 1) if whole(k)) == optimum.k

    def test_theorem_1_starves_a_gpu_just_below_the_optimum(self) -> None:
        """1/x = 1 suffices for the running example; at 999/1000 a box gets too little."""
        capacity, _ = integer_graph(BOX)
        assert starved_cut(capacity, BOX.compute, Fraction(1)) is None
        cut = starved_cut(capacity, BOX.compute, Fraction(999, 1000))
        assert cut is not None
        assert sorted(cut)[:4] in ([0, 1, 2, 3], [4, 5, 6, 7])

    def test_running_example(self) -> None:
        """Figures 5 and 15: x* = b, so 1/x* = 1/b, k = 1, U = 1/b; here b = 5/2."""
        optimum = optimum_reference(load_topology("paper_example:bandwidth=5/2"))
        assert (optimum.inverse_rate, optimum.k) == (Fraction(2, 5), 1)
        assert optimum.congestion == Fraction(2, 5)

    @pytest.mark.parametrize(
        ("spec", "inverse_rate", "k"),
        [
            ("dgx_a100:boxes=2", Fraction(3, 65), 13),
            ("dgx_a100:boxes=3", Fraction(2, 25), 1),
            ("dgx_h100:boxes=1", Fraction(7, 450), 1),
            ("dgx_h100:boxes=2", Fraction(3, 100), 2),
            ("mi250:boxes=2,gpus_per_box=8", Fraction(1, 13), 13),
            ("mi250:boxes=2", Fraction(15, 166), 83),
        ],
    )
    def test_real_machines(self, spec: str, inverse_rate: Fraction, k: int) -> None:
        """A100 x2: 15 shards enter a GPU over 325; x3: 16 enter a box over 200; H100 x1: 7 over
        450, x2: 15 over 500; MI250 8+8: 14 enter an OAM over 182, 16+16: 30 over 332.
        """
        optimum = optimum_reference(load_topology(spec))
        assert (optimum.inverse_rate, optimum.k) == (inverse_rate, k)
        assert optimum.certificate() == inverse_rate


class TestEdgeSplitting:
    @pytest.mark.parametrize(("kind", "seed"), WITH_SWITCHES)
    def test_keeps_the_condition_on_every_cut(self, kind: str, seed: int) -> None:
        """No switch is left, and every set can still receive its trees (Theorem 5)."""
        topology = random_topology(seed, kind)
        capacity, trees = demand(topology)
        logical, _ = remove_switches(capacity, topology.switches, trees)
        assert {end for link in logical for end in link} == set(topology.compute)
        assert all(tail != head and room > 0 for (tail, head), room in logical.items())
        assert violated_set(logical, trees) is None
        for v in topology.compute:
            assert into(logical, v) <= into(capacity, v)
            assert out_of(logical, v) <= out_of(capacity, v)

    @pytest.mark.parametrize(("kind", "seed"), WITH_SWITCHES)
    def test_any_order_of_switches_will_do(self, kind: str, seed: int) -> None:
        topology = random_topology(seed, kind)
        capacity, trees = demand(topology)
        logical, _ = remove_switches(capacity, topology.switches[::-1], trees)
        assert violated_set(logical, trees) is None

    @pytest.mark.parametrize(("kind", "seed"), WITH_SWITCHES[::4])
    def test_theorem_6_splits_off_the_most_possible(self, kind: str, seed: int) -> None:
        """Enumeration: gamma keeps the condition, gamma + 1 breaks it or exceeds a link."""
        topology = random_topology(seed, kind)
        capacity, trees = demand(topology)
        for w in topology.switches:
            for u in (tail for tail, head in capacity if head == w):
                for t in (head for tail, head in capacity if tail == w):
                    gamma = splittable(capacity, trees, u, w, t)
                    assert violated_set(split(capacity, u, w, t, gamma), trees) is None
                    if gamma < min(capacity[u, w], capacity[w, t]):
                        beyond = split(capacity, u, w, t, gamma + 1)
                        assert violated_set(beyond, trees) is not None

    def test_an_arbitrary_pairing_may_lose_the_optimum(self) -> None:
        """Figure 7: (0, 10), (10, 1) inside box 1 would cut its exit from 4 to 3: gamma is 0;
        (0, 10), (10, 4) leaves the exit at 4: gamma is 1.
        """
        capacity, trees = demand(BOX)
        assert splittable(capacity, trees, 0, 10, 1) == 0
        assert splittable(capacity, trees, 0, 10, 4) == 1

    def test_a_lone_switch_becomes_links_with_its_name_on_them(self) -> None:
        """0 and 1 on switch 2 with 3 each way: one logical link each way, 3 over the switch."""
        capacity = {(0, 2): 3, (2, 0): 3, (1, 2): 3, (2, 1): 3}
        logical, routing = remove_switches(capacity, [2], {0: 3, 1: 3})
        assert logical == {(0, 1): 3, (1, 0): 3}
        assert routing == {(0, 1): {2: 3}, (1, 0): {2: 3}}

    def test_capacity_that_a_switch_cannot_pass_on_is_dropped(self) -> None:
        """Switch 2 receives 3 + 5 and sends 3 + 3: two units of (1, 2) end there."""
        capacity = {(0, 2): 3, (2, 0): 3, (1, 2): 5, (2, 1): 3}
        logical, _ = remove_switches(capacity, [2], {0: 3, 1: 3})
        assert logical == {(0, 1): 3, (1, 0): 3}

    def test_a_switch_that_sends_more_than_it_receives_is_refused(self) -> None:
        """Switch 2 receives 2 and sends 4: two units have nothing to pair with."""
        capacity = {(0, 2): 1, (2, 0): 2, (1, 2): 1, (2, 1): 2}
        with pytest.raises(AssertionError, match="switch 2 receives 2 but sends 4"):
            remove_switches(capacity, [2], {0: 1, 1: 1})


def split(capacity: Capacity, u: int, w: int, t: int, amount: int) -> Capacity:
    """Split (u, w), (w, t) off by an amount, possible or not."""
    graph = dict(capacity)
    graph[u, w] -= amount
    graph[w, t] -= amount
    if u != t:
        graph[u, t] = graph.get((u, t), 0) + amount
    return graph


class TestTreePacking:
    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_yields_spanning_trees_within_capacities(self, kind: str, seed: int) -> None:
        logical, trees = logical_graph(random_topology(seed, kind))
        check_packing(pack_trees(logical, trees), logical, trees)

    @pytest.mark.parametrize(("kind", "seed"), RANDOM[::5])
    def test_theorem_10(self, kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """One flow gives what the definition (3) of mu gives, at every step of a packing."""
        by_flow, answers = tree_packing.addable, []

        def both(left: Capacity, batches: list[Batch], batch: Batch, x: int, y: int) -> int:
            answers.append(by_flow(left, batches, batch, x, y))
            assert answers[-1] == addable_by_definition(left, batches, batch, x, y)
            return answers[-1]

        monkeypatch.setattr(tree_packing, "addable", both)
        pack_trees(*logical_graph(random_topology(seed, kind)))
        assert answers

    @pytest.mark.parametrize("kind", KINDS)
    def test_broadcast_packs_as_many_trees_as_the_least_max_flow(self, kind: str) -> None:
        """Edmonds' theorem: min over v of maxflow(root, v) disjoint spanning out-trees exist."""
        for seed in SEEDS:
            topology = random_topology(seed, kind)
            if topology.switches:
                continue
            capacity, _ = integer_graph(topology)
            root, *others = topology.compute
            count = min(max_flow(capacity, root, v).value for v in others)
            trees = {root: count} | dict.fromkeys(others, 0)
            check_packing(pack_trees(capacity, trees), capacity, trees)

    def test_a_ring_of_three_needs_a_tree_each_way(self) -> None:
        """Links 0 -> 1 -> 2 -> 0 of capacity 2: one tree per root, the path around the ring."""
        capacity = {(0, 1): 2, (1, 2): 2, (2, 0): 2}
        batches = pack_trees(capacity, {0: 1, 1: 1, 2: 1})
        assert [batch.edges for batch in batches] == [
            [(0, 1), (1, 2)],
            [(1, 2), (2, 0)],
            [(2, 0), (0, 1)],
        ]

    def test_a_batch_splits_at_narrow_links(self) -> None:
        """0 sends two trees to 1 and 2 over links of 1: one goes round each way."""
        capacity = {(0, 1): 1, (0, 2): 1, (1, 2): 1, (2, 1): 1}
        batches = pack_trees(capacity, {0: 2, 1: 0, 2: 0})
        assert [batch.multiplicity for batch in batches] == [1, 1]
        assert [batch.edges for batch in batches] == [[(0, 1), (1, 2)], [(0, 2), (2, 1)]]


def addable_by_definition(
    left: Capacity, batches: list[Batch], batch: Batch, x: int, y: int
) -> int:
    """Return Theorem 10's equation (3): the least of g(x, y), m(R1) and every c(S, rest) - p(S)."""
    nodes = sorted({end for link in left for end in link})
    best = min(left[x, y], batch.multiplicity)
    for number in range(2 ** len(nodes)):
        inside = {v for i, v in enumerate(nodes) if number >> i & 1}
        if x not in inside or y in inside or inside.issuperset(batch.reached):
            continue
        leaving = sum(c for (u, v), c in left.items() if u in inside and v not in inside)
        rooted = sum(b.multiplicity for b in batches if inside.issuperset(b.reached))
        best = min(best, leaving - rooted)
    return best


class TestFixedK:
    @pytest.mark.first_rows(2)
    @pytest.mark.parametrize(("k", "algbw"), [(1, 320), (2, 341), (3, 343), (4, 341), (5, 348)])
    def test_table_1(self, k: int, algbw: int) -> None:
        """Table 1, 2-box MI250: 320, 341, 343, 341, 348 GB/s for k = 1 to 5 (N k / U)."""
        assert round(32 * k / fixed_k_reference(load_topology("mi250:boxes=2"), k)) == algbw

    def test_a100_with_one_tree_per_root(self) -> None:
        """A GPU needs floor(300 U) + floor(25 U) >= 15, a box 8 floor(25 U) >= 8: at U = 14/300
        that is 14 + 1, and 25 U = 1.17; so 16 / U = 342.86 GB/s.
        """
        assert fixed_k_reference(load_topology("dgx_a100:boxes=2"), 1) == Fraction(14, 300)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_theorem_12_is_the_least_feasible_of_all_candidates(self, seed: int, k: int) -> None:
        """The rounded graph changes at U = n / b only: the last such U before U* is too small."""
        topology = random_topology(seed, "bidirectional")
        trees = dict.fromkeys(topology.compute, k)
        bandwidth = {(e.tail, e.head): e.bandwidth_gb_s for e in topology.links}
        best = fixed_k_reference(topology, k)
        assert violated_set(rounded_down(bandwidth, best), trees) is None
        smaller = [Fraction(math.ceil(best * b) - 1) / b for b in bandwidth.values()]
        assert violated_set(rounded_down(bandwidth, max(smaller)), trees) is not None

    @pytest.mark.parametrize("seed", SEEDS)
    def test_theorem_13_bounds_the_gap(self, seed: int) -> None:
        """1/x* <= U*/k <= 1/x* + 1 / (k min b), with equality on the left at the optimal k."""
        topology = random_topology(seed, "bidirectional")
        optimum = optimum_reference(topology)
        narrowest = min(link.bandwidth_gb_s for link in topology.links)
        for k in (1, 2, 5):
            rate = fixed_k_reference(topology, k) / k
            assert optimum.inverse_rate <= rate <= optimum.inverse_rate + 1 / (k * narrowest)
        assert fixed_k_reference(topology, optimum.k) == optimum.congestion

    @pytest.mark.parametrize("seed", SEEDS)
    def test_forest_attains_it(self, seed: int) -> None:
        """With links of equal bandwidth both ways the trees exist and load no link beyond U*."""
        topology = random_topology(seed, "bidirectional")
        forest = generate_fixed_k_reference(topology, 2)
        verdict = verify(forest)
        assert verdict.k == 2
        assert verdict.congestion == fixed_k_reference(topology, 2)


class TestPipeline:
    @pytest.mark.first_rows(18)
    @pytest.mark.parametrize(("kind", "seed"), RANDOM)
    def test_forest_verifies_at_the_bound(self, kind: str, seed: int) -> None:
        """The measured time is (M/N) (1/x*), with 1/x* from enumeration."""
        topology = random_topology(seed, kind)
        verdict = verify(generate_reference(topology))
        bound = enumerate_optimum(topology)[0] / topology.num_compute
        assert verdict.time_s_per_gb == bound
        assert verdict.optimal

    @settings(
        max_examples=rounds(60),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(topologies())
    def test_forest_of_any_drawn_network_verifies_at_the_bound(self, topology: Topology) -> None:
        verdict = verify(generate_reference(topology))
        assert verdict.time_s_per_gb * topology.num_compute == enumerate_optimum(topology)[0]

    def test_running_example(self) -> None:
        """Figure 16: one tree per GPU, 8 batches, each crossing between the boxes once."""
        forest = generate_reference(BOX)
        assert verify(forest).optimal
        assert forest.num_batches == 8
        for tree in forest.trees():
            assert sum((parent < 4) != (child < 4) for parent, child in tree.edges) == 1

    def test_a100_on_two_boxes(self) -> None:
        """16 GPUs, k = 13, 1/x* = 3/65: 16 * 65 / 3 GB/s."""
        verdict = verify(generate_reference(load_topology("dgx_a100:boxes=2")))
        assert (verdict.k, verdict.algbw_gb_s) == (13, Fraction(16 * 65, 3))

    def test_paths_run_through_any_number_of_switch_tiers(self) -> None:
        """GPUs 0, 1 on switch 4 and 2, 3 on switch 5, both on switch 6, at 2 GB/s each way.

        Three shards enter a GPU over 2 GB/s, 3/2; two enter a box over as much.
        """
        up, down = "0>4 1>4 2>5 3>5 4>6 5>6", "4>0 4>1 5>2 5>3 6>4 6>5"
        forest = generate_reference(network(4, 3, f"{up} {down}", 2))
        assert verify(forest).time_s_per_gb == Fraction(3, 2) / 4
        between = {
            path.nodes[1:-1]
            for (tail, head), paths in forest.routes.paths().items()
            for path in paths
            if (tail < 2) != (head < 2)
        }
        assert between == {(4, 6, 5), (5, 6, 4)}

    def test_a_link_over_two_switches_is_drawn_from_both(self) -> None:
        """GPU 0 reaches switch 5 over 3 and over 4, 1 GB/s each, and from there GPUs 1 and 2.

        Two shards enter each GPU over 2 GB/s: 1/x* = 1, k = 1 and every link is full, so that the
        paths from 0 to 1 and from 0 to 2 must start over different switches.
        """
        arcs = "0>3 0>4 3>5 4>5 5>1 5>2 1>2 2>1 1>0 2>0"
        forest = generate_reference(network(3, 3, arcs, 1))
        assert verify(forest).time_s_per_gb == Fraction(1, 3)
        paths = forest.routes.paths()
        assert {paths[0, 1][0].nodes[1], paths[0, 2][0].nodes[1]} == {3, 4}

    def test_a_forest_with_a_swapped_parent_does_not_pass(self) -> None:
        """The oracle of these tests can say no: GPU 1 takes itself for its parent."""
        forest = generate_reference(BOX)
        parent = forest.parent.copy()
        parent[0, 1] = 1
        with pytest.raises(VerificationError, match="cycle"):
            verify(replace(forest, parent=parent))


def test_source_feeds_every_root() -> None:
    """The paper's D with an arrow: s joins each root by as much as it has trees."""
    assert with_source({(0, 1): 4}, {0: 2, 1: 3}) == {(0, 1): 4, (SOURCE, 0): 2, (SOURCE, 1): 3}
