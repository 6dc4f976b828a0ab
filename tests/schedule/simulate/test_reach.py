"""The least latency: of the way between the two GPUs farthest apart."""

from fractions import Fraction
from itertools import permutations

import pytest

from forestcoll import compile_program, generate, group, load_topology
from forestcoll.errors import DisconnectedError, InvalidParameterError, UnsupportedError
from forestcoll.schedule.simulate import AlphaBeta, Simulator, least_latency_s
from forestcoll.topology import Topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology


def _by_relaxation(topology: Topology, alpha: int) -> dict[tuple[int, int], Fraction]:
    """Least latencies between all nodes, in us."""
    nodes = range(len(topology.nodes))
    far = Fraction(10**9)
    apart = {(a, b): Fraction(0) if a == b else far for a in nodes for b in nodes}
    for _ in nodes:
        for link in topology.links:
            price = link.latency_us + (0 if topology.nodes[link.tail].is_switch else alpha)
            for a in nodes:
                way = apart[a, link.tail] + price
                apart[a, link.head] = min(apart[a, link.head], way)
    return apart


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.each_value_once
def test_least_latency_is_that_of_the_farthest_pair(seed: int, kind: str) -> None:
    """Of any collective; a broadcast's from its root, a reduce's to it."""
    topology, alpha = random_topology(seed, kind), seed % 4
    apart = _by_relaxation(topology, alpha)
    model, gpus = AlphaBeta(alpha_us=alpha), topology.compute
    all_pairs = max(apart[pair] for pair in permutations(gpus, 2))
    for collective in ("allgather", "reduce-scatter", "allreduce", "all-to-all"):
        found = least_latency_s(topology, collective, model)
        assert found == pytest.approx(float(all_pairs) / 10**6, rel=1e-12)
    root = len(gpus) - 1
    to_all = max(apart[gpus[root], gpu] for gpu in gpus)
    from_all = max(apart[gpu, gpus[root]] for gpu in gpus)
    out = least_latency_s(topology, "broadcast", model, root)
    back = least_latency_s(topology, "reduce", model, root)
    assert out == pytest.approx(float(to_all) / 10**6, rel=1e-12)
    assert back == pytest.approx(float(from_all) / 10**6, rel=1e-12)


def test_switches_cost_their_links_only() -> None:
    """Over two switches one alpha and three latencies; GPUs that forward send again."""
    topology = load_topology("dgx_a100:boxes=2")
    assert least_latency_s(topology, "allgather", AlphaBeta(alpha_us=10)) == pytest.approx(10e-6)
    ring = load_topology("ring:nodes=7")
    assert least_latency_s(ring, "allgather") == pytest.approx(30e-6)
    assert least_latency_s(ring, "allgather", AlphaBeta(alpha_us=0)) == 0


def test_one_gpu_waits_for_nobody_and_two_apart_for_ever() -> None:
    assert least_latency_s(network_of("a", "", "one"), "allgather") == 0
    with pytest.raises(DisconnectedError, match="cannot be reached"):
        least_latency_s(network_of("a b", "", "two"), "allgather")


def test_gpus_without_data_add_no_latency() -> None:
    """Of a line whose middle has all: two hops out, or two in; an allreduce is of everybody."""
    line = network_of("g0..4", "g0 - g1, g1 - g2, g2 - g3, g3 - g4", "line")
    model, weights = AlphaBeta(alpha_us=10), (0, 0, 1, 0, 0)
    hops_of = {"allgather": 2, "broadcast": 2, "reduce-scatter": 2, "reduce": 2, "allreduce": 4}
    for collective, hops in hops_of.items():
        found = least_latency_s(line, collective, model, weights=weights)
        assert found == pytest.approx(hops * 10e-6)
    forest = generate(line, weights=weights).schedule
    assert Simulator(compile_program(forest)).run(1, model).time_s == pytest.approx(20e-6, rel=1e-3)


def test_a_gpu_outside_the_group_pays_alpha_when_it_forwards() -> None:
    """As it does when it takes part: one byte over two hops."""
    ends = group(network_of("g0..2", "g0 - g1, g1 - g2", "line"), ["g0", "g2"])
    model = AlphaBeta(alpha_us=10)
    assert least_latency_s(ends, "allgather", model) == pytest.approx(20e-6)
    found = Simulator(compile_program(generate(ends).schedule)).run(1, model)
    assert found.time_s == pytest.approx(20e-6, rel=1e-3)


def test_unknown_collectives_roots_and_weights_are_refused() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(UnsupportedError, match="collective is 'broadcst'"):
        least_latency_s(ring, "broadcst")
    for root in (4, -1, "gpu0", True):
        with pytest.raises(InvalidParameterError, match="it must be a rank below 4"):
            least_latency_s(ring, "broadcast", root=root)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="there are 2 weights for 4 GPUs"):
        least_latency_s(ring, "allgather", weights=(1, 2))
