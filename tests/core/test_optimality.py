"""The exact optimum: published values, hand calculations, every cut of small networks, a solver."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from ortools.graph.python import max_flow

from forestcoll.core.optimality import optimum, rate_bound
from forestcoll.core.problem import tree_capacities
from forestcoll.errors import CapacityOverflowError, DisconnectedError
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from tests.core.any_network.networks import fan
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds, seeds
from tests.reference.cuts import enumerate_optimum
from tests.reference.optimality import optimum_reference
from tests.strategies import topologies

PUBLISHED = [
    # spec, 1/x*, k, algbw in GB/s, GPUs inside the bottleneck cut
    ("dgx_a100:boxes=2", "3/65", 13, "346.667", 15),
    ("dgx_a100:boxes=3", "2/25", 1, "300.000", 16),
    ("dgx_a100:boxes=4", "3/25", 1, "266.667", 24),
    ("dgx_a100:boxes=8", "7/25", 1, "228.571", 56),
    ("dgx_h100:boxes=1", "7/450", 1, "514.286", 7),
    ("dgx_h100:boxes=2", "3/100", 2, "533.333", 15),
    ("dgx_h100:boxes=4", "31/500", 10, "516.129", 31),
    ("dgx_h100:boxes=8", "7/50", 1, "457.143", 56),
    ("dgx_h100:boxes=16", "3/10", 1, "426.667", 120),
    ("mi250:boxes=2", "15/166", 83, "354.133", 30),
    ("mi250:boxes=3", "23/166", 83, "346.435", 46),
    ("mi250:boxes=4", "3/16", 8, "341.333", 48),
    ("mi250:boxes=5", "1/4", 2, "320.000", 64),
    ("mi250:boxes=2,gpus_per_box=8", "1/13", 13, "208.000", 14),
]


@pytest.mark.parametrize(("spec", "inverse_rate", "k", "algbw", "inside"), PUBLISHED)
def test_optimum_equals_the_published_fraction(spec, inverse_rate, k, algbw, inside):
    """1/x*, k, algbw and the size of the bottleneck cut on the paper's clusters."""
    best = optimum(load_topology(spec))
    assert best.inverse_rate == Fraction(inverse_rate)
    assert best.k == k
    assert f"{float(best.algbw_gb_s):.3f}" == algbw
    assert len(best.bottleneck.compute) == inside
    assert best.certificate() == best.inverse_rate


@pytest.mark.parametrize("bandwidth", [1, 7, "5/2"])
def test_running_example_has_rate_b_and_one_tree(bandwidth):
    """Figure 5: 4 GPUs behind 4 b of exit links, so 1/x* = 1/b, k = 1; links carry 1 or 10."""
    best = optimum(load_topology(f"paper_example:bandwidth={bandwidth}"))
    assert best.inverse_rate == 1 / Fraction(bandwidth)
    assert best.k == 1
    assert set(tree_capacities(best.topology, best.congestion).tolist()) == {1, 10}


@pytest.mark.parametrize(
    ("spec", "inverse_rate"),
    [
        ("ring:nodes=5", Fraction(4, 2)),  # 4 shards over 2 links
        ("torus:dims=4x4", Fraction(15, 4)),  # 15 shards over 4 links
        ("torus:dims=3x3x3", Fraction(26, 6)),
        ("torus:dims=2x3", Fraction(5, 3)),  # one link, not two, along the dimension of length 2
        ("hypercube:dimension=4", Fraction(15, 4)),
        ("complete:nodes=6", Fraction(5, 5)),
    ],
)
def test_vertex_transitive_networks_are_bound_by_their_degree(spec, inverse_rate):
    """Tori, cubes and complete graphs: N - 1 shards through the links of one GPU."""
    assert optimum(load_topology(spec)).inverse_rate == inverse_rate


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(100, 30))
def test_theorem_1_optimum_equals_the_worst_of_all_cuts(kind, seed):
    """A seeded set: the ratio by enumeration of every cut, with a cut that attains it."""
    topology = random_topology(seed, kind)
    best = optimum(topology)
    assert best.inverse_rate == enumerate_optimum(topology)[0]
    assert best.certificate() == best.inverse_rate
    assert len(best.bottleneck.compute) < topology.num_compute


@settings(max_examples=rounds(300, 60))
@given(topologies())
def test_theorem_1_on_networks_of_hypothesis(topology):
    """The same, shrinking; and the paper's bisection agrees on k and U."""
    best, paper = optimum(topology), optimum_reference(topology)
    assert best.inverse_rate == enumerate_optimum(topology)[0] == best.certificate()
    assert (best.inverse_rate, best.k, best.congestion) == (
        paper.inverse_rate,
        paper.k,
        paper.congestion,
    )


@settings(max_examples=rounds(50))
@given(topologies())
def test_scaling_and_relabelling_leave_the_optimum(topology):
    """Twice the bandwidth, half the time, the same k; the order of the nodes does not matter."""
    best = optimum(topology)
    scaled = optimum(topology.scaled("*", "7/3"))
    assert (scaled.inverse_rate, scaled.k) == (best.inverse_rate * Fraction(3, 7), best.k)
    turned = optimum(topology.relabelled(reversed(range(len(topology.nodes)))))
    assert (turned.inverse_rate, turned.k) == (best.inverse_rate, best.k)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=4", "mi250:boxes=2", "torus:dims=4x4"])
def test_every_gpu_receives_all_trees_by_another_librarys_max_flow(spec):
    """Minimum over v of maxflow(s, v) = N k in the scaled network, by OR-Tools (Theorem 1)."""
    topology = load_topology(spec)
    best = optimum(topology)
    links = topology.integer_capacities
    flow = max_flow.SimpleMaxFlow()
    flow.add_arcs_with_capacity(links.tail, links.head, tree_capacities(topology, best.congestion))
    source = len(topology.nodes)
    for gpu in topology.compute:
        flow.add_arc_with_capacity(source, gpu, best.k)
    for gpu in topology.compute:
        assert flow.solve(source, gpu) == flow.OPTIMAL
        assert flow.optimal_flow() == topology.num_compute * best.k


def test_numbers_beyond_64_bits_are_refused_before_the_work():
    """8 GB/s beside 1/2^59 GB/s: in whole numbers the first is 2^62."""
    with pytest.raises(CapacityOverflowError, match="round them to fewer digits"):
        optimum(network_of("a b", f"a > b: 8, b > a: 1/{2**59}", "wide"))


def test_capacities_whose_products_overflow_are_refused():
    """16 links of 2^57 GB/s, 2^61 in all, times 8 GPUs exceed what exact arithmetic can form."""
    with pytest.raises(CapacityOverflowError, match="times 8 GPUs"):
        optimum(load_topology(f"ring:nodes=8,bandwidth={2**57}"))


def test_networks_that_cannot_gather_are_refused():
    """A GPU that nobody reaches is named."""
    gpus = (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE))
    with pytest.raises(DisconnectedError, match=r"\bb\b"):
        optimum(Topology("one way", gpus, (Link(1, 0, Fraction(1)),)))


def test_a_switch_that_sends_more_than_it_receives_is_no_obstacle():
    """1 GB/s from each GPU to the switch, 2 and 1 back: each gets the other's shard at 1 GB/s."""
    gpus = (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE))
    links = [Link(0, 2, Fraction(1)), Link(2, 0, Fraction(2))]
    links += [Link(1, 2, Fraction(1)), Link(2, 1, Fraction(1))]
    best = optimum(Topology("loud", (*gpus, Node("star", NodeKind.SWITCH)), tuple(links)))
    assert best.inverse_rate == best.certificate() == 1


def test_progress_may_stop_the_search():
    """What the callback raises comes out: Ctrl-C is no special case."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimum(load_topology("dgx_a100:boxes=4"), progress=stop)


def test_only_roots_must_reach_everybody():
    """A one-way line a -> b -> c of 2 and 3 GB/s: b reaches no a; a broadcast of a has 2."""
    topology = network_of("a b c", "a > b: 2, b > c: 3", "one-way line")
    assert optimum(topology, weights=(1, 0, 0)).algbw_gb_s == 2
    assert rate_bound(topology, weights=(1, 0, 0)).algbw_gb_s == 2
    for bound in (optimum, rate_bound):
        with pytest.raises(DisconnectedError):
            bound(topology)


def test_a_bound_is_the_optimum_unless_switches_may_copy():
    """The fan: r sends 1 GB/s to s, a third for each of three GPUs. If s copies, all get 1 GB/s."""
    assert optimum(fan(), weights=(1, 0, 0, 0)).algbw_gb_s == Fraction(1, 3)
    assert rate_bound(fan(), weights=(1, 0, 0, 0)).algbw_gb_s == Fraction(1, 3)
    nodes = tuple(replace(node, multicast=node.is_switch) for node in fan().nodes)
    marked = replace(fan(), nodes=nodes)
    assert rate_bound(marked, weights=(1, 0, 0, 0)).algbw_gb_s == Fraction(1, 3)
    assert rate_bound(marked, weights=(1, 0, 0, 0), multicast=True).algbw_gb_s == 1


def test_a_balanced_network_is_bounded_by_a_cut_alone():
    bound = rate_bound(load_topology("dgx_a100:boxes=4"))
    assert bound.is_single_cut
    assert bound.algbw_gb_s == Fraction(800, 3)


def test_two_to_the_62_is_one_too_many():
    """Two links of 2^60 GB/s, times two GPUs; one GB/s less on each is the most that fits."""
    for less, fits in ((0, False), (1, True)):
        topology = network_of("a b", f"a - b: {2**60 - less}", "pair")
        if fits:
            assert optimum(topology).algbw_gb_s == 2 * (2**60 - 1)
        else:
            with pytest.raises(CapacityOverflowError, match="round the numbers to fewer digits"):
                optimum(topology)


def test_a_first_optimum_waits_for_no_import():
    """A time of generation would count it: np.unique imports numpy.ma on its first use."""
    program = """
import sys
from forestcoll.core.optimality import optimum
from forestcoll.topology import load_topology
topology, before = load_topology("dgx_a100:boxes=2"), set(sys.modules)
optimum(topology)
print(sorted(name for name in set(sys.modules) - before if not name.startswith("forestcoll")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
